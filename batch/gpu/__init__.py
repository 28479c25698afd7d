"""Are the accelerators allocated, and are they working."""
