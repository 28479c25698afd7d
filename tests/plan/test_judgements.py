from __future__ import annotations

from datetime import timedelta

from batch.findings import Finding, Severity
from batch.plan.assess import assess
from batch.settings import Settings
from batch.snapshot.model import Snapshot
from tests.builders import CORE, GIB, MIB, TAKEN_AT, node, pod, snapshot

USE = (0, 0)


def findings(taken: Snapshot) -> dict[str, Finding]:
    return {finding.id: finding for finding in assess(taken, Settings()).findings}


def test_a_healthy_cluster_has_no_findings() -> None:
    assert findings(snapshot(nodes=[node("n1")], pods=[pod("a", cpu=CORE, usage=USE)])) == {}


def test_nodes_that_are_not_ready_are_named_with_the_room_out_of_reach() -> None:
    found = findings(snapshot(nodes=[node("n1"), node("n2", ready=False, cpu=8 * CORE)]))["capacity.nodes-not-ready"]
    assert (found.severity, found.objects) == (Severity.WARNING, ("n2",))
    assert found.detail.values["cpu"] == 8 * CORE


def test_a_pool_is_full_at_nine_tenths_of_its_usable_nodes() -> None:
    def full(requests: int) -> Finding | None:
        nodes = [node("n1", cpu=10 * CORE, instance_type="a"), node("n2", instance_type="a", schedulable=False)]
        return findings(snapshot(nodes=nodes, pods=[pod("p", cpu=requests, usage=USE)])).get("capacity.pools-full")

    assert full(9 * CORE - 1) is None
    found = full(9 * CORE)
    assert found is not None
    assert (found.title.values["ratio"], found.detail.values["cpu"]) == (0.9, CORE)


