"""What the tables of capacity have in common."""

from __future__ import annotations

FULL_RATIO = 0.9
"""Share of requests from which a number is printed warm; the finding about full pools uses the same."""

AMOUNTS = {"cpu": "cpu_nanocores", "memory": "memory_bytes"}
"""What the fields of each resource end in."""

BARS = ("used", "requested", "not requested")
"""What a bar of CPU or memory shows."""
