import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from batch.collect.assemble import Identity, assemble
from batch.collect.dump import Dump
from batch.deadline import Deadline
from batch.packing.fleet import pack
from batch.packing.model import Items
from batch.plan.demand import demand
from tests.builders import CORE, GIB
from tests.packing.checker import check, volume_bound

TRACE = Path(os.environ.get("TEST_TRACES", "/nowhere")) / "openb-gpu-2023" / "whole"

pytestmark = [
    pytest.mark.traces,
    pytest.mark.skipif(not TRACE.is_dir(), reason="TEST_TRACES names no folder that holds openb-gpu-2023"),
]


@pytest.fixture(scope="module")
def items() -> Items:
    """All 8,152 pods of the trace: CPU, memory, slots and whole GPUs."""
    taken_at = datetime(2023, 7, 1, tzinfo=UTC)
    snapshot = assemble(
        Dump(TRACE),
        Identity("openb", "dump:openb"),
        taken_at=taken_at,
        fallback_taken_at=lambda: taken_at,
        deadline=Deadline(None, 0, lambda: 0.0, 0.0),
    )
    pods = snapshot.table("pods")
    wanted = demand(snapshot, pods.assign(requests_memory_bytes=pods["requests_memory_bytes"].fillna(0)))
    assert wanted.resources == ("cpu", "memory", "pods", "nvidia.com/gpu")
    return Items(wanted.sizes, wanted.counts(), np.ones((len(wanted.sizes), 1), dtype=np.bool_))


@pytest.mark.parametrize(("cores", "gib", "more", "left"), [(128, 768, 1.05, 0), (96, 384, 1.15, 5)])
def test_the_packing_respects_every_constraint_and_is_close_to_the_volume(
    items: Items, cores: int, gib: int, more: float, left: int
) -> None:
    room = [cores * CORE, gib * GIB, 110, 8]
    packing = pack(items, np.array([room]))
    check(items, [room], packing)
    assert packing.unplaced.sum() == left
    placed = items.with_counts(items.counts - packing.unplaced)
    assert packing.bin_count <= more * volume_bound(placed, room)
