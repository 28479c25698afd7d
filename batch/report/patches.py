"""Advice on requests as text to apply: a patch for kustomize for each workload, and all of them as kubectl commands."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import yaml

from batch.plan.rightsizing.model import PROMETHEUS, Advice, Rightsizing, Sizing
from batch.report.model import Artifact

SCRIPT = "patches/kubectl.sh"

_API_VERSIONS = {"Deployment": "apps/v1", "StatefulSet": "apps/v1", "DaemonSet": "apps/v1", "ReplicaSet": "apps/v1", "CronJob": "batch/v1"}
_UNITS = {"cpu": (("", 10**9), ("m", 10**6)), "memory": (("Gi", 2**30), ("Mi", 2**20), ("", 1))}
_HEAD = """\
#!/bin/sh
# What Nightcap advises to request, largest change first. Read before use: a changed template restarts its pods.
# --dry-run=server at the end of a line shows what the API server would make of it.
"""

Workload = tuple[str, str, str]
"""Kind, namespace and name."""


def patches(sized: Rightsizing, most: int) -> tuple[Artifact, ...]:
    """Make a patch file for each of the first `most` workloads that can be patched, and one script of all of them; nothing without advice."""
    workloads = changes(sized)
    if not workloads:
        return ()
    files = [
        Artifact(file_name(*workload), "application/yaml", _file(workload, advice).encode())
        for workload, advice in list(workloads.items())[:most]
    ]
    lines = "".join(f"{command(workload, advice)}\n" for workload, advice in workloads.items())
    return (*files, Artifact(SCRIPT, "text/x-shellscript; charset=utf-8", (_HEAD + lines).encode()))


def changes(sized: Rightsizing) -> dict[Workload, list[Advice]]:
    """Give what is to be changed of each workload that can be patched, largest change first."""
    found: dict[Workload, list[Advice]] = {}
    for advice in sized.advice:
        if advice.is_change and advice.patchable:
            found.setdefault((advice.kind, advice.namespace, advice.workload), []).append(advice)
    return found


def file_name(kind: str, namespace: str, workload: str) -> str:
    """Give the name of a workload's patch below the run's folder."""
    return f"patches/{quote(namespace, safe='')}/{quote(f'{kind.lower()}-{workload}', safe='')}.yaml"


def command(workload: Workload, advice: Sequence[Advice]) -> str:
    """Write the change of a workload as a command for a POSIX shell, whatever its names hold."""
    kind, namespace, name = workload
    patch = json.dumps(_spec(kind, advice), separators=(",", ":"), ensure_ascii=True)
    return shlex.join(["kubectl", "patch", f"{kind.lower()}/{name}", f"--namespace={namespace}", "--type=strategic", f"--patch={patch}"])


def apply_command(workload: Workload) -> str:
    """Write the command that applies a workload's patch file, from the run's folder."""
    kind, namespace, name = workload
    target = [f"{kind.lower()}/{name}", f"--namespace={namespace}", "--type=strategic"]
    return shlex.join(["kubectl", "patch", *target, f"--patch-file={file_name(*workload)}"])


def quantity(amount: int, resource: str) -> str:
    """Write nanocores or bytes as Kubernetes' quantity: in the largest unit that holds it in whole numbers."""
    unit, size = next((unit, size) for unit, size in _UNITS[resource] if amount % size == 0)
    return f"{amount // size}{unit}"


def _file(workload: Workload, advice: Sequence[Advice]) -> str:
    """Write a patch as kustomize takes it. What stands in comments is numbers, for names may hold anything."""
    kind, namespace, name = workload
    tree = {"apiVersion": _API_VERSIONS[kind], "kind": kind, "metadata": {"name": name, "namespace": namespace}, **_spec(kind, advice)}
    notes = "".join(f"# container {place}: {_note(one)}\n" for place, one in enumerate(advice, 1))
    body: str = yaml.safe_dump(tree, sort_keys=False, default_flow_style=False, allow_unicode=False)
    return notes + body


def _note(advice: Advice) -> str:
    evidence = advice.evidence
    return (
        f"strategy {advice.strategy}; samples {evidence.sample_count}, {'days' if evidence.source == PROMETHEUS else 'nights'} {evidence.night_count}, "
        f"coverage {evidence.coverage_ratio:.2f}, confidence {evidence.confidence:.2f}, killed for memory {advice.kill_count}"
    )


def _spec(kind: str, advice: Iterable[Advice]) -> dict[str, Any]:
    """Give the part of a workload that changes; lists of containers are merged by name."""
    containers: dict[str, list[Any]] = {}
    for one in advice:
        containers.setdefault("initContainers" if one.sidecar else "containers", []).append(_container(one))
    template = {"spec": {"template": {"spec": containers}}}
    return {"spec": {"jobTemplate": template}} if kind == "CronJob" else template


def _container(advice: Advice) -> Mapping[str, Any]:
    sizings: dict[str, Sizing] = {"cpu": advice.cpu, "memory": advice.memory}
    requests = {name: quantity(one.target, name) for name, one in sizings.items() if one.target is not None}
    limits = {
        name: None if one.target_limit is None else quantity(one.target_limit, name)
        for name, one in sizings.items()
        if one.target_limit is not None or one.removes_limit
    }
    return {"name": advice.container, "resources": {"requests": requests, **({"limits": limits} if limits else {})}}
