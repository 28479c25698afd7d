"""Turns assessments into one document a person can read."""