def test_pod_slots_that_run_out_are_said_with_what_is_left() -> None:
    pods = [pod(f"p{i}", cpu=CORE // 50, usage=USE) for i in range(27)]
    found = findings(snapshot(nodes=[node("n1", pods=29, instance_type="a")], pods=pods))["capacity.pod-slots"]
    assert (found.title.values["taken"], found.title.values["slots"], found.detail.values["pods"]) == (27, 29, 2)


def test_full_pools_are_one_finding_fullest_first() -> None:
    nodes = [node(name, cpu=10 * CORE, instance_type=name) for name in ("a", "b", "c")]
    pods = [pod(name, on=name, cpu=cores * CORE, usage=USE) for name, cores in (("a", 9), ("b", 10), ("c", 1))]
    found = findings(snapshot(nodes=nodes, pods=pods))["capacity.pools-full"]
    assert (found.objects, found.title.values["pool"], found.detail.values["others"]) == (("b", "a"), "b", 1)


def test_unschedulable_pods_are_counted_with_the_oldest_reason() -> None:
    def waiting(name: str, minutes: int, reason: str | None = "0/3 nodes are available", *, gated: bool = False) -> Finding | None:
        created = TAKEN_AT - timedelta(minutes=minutes)
        pods = [pod(name, on=None, phase="Pending", created_at=created, unschedulable_reason=reason, gated=gated)]
        young = pod("young", on=None, phase="Pending", created_at=TAKEN_AT, unschedulable_reason="other")
        return findings(snapshot(nodes=[node("n1")], pods=[young, *pods] if reason else pods)).get("capacity.pods-unschedulable")

    old = waiting("old", 16)
    assert old is not None
    assert (old.severity, old.objects) == (Severity.CRITICAL, ("default/old", "default/young"))
    assert (old.detail.values["pod"], old.detail.values["reason"]) == ("default/old", "0/3 nodes are available.")
    recent = waiting("old", 15)
    assert recent is not None
    assert recent.severity is Severity.WARNING
    assert waiting("unjudged", 60, reason=None) is None
    held_back = waiting("gated", 60, gated=True)
    assert held_back is not None
    assert held_back.objects == ("default/young",)


def test_nodes_of_unknown_size_are_named() -> None:
    found = findings(snapshot(nodes=[node("n1"), node("n2", cpu=None, memory=None, pods=None)]))
    assert found["capacity.nodes-without-allocatable"].objects == ("n2",)


def test_pods_on_nodes_that_were_not_listed_are_named() -> None:
    found = findings(snapshot(nodes=[node("n1")], pods=[pod("a", on="gone", cpu=8 * CORE, usage=USE)]))["capacity.pods-on-unknown-nodes"]
    assert (found.objects, found.detail.values["cpu"], found.detail.values["nodes"]) == (("default/a",), 8 * CORE, "gone")


def test_little_coverage_is_said_unless_usage_was_not_read_at_all() -> None:
    pods = [pod(f"p{i}", usage=USE if i < 8 else None) for i in range(10)]
    found = findings(snapshot(nodes=[node("n1")], pods=pods))["capacity.little-measured"]
    assert (found.title.values["some"], found.title.values["all"]) == (8, 10)
    assert "capacity.little-measured" not in findings(snapshot(nodes=[node("n1")], pods=[pod("a")], unread=["podmetrics"]))


def test_pods_near_their_memory_limit_are_named_nearest_first() -> None:
    pods = [
        pod("at-nine-tenths", usage=(0, 900 * MIB), memory_limit=1000 * MIB),
        pod("near", usage=(0, 900 * MIB + 1), memory_limit=1000 * MIB),
        pod("nearer", usage=(0, 99 * MIB), memory_limit=100 * MIB),
        pod("unlimited", usage=(0, 8 * GIB)),
    ]
    found = findings(snapshot(nodes=[node("n1")], pods=pods))["capacity.near-memory-limit"]
    assert (found.section, found.objects) == ("profile-all-pods", ("default/nearer", "default/near"))


def test_a_flavor_is_advised_for_the_profile_that_says_most() -> None:
    nodes = [node("n1", instance_type="a", memory=8 * GIB)]  # less than any flavor of the catalogue
    plain = snapshot(nodes=nodes, pods=[pod(f"p{i}", usage=USE) for i in range(10)])
    assert findings(plain)["profile.recommended-flavor/all-pods"].objects == ("a",)
    label = {"component": "singleuser-server"}
    hub = snapshot(nodes=nodes, pods=[pod(f"jupyter-{i}", labels=label, usage=USE) for i in range(10)])
    assert [name for name in findings(hub) if name.startswith("profile.")] == ["profile.recommended-flavor/jupyterhub-users"]


def test_the_most_urgent_comes_first() -> None:
    taken = snapshot(
        nodes=[node("n1", ready=False)],
        pods=[pod("a", on=None, phase="Pending", unschedulable_reason="no room"), pod("b", on="gone", usage=USE)],
    )
    severities = [finding.severity for finding in assess(taken, Settings()).findings]
    assert severities == [Severity.CRITICAL, Severity.WARNING, Severity.ADVICE]


def test_pods_that_request_nothing_are_told_when_they_are_many() -> None:
    def found(blank: int, count: int) -> Finding | None:
        pods = [pod(f"p{i}", cpu=0 if i < blank else CORE // 100, usage=(0, (i + 1) * MIB)) for i in range(count)]
        return findings(snapshot(nodes=[node("n1")], pods=pods)).get("capacity.pods-without-requests")

    most, some = found(6, 10), found(1, 10)
    assert most is not None
    assert (most.severity, dict(most.title.values), most.objects[0]) == (Severity.WARNING, {"blank": 6, "all": 10}, "default/p5")
    assert most.detail.values == {"used": 21 * MIB}
    assert some is not None
    assert some.severity is Severity.ADVICE
    assert found(1, 11) is None
    unreadable = snapshot(nodes=[node("n1")], pods=[pod("a", cpu=None), pod("b", memory=GIB), pod("c", on="gone")])
    assert "capacity.pods-without-requests" not in findings(unreadable)
