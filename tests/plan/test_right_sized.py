from dataclasses import replace

import pandas as pd

from batch.plan.right_sized import right_sized
from batch.plan.rightsizing.model import Advice, Evidence, Sizing, Verdict
from batch.snapshot.model import Snapshot
from batch.snapshot.schemas import CONTAINERS
from tests.builders import CORE, GIB, pod, snapshot

UNTOUCHED = Sizing(None, None, None, None, None, None, None, None, None)


def lowered(container: str, *, cpu: int | None = None, memory: int | None = None) -> Advice:
    def sizing(target: int | None) -> Sizing:
        return UNTOUCHED if target is None else replace(UNTOUCHED, verdict=Verdict.LOWER, target=target)

    return Advice(
        kind="Deployment",
        namespace="default",
        workload="web",
        container=container,
        sidecar=False,
        injected=None,
        pod_count=1,
        strategy="peak",
        evidence=Evidence(100, 30, 1, 1.0, 1.0, ()),
        cpu=sizing(cpu),
        memory=sizing(memory),
        patchable=True,
        kill_count=0,
        has_evidence=True,
        reasons=(),
    )


def of_containers(effective_cpu: int | None, *rows: tuple[str, str, int]) -> Snapshot:
    """Build a pod of Deployment web with containers (name, kind, CPU request)."""
    taken = snapshot(pods=[pod("p", cpu=effective_cpu, memory=GIB, workload_kind="Deployment", workload="web")])
    containers = CONTAINERS.frame(
        [
            {"namespace": "default", "pod": "p", "container": name, "kind": kind, "requests_cpu_nanocores": cpu}.get(c.name)
            for c in CONTAINERS.columns
        ]
        for name, kind, cpu in rows
    )
    return replace(taken, tables={**taken.tables, "containers": containers})


def cpu_of(taken: Snapshot, *advice: Advice) -> int | None:
    value = right_sized(taken, taken.table("pods"), advice)["requests_cpu_nanocores"].iloc[0]
    return None if pd.isna(value) else int(value)


def test_a_pod_changes_by_what_its_containers_change() -> None:
    # 2 + 1 cores and 0.5 of overhead; app goes to 0.5: 0.5 + 1 + 0.5.
    taken = of_containers(7 * CORE // 2, ("app", "app", 2 * CORE), ("mesh", "sidecar", CORE))
    assert cpu_of(taken, lowered("app", cpu=CORE // 2)) == 2 * CORE


def test_an_init_container_keeps_what_it_needs() -> None:
    # The app goes from 4 cores to 1, the init container still needs 3.
    taken = of_containers(4 * CORE, ("app", "app", 4 * CORE), ("setup", "init", 3 * CORE))
    assert cpu_of(taken, lowered("app", cpu=CORE)) == 3 * CORE


def test_what_advice_does_not_name_stays() -> None:
    taken = of_containers(2 * CORE, ("app", "app", 2 * CORE))
    assert cpu_of(taken, lowered("other", cpu=CORE)) == 2 * CORE
    assert cpu_of(taken, lowered("app", memory=GIB // 2)) == 2 * CORE
    assert cpu_of(taken) == 2 * CORE


def test_unknown_stays_unknown() -> None:
    assert cpu_of(of_containers(None, ("app", "app", 2 * CORE)), lowered("app", cpu=CORE)) is None
