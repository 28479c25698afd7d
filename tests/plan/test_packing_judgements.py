from batch.findings import Finding, Severity
from batch.plan.assess import assess
from batch.plan.prices import Price, Prices
from batch.settings import Settings
from batch.snapshot.model import Snapshot
from tests.builders import CORE, GIB, TAKEN_AT, Rules, node, pod, snapshot

ZONE = "topology.kubernetes.io/zone"
USE = (0, 0)


def findings(taken: Snapshot, **prices: float) -> dict[str, Finding]:
    by_flavor = {name.replace("_", "."): Price(cost, TAKEN_AT.date(), spot=False) for name, cost in prices.items()}
    return {finding.id: finding for finding in assess(taken, Settings(), prices=Prices("EUR", by_flavor)).findings}


def test_the_loss_of_a_node_that_others_have_no_room_for() -> None:
    nodes = [node("n1"), node("n2")]
    found = findings(snapshot(nodes=nodes, pods=[pod("a", on="n1", cpu=3 * CORE, usage=USE), pod("b", on="n2", cpu=2 * CORE, usage=USE)]))
    loss = found["capacity.loss-of-a-node"]
    assert (loss.severity, loss.section, loss.objects) == (Severity.WARNING, "headroom", ("none",))
    assert loss.detail.values["cpu"] == 3 * CORE


def test_the_only_node_is_no_loss_to_warn_of() -> None:
    assert "capacity.loss-of-a-node" not in findings(snapshot(nodes=[node("n1")], pods=[pod("a", cpu=CORE, usage=USE)]))


def test_the_loss_of_a_zone_is_advice() -> None:
    nodes = [node(name, zone=name, labels={ZONE: name}) for name in ("z1", "z2")]
    bound = pod("a", on="z1", cpu=CORE, usage=USE, rules=Rules(selector=((ZONE, "z1"),)))
    loss = findings(snapshot(nodes=nodes, pods=[bound]))["capacity.loss-of-a-zone"]
    assert (loss.severity, loss.title.values["zone"], loss.objects) == (Severity.ADVICE, "z1", ("default/a",))


def test_nodes_that_could_be_emptied_are_worth_their_price_where_all_have_one() -> None:
    nodes = [node(name, instance_type="m5.xlarge") for name in ("n1", "n2", "n3")]
    pods = [pod(f"p{name}", on=name, cpu=CORE, usage=USE) for name in ("n1", "n2", "n3")]
    found = findings(snapshot(nodes=nodes, pods=pods), m5_xlarge=0.1)["capacity.emptyable-nodes"]
    # Two of three nodes; 0.1 an hour for 730 hours each.
    assert (found.title.values["some"], found.monthly_saving) == (2, 146.0)
    assert findings(snapshot(nodes=nodes, pods=pods))["capacity.emptyable-nodes"].monthly_saving is None


def test_a_flavor_that_packs_the_pods_for_less() -> None:
    nodes = [node(f"n{n}", instance_type="m5.xlarge", provider="aws", memory=14 * GIB) for n in range(4)]
    pods = [pod(f"p{n}", on=f"n{n}", cpu=CORE, memory=12 * GIB, usage=USE) for n in range(4)]
    # One pod of 12 GiB on an m5.xlarge of 14; on an r6i.2xlarge of 64 all four.
    found = findings(snapshot(nodes=nodes, pods=pods), m5_xlarge=0.2, r6i_2xlarge=0.5)["fleets.cheaper-flavor"]
    assert (found.objects, found.monthly_saving) == (("r6i.2xlarge",), 0.3 * 730)
    assert found.detail.values["count"] == 4
    assert "fleets.cheaper-flavor" not in findings(snapshot(nodes=nodes, pods=pods), m5_xlarge=0.2, r6i_2xlarge=0.79)
    assert "fleets.cheaper-flavor" not in findings(snapshot(nodes=nodes, pods=pods))
