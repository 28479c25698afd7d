import pytest

from batch.snapshot.scheduling import accepted, places, rules
from tests.builders import Rules, node, pod, snapshot

GPU_TAINT = ("nvidia.com/gpu", "NoSchedule")
NODES = (
    node("a", labels={"pool": "x", "cores": "8"}),
    node("b", labels={"pool": "y", "cores": "16"}, taints=[GPU_TAINT]),
    node("c", taints=[("soon", "PreferNoSchedule")]),
)


def takers(of: Rules) -> str:
    """Name the nodes that accept a pod with these rules."""
    taken = snapshot(nodes=NODES, pods=[pod("p", on=None, phase="Pending", rules=of)])
    (one,) = rules(taken).values()
    flags = accepted([one], places(taken, ["a", "b", "c"], one.labels()))[0]
    return "".join(name for name, flag in zip("abc", flags, strict=True) if flag)


@pytest.mark.parametrize(
    ("toleration", "nodes"),
    [
        (("nvidia.com/gpu", "Exists", "", ""), "abc"),
        (("nvidia.com/gpu", "Exists", "", "NoExecute"), "ac"),
        (("nvidia.com/gpu", "Equal", "", "NoSchedule"), "abc"),
        (("nvidia.com/gpu", "Equal", "yes", ""), "ac"),
        (("", "Exists", "", ""), "abc"),
        (("other", "Exists", "", ""), "ac"),
    ],
)
def test_tolerations(toleration: tuple[str, str, str, str], nodes: str) -> None:
    assert takers(Rules(tolerations=(toleration,))) == nodes


TOLERANT = (("", "Exists", "", ""),)


@pytest.mark.parametrize(
    ("requirement", "nodes"),
    [
        (("pool", "In", ("x", "z")), "a"),
        (("pool", "NotIn", ("x",)), "bc"),
        (("pool", "Exists", ()), "ab"),
        (("pool", "DoesNotExist", ()), "c"),
        (("cores", "Gt", ("8",)), "b"),
        (("cores", "Lt", ("16",)), "a"),
        (("metadata.name", "In", ("c",)), "c"),
        (("", "In", ()), ""),
        (("pool", "Resembles", ("x",)), ""),
    ],
)
def test_requirements(requirement: tuple[str, str, tuple[str, ...]], nodes: str) -> None:
    assert takers(Rules(TOLERANT, terms=((requirement,),))) == nodes


def test_everything_in_a_term_must_hold_and_one_of_the_terms() -> None:
    either = ((("pool", "In", ("x",)), ("cores", "In", ("16",))), (("pool", "In", ("y",)),))
    assert takers(Rules(TOLERANT, terms=either)) == "b"


def test_the_selector_must_hold_beside_the_terms() -> None:
    assert takers(Rules(TOLERANT, selector=(("pool", "y"),), terms=((("cores", "Exists", ()),),))) == "b"
    assert takers(Rules(TOLERANT, selector=(("pool", "y"),), terms=((("cores", "In", ("8",)),),))) == ""
