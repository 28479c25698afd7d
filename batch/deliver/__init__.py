"""Puts the report where people will find it."""
