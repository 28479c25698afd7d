"""Read every list of a cluster as a run of Nightcap does, up to a checked Snapshot; given the cluster's folder, prove that the totals are right."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from batch.memory import importing

with importing():  # as batch.cli does
    from batch import __version__
    from batch.collect.api import Cluster
    from batch.collect.assemble import Identity, assemble
    from batch.deadline import Deadline
    from batch.settings import Settings
    from bench.make_cluster import NOW
    from bench.proof import differences
    from bench.reading import tell

if __name__ == "__main__":
    start_seconds = time.process_time()
    deadline = Deadline(None, 0, time.monotonic, time.monotonic())
    cluster = Cluster.connect(Settings(), deadline, __version__)
    snapshot = assemble(cluster, Identity("bench", "cluster"), taken_at=NOW, fallback_taken_at=lambda: NOW, deadline=deadline)
    tell(start_seconds, len(snapshot.table("pods")))
    for folder in sys.argv[1:]:
        wrong = differences(snapshot, Path(folder))
        if wrong or snapshot.gaps:
            raise SystemExit(f"not as expected: {wrong}; gaps: {snapshot.gaps}")
