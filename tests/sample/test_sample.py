"""The sample cluster is what its generator makes, and what a real cluster could look like."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import kubernetes_validate
import pandas as pd
import pytest

from sample.make_sample import FOLDER, build_files

Json = dict[str, Any]
MIB = 2**20
MYBINDER = Path(__file__).parents[1] / "data" / "mybinder"


def read_items(file: Path) -> list[Json]:
    items: list[Json] = json.loads(gzip.decompress(file.read_bytes()))["items"]
    return items


@pytest.fixture(scope="module")
def lists() -> dict[str, list[Json]]:
    return {file.name.removesuffix(".json.gz"): read_items(file) for file in FOLDER.glob("*.json.gz")}


UNITS = {
    "n": Fraction(1, 10**9),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
}


def amount(quantity: str) -> Fraction:
    unit = quantity.lstrip("0123456789")
    return Fraction(quantity.removesuffix(unit)) * UNITS[unit]


def requested(pod: Json, resource: str) -> Fraction:
    """As the scheduler counts: everything that runs together, or the largest init container beside the sidecars before it."""

    def of(container: Json) -> Fraction:
        return amount(container["resources"].get("requests", {}).get(resource, "0"))

    sidecars, peak = Fraction(0), Fraction(0)
    for container in pod["spec"].get("initContainers", []):
        if container.get("restartPolicy") == "Always":
            sidecars += of(container)
        else:
            peak = max(peak, sidecars + of(container))
    return max(peak, sidecars + sum(of(c) for c in pod["spec"]["containers"]))


def used(metrics: Json, resource: str) -> Fraction:
    return sum((amount(c["usage"][resource]) for c in metrics["containers"]), Fraction(0))


def key(item: Json) -> tuple[str, str]:
    return item["metadata"].get("namespace", ""), item["metadata"]["name"]


def bound(lists: dict[str, list[Json]], node: Json) -> list[Json]:
    here = [p for p in lists["pods"] if p["spec"].get("nodeName") == node["metadata"]["name"]]
    return [p for p in here if p["status"]["phase"] not in ("Succeeded", "Failed")]


def is_notebook(item: Json) -> bool:
    return ("component", "singleuser-server") in item["metadata"].get("labels", {}).items()


def test_the_committed_files_are_what_the_generator_makes() -> None:
    # The JSON is compared, not the compressed bytes, which differ between versions of zlib.
    committed = {
        f.name.removesuffix(".gz"): gzip.decompress(f.read_bytes()) if f.suffix == ".gz" else f.read_bytes() for f in FOLDER.iterdir()
    }
    made = build_files()
    assert sorted(committed) == sorted(made)
    assert [name for name in made if made[name] != committed[name]] == []


def test_compressed_files_hold_no_time_of_their_making() -> None:
    assert {file.read_bytes()[4:8] for file in FOLDER.glob("*.gz")} == {b"\0\0\0\0"}  # RFC 1952: MTIME


def test_objects_are_valid_for_the_kubernetes_1_36_api(lists: dict[str, list[Json]]) -> None:
    # One pod of each JupyterHub component is enough: 239 notebooks differ in names and times only.
    distinct = {
        (i["kind"], json.dumps(i["metadata"].get("labels", {}).get("component", key(i)))): i for items in lists.values() for i in items
    }
    for item in distinct.values():
        if not item["apiVersion"].startswith("metrics.k8s.io/"):  # an aggregated API, of which there is no schema
            kubernetes_validate.validate(item, "1.36", strict=True)


def test_every_owner_exists(lists: dict[str, list[Json]]) -> None:
    known = {(i["apiVersion"], i["kind"], i["metadata"]["name"], i["metadata"].get("uid")) for items in lists.values() for i in items}
    references = [o for items in lists.values() for i in items for o in i["metadata"].get("ownerReferences", [])]
    assert [o for o in references if (o["apiVersion"], o["kind"], o["name"], o["uid"]) not in known] == []
    assert {o["kind"] for o in references} == {"Node", "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Pod"}


def test_names_and_uids_are_unique(lists: dict[str, list[Json]]) -> None:
    names = [(file, *key(item)) for file, items in lists.items() for item in items]
    uids = [item["metadata"]["uid"] for items in lists.values() for item in items if "uid" in item["metadata"]]
    assert len(names) == len(set(names))
    assert len(uids) == len(set(uids))


@pytest.mark.parametrize("resource", ["cpu", "memory", "nvidia.com/gpu"])
def test_requests_fit_on_every_node(lists: dict[str, list[Json]], resource: str) -> None:
    for node in lists["nodes"]:
        allocatable = amount(node["status"]["allocatable"].get(resource, "0"))
        assert sum(requested(p, resource) for p in bound(lists, node)) <= allocatable, node["metadata"]["name"]
        assert len(bound(lists, node)) <= 110


@pytest.mark.parametrize("resource", ["cpu", "memory"])
def test_a_machine_uses_more_than_its_pods_and_less_than_it_has(lists: dict[str, list[Json]], resource: str) -> None:
    measured = {key(m): used(m, resource) for m in lists["podmetrics"]}
    machines = {m["metadata"]["name"]: amount(m["usage"][resource]) for m in lists["nodemetrics"]}
    for node in lists["nodes"]:
        pods = sum(measured.get(key(p), Fraction(0)) for p in bound(lists, node))
        assert pods < machines[node["metadata"]["name"]] < amount(node["status"]["capacity"][resource])


def test_notebooks_have_mybinders_figures(lists: dict[str, list[Json]]) -> None:
    sample = {m["metadata"]["name"]: (used(m, "cpu"), used(m, "memory")) for m in lists["podmetrics"] if is_notebook(m)}
    real = {m["metadata"]["name"]: (used(m, "cpu"), used(m, "memory")) for m in read_items(MYBINDER / "podmetrics.json.gz")}
    assert sample == real
    memory = pd.Series([float(m / MIB) for _, m in sample.values()])
    quantiles = memory.quantile([0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 1])
    assert len(memory) == 239
    assert quantiles.round(2).tolist() == [87, 113, 184.2, 262.1, 504.28, 610.28, 978]  # as the notebook of 2018 prints them


def test_users_nodes_have_mybinders_allocatable(lists: dict[str, list[Json]]) -> None:
    nodes = [n["status"] for n in lists["nodes"] if n["metadata"]["labels"]["cloud.google.com/gke-nodepool"] == "users"]
    real = read_items(MYBINDER / "nodes.json.gz")[0]["status"]
    for resource in ("cpu", "memory", "pods"):
        assert {(n["capacity"][resource], n["allocatable"][resource]) for n in nodes} == {
            (real["capacity"][resource], real["allocatable"][resource])
        }


def test_one_running_pod_is_not_measured_yet(lists: dict[str, list[Json]]) -> None:
    measured = {key(m) for m in lists["podmetrics"]}
    missing = [p for p in lists["pods"] if p["status"]["phase"] == "Running" and key(p) not in measured]
    assert [p["metadata"]["labels"]["app.kubernetes.io/name"] for p in missing] == ["web"]


def test_one_pod_is_close_to_its_memory_limit(lists: dict[str, list[Json]]) -> None:
    limits = {key(p): [c["resources"].get("limits", {}).get("memory") for c in p["spec"]["containers"]] for p in lists["pods"]}
    close = [
        m for m in lists["podmetrics"] if all(limits[key(m)]) and used(m, "memory") > Fraction(9, 10) * sum(map(amount, limits[key(m)]))
    ]
    assert [key(m) for m in close] == [("shop", "redis-0")]


def test_free_gpus_are_idle_on_two_nodes_stranded_on_one_and_a_share_on_one(lists: dict[str, list[Json]]) -> None:
    free: list[tuple[int, bool]] = []
    for node in lists["nodes"]:
        allocatable = node["status"]["allocatable"]
        pods = bound(lists, node)
        if count := amount(allocatable.get("nvidia.com/gpu", "0")) - sum(requested(p, "nvidia.com/gpu") for p in pods):
            free.append((int(count), amount(allocatable["cpu"]) - sum(requested(p, "cpu") for p in pods) < 1))
    # GPUs, and whether less than a core is left beside them; the first is one of four shares of a T4
    assert sorted(free) == [(1, False), (1, True), (2, False), (2, False)]


def test_parts_of_a_card_and_a_claimed_one_are_held(lists: dict[str, list[Json]]) -> None:
    (cut_up,) = (n["status"]["allocatable"] for n in lists["nodes"] if "nvidia.com/mig-1g.10gb" in n["status"]["allocatable"])
    parts = {name: int(count) for name, count in cut_up.items() if name.startswith("nvidia.com/")}
    assert parts == {"nvidia.com/gpu": 0, "nvidia.com/mig-1g.10gb": 2, "nvidia.com/mig-2g.20gb": 1, "nvidia.com/mig-3g.40gb": 1}
    (published,) = lists["resourceslices"]
    (claim,) = lists["resourceclaims"]
    (result,) = claim["status"]["allocation"]["devices"]["results"]
    assert len(published["spec"]["devices"]) == 2
    assert result["pool"] == published["spec"]["pool"]["name"]
    assert claim["status"]["reservedFor"][0]["uid"] in {p["metadata"]["uid"] for p in lists["pods"]}


def test_two_pods_fit_nowhere(lists: dict[str, list[Json]]) -> None:
    pending = [p for p in lists["pods"] if p["status"]["phase"] == "Pending"]
    assert {p["status"]["conditions"][0]["reason"] for p in pending} == {"Unschedulable"}
    # 8 cores are more than the 7.91 that an 8-core machine has for pods; 4 GPUs more than the 2 of any node
    assert sorted((int(requested(p, "cpu")), int(requested(p, "nvidia.com/gpu"))) for p in pending) == [(8, 0), (16, 4)]
