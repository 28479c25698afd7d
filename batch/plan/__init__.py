"""Will it fit, on what, until when."""
