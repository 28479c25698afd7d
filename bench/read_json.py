"""Read every list of a cluster with urllib3 and json.loads, holding one page at a time: `python -m bench.read_json URL`."""

from __future__ import annotations

import json
import sys
import time

import urllib3

from bench.reading import PAGE_SIZE, tell
from bench.server import STEMS


def count_items(pool: urllib3.PoolManager, url: str) -> int:
    """Page through a list; give the number of items."""
    count, rest = 0, ""
    while True:
        page = json.loads(pool.request("GET", f"{url}?limit={PAGE_SIZE}{rest}").data)
        count += len(page["items"])
        token = page["metadata"].get("continue")
        if not token:
            return count
        rest = f"&continue={token}"


if __name__ == "__main__":
    start_seconds = time.process_time()
    with urllib3.PoolManager() as connections:
        counts = {stem: count_items(connections, sys.argv[1] + path) for path, stem in STEMS.items()}
    tell(start_seconds, counts["pods"])
