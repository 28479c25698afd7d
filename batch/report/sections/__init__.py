"""The sections of the report, in reading order."""
