from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from math import comb
from typing import Any

import pandas as pd

from batch.plan.model import NODES, Flavor, FlavorFit, Odds
from batch.plan.odds import odds
from batch.plan.risks import Risks
from batch.plan.sizes import Daemons, NodeSize
from batch.plan.usage import distribution
from batch.snapshot.views import INTEGER
from tests.builders import CORE, MIB

USE = distribution(pd.Series([MIB, 2 * MIB], dtype=INTEGER), ())
IDLE = distribution(pd.Series([0], dtype=INTEGER), ())


def compared(flavors: Mapping[str, tuple[int, int]], recommended: str | None = None, slots: int = 10) -> tuple[Odds, ...]:
    """Compare flavors, given as name: (MiB, nodes in the cluster), for pods of 1 or 2 MiB."""
    sizes = {name: NodeSize(NODES, nodes, CORE, mib * MIB, slots, Daemons(0, 0, 0, 0, 0)) for name, (mib, nodes) in flavors.items()}
    risks = Risks(sizes, IDLE, USE)
    unknown: dict[str, Any] = dict.fromkeys(field.name for field in dataclasses.fields(FlavorFit))
    fits = [
        FlavorFit(
            **{
                **unknown,
                "flavor": Flavor(name, None, CORE, mib * MIB, 0, None, "amd64", None),
                "in_cluster_node_count": nodes,
                "pods_by_limit": slots,
                "safe_pods_per_node": risks.most_pods(name, 0.01),
            }
        )
        for name, (mib, nodes) in flavors.items()
    ]
    return odds(fits, risks, recommended, planned=9)


def test_the_chances_of_one_flavor() -> None:
    # of 3 MiB: one pod always fits, two fit but for 2 + 2 (1 of 4), three only as 1 + 1 + 1 (7 of 8 do not), four never
    (found,) = compared({"a": (3, 0)})
    assert (found.pod_counts, found.memory, found.cpu) == ((1, 2, 3, 4), (0.0, 0.25, 0.875, 1.0), (0.0, 0.0, 0.0, 0.0))


def test_lines_end_at_the_slots() -> None:
    (found,) = compared({"a": (100, 0)}, slots=3)
    assert found.pod_counts == (1, 2, 3)


def test_the_recommended_one_comes_first_then_the_clusters_then_others_of_another_number_of_pods() -> None:
    found = compared({"best": (20, 0), "alike": (20, 0), "here": (20, 1), "more": (40, 0), "less": (10, 0)}, "best", slots=50)
    assert [one.flavor for one in found] == ["best", "here", "less", "more"]


def test_no_more_lines_than_can_be_told_apart() -> None:
    assert len(compared({f"f{n}": (4 * n, 0) for n in range(1, 10)}, slots=50)) == 6


def test_the_safe_number_is_there_however_many_slots_there_are() -> None:
    # 1,000 slots are looked at in steps of 9: 1, 10 … 91, 100 alone would say that 91 pods of 1 or 2 MiB are safe in 150 MiB. 92 are: more than
    # 150 - 92 = 58 of them are large with 1 of 2 to the 92nd for each way to choose them, together less than 1 %.
    (found,) = compared({"a": (150, 0)}, slots=1000)
    within = [pods for pods, chance in zip(found.pod_counts, found.memory, strict=True) if chance <= 0.01]
    safe = max(n for n in range(76, 151) if sum(comb(n, large) for large in range(150 - n + 1, n + 1)) <= 2**n / 100)
    assert within[-1] == safe
    assert safe + 1 in found.pod_counts


def test_a_node_without_a_slot_has_no_chances() -> None:
    assert compared({"a": (3, 0)}, slots=0) == (Odds("a", (), (), ()),)
