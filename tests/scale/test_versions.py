from typing import Any

import pytest

from batch.scale.model import Status
from tests.builders import NodeRows, node
from tests.scale.checked import FAIL, OK, UNKNOWN, WARN, assessed, check, said


def nodes(*versions: str | None) -> list[NodeRows]:
    return [node(f"n{number}", kubelet_version=version) for number, version in enumerate(versions)]


@pytest.mark.parametrize(
    ("server", "kubelets", "status", "skew"),
    [
        ("v1.36.2", ("v1.36.2", "v1.34.0-eks-1"), OK, 2),
        ("v1.36.2", ("v1.36.2", "v1.33.9"), WARN, 3),
        ("v1.36.2", ("v1.36.2", "v1.32.1"), FAIL, 4),
        ("v1.26.0", ("v1.24.9",), WARN, 2),  # kubelets before 1.25 may be two behind
        ("v1.27.0", ("v1.24.9",), FAIL, 3),
        ("v1.35.0", ("v1.36.0",), FAIL, 1),  # none may be newer
    ],
)
def test_kubelets_may_be_three_versions_behind(server: str, kubelets: tuple[str, ...], status: Status, skew: int) -> None:
    found = check("versions.kubelet-skew", nodes=nodes(*kubelets), version=server)
    assert (found.status, found.value) == (status, skew)


def test_the_oldest_kubelets_are_named() -> None:
    assert check("versions.kubelet-skew", nodes=nodes("v1.36.2", "v1.33.1"), version="v1.36.2").objects == ("n1",)


def test_what_tells_no_version_is_unknown() -> None:
    assert check("versions.kubelet-skew", nodes=nodes("v1.36.2"), version=None).status is UNKNOWN
    assert check("versions.kubelet-skew", nodes=nodes(None, "odd")).status is UNKNOWN
    assert check("versions.kubelet-skew", unread=["nodes"]).status is UNKNOWN
    assert check("versions.node-systems", unread=["nodes"]).status is UNKNOWN


@pytest.mark.parametrize(("mixed", "status"), [(0, OK), (1, WARN), (2, FAIL)])
def test_pools_that_mix_systems_are_told(mixed: int, status: Status) -> None:
    pairs = [(pool, member) for pool in range(3) for member in range(2)]
    machines = [
        node(f"n{pool}{member}", instance_type=f"pool{pool}", kernel_version="6.1" if member and pool < mixed else "6.12")
        for pool, member in pairs
    ]
    found = check("versions.node-systems", nodes=machines)
    assert (found.status, found.objects) == (status, tuple(f"pool{number}" for number in range(mixed)))
    assert len(assessed(nodes=machines).tables["scale-systems"]) == 3 + mixed


def test_a_system_that_is_not_told_is_one_of_its_own() -> None:
    assert said(check("versions.node-systems", nodes=[node("n1"), node("n2", os_image="Linux")])).startswith("1 of 1 node pool mixes")


def test_a_node_that_tells_nothing_of_its_system_mixes_nothing() -> None:
    untold: dict[str, Any] = {"kubelet_version": None, "kernel_version": None, "os_image": None, "container_runtime": None}
    assert check("versions.node-systems", nodes=[node("n1", **untold)]).status is UNKNOWN
    assert check("versions.node-systems", nodes=[node("n1", **untold), node("n2")]).status is OK
