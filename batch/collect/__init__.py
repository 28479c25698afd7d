"""Asks the cluster what is true now; judges nothing."""
