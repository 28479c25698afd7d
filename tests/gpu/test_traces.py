import json
import os
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from batch.collect.assemble import Identity, assemble
from batch.collect.dump import Dump
from batch.deadline import Deadline
from batch.gpu.assess import assess
from batch.gpu.model import GpuAssessment, GpuResource
from batch.settings import Settings

TRACE = Path(os.environ.get("TEST_TRACES", "/nowhere")) / "openb-gpu-2023"
GPU, MILLI = "nvidia.com/gpu", "aliyun.com/gpu-milli"

pytestmark = [
    pytest.mark.traces,
    pytest.mark.skipif(not TRACE.is_dir(), reason="TEST_TRACES names no folder that holds openb-gpu-2023"),
]


@pytest.fixture(scope="module", params=[".", "whole", "alive"])
def case(request: pytest.FixtureRequest) -> tuple[GpuAssessment, dict[str, Any]]:
    folder = TRACE / request.param
    taken_at = datetime(2023, 7, 1, tzinfo=UTC)
    snapshot = assemble(
        Dump(folder),
        Identity("openb", "dump:openb"),
        taken_at=taken_at,
        fallback_taken_at=lambda: taken_at,
        deadline=Deadline(None, 0, lambda: 0.0, 0.0),
    )
    return assess(snapshot, Settings()), json.loads((folder / "expected.json").read_text())


def by_product(assessment: GpuAssessment, resource: str, count: Callable[[GpuResource], int | None]) -> dict[str | None, int]:
    return {r.product: count(r) or 0 for r in assessment.resources if r.resource == resource}


def nodes_by_free(assessment: GpuAssessment, resource: str) -> dict[str, int]:
    blocks: Counter[int] = sum((Counter(r.largest_free_block) for r in assessment.resources if r.resource == resource), Counter())
    return {str(free): nodes for free, nodes in sorted(blocks.items())}


@pytest.mark.parametrize("resource", [GPU, MILLI])
def test_allocation_of_the_trace(case: tuple[GpuAssessment, dict[str, Any]], resource: str) -> None:
    assessment, expected = case
    want = expected[resource]
    assert by_product(assessment, resource, lambda r: r.allocatable_count) == want["allocatable_by_model"]
    assert sum(by_product(assessment, resource, lambda r: r.unrequested_count).values()) == want["idle_not_requested"]
    assert sum(by_product(assessment, resource, lambda r: r.idle_node_count).values()) == want["nodes_with_none_requested"]
    assert sum(by_product(assessment, resource, lambda r: r.stranded_count).values()) == want["stranded_free_on_tight_nodes"]


def test_whole_gpus_of_the_trace(case: tuple[GpuAssessment, dict[str, Any]]) -> None:
    assessment, expected = case
    assert by_product(assessment, GPU, lambda r: r.unrequested_count) == expected[GPU]["idle_by_model"]
    assert nodes_by_free(assessment, GPU) == expected[GPU]["nodes_by_free_gpus"]
    assert sum(r.requests_count or 0 for r in assessment.resources if r.resource == GPU) == expected["requested_by_placed_pods"][GPU]


def test_cards_behind_thousandths_of_the_trace(case: tuple[GpuAssessment, dict[str, Any]]) -> None:
    assessment, expected = case
    cards = sum(by_product(assessment, MILLI, lambda r: r.card_count).values())
    assert cards * 1000 == expected["allocatable"][MILLI]


def test_wholly_free_cards_of_the_trace(case: tuple[GpuAssessment, dict[str, Any]]) -> None:
    assessment, expected = case
    shared = [r for r in assessment.resources if r.resource == MILLI]
    want = expected[MILLI]
    assert sum(r.wholly_free_device_count or 0 for r in shared) == want["devices_wholly_free"]
    blocks: Counter[int] = sum((Counter(r.wholly_free_block) for r in shared), Counter())
    assert {str(free): nodes for free, nodes in sorted(blocks.items())} == want["nodes_by_wholly_free_devices"]


def test_cards_of_the_trace(case: tuple[GpuAssessment, dict[str, Any]]) -> None:
    assessment, expected = case
    assert assessment.card_count == expected["gpus_all_pools"]
    requests = expected["requested_by_placed_pods"]
    assert assessment.requests_cards == pytest.approx(requests[GPU] + requests[MILLI] / 1000)
