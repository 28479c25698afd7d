"""Until when it will fit: trends over the nights, forecasts, and what changed."""
