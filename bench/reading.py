"""What the readers share: the page size, and how they say what they did."""

from __future__ import annotations

import json

PAGE_SIZE = 500


def tell(start_seconds: float, pod_count: int | None = None) -> None:
    """Print how much CPU time starting Python and importing had taken, and how many pods were read."""
    print(json.dumps({"start_seconds": start_seconds, "pod_count": pod_count}))
