"""Days of usage from a Prometheus-compatible API: what it is asked, and what its answers are worth."""
