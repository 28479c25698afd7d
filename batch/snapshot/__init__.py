"""What was true at one moment: typed tables, saved and loaded."""
