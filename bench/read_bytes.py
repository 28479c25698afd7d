"""Read pages with urllib3 and decode nothing, which no reader in Python can do faster: `python -m bench.read_bytes URL PATH...`."""

from __future__ import annotations

import sys
import time

import urllib3

from bench.reading import tell

if __name__ == "__main__":
    start_seconds = time.process_time()
    with urllib3.PoolManager() as connections:
        for path in sys.argv[2:]:
            connections.request("GET", sys.argv[1] + path)
    tell(start_seconds)
