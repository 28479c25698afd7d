"""Proposed deadlines as text to apply: a patch for each Job and CronJob, and all of them as kubectl commands."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import yaml

from batch.jobs.judgements import SCRIPT, without_deadline
from batch.jobs.model import CronJob, Job, JobAssessment, Proposal
from batch.report.model import Artifact

_HEAD = """\
#!/bin/sh
# The deadlines that Nightcap proposes: Jobs that run first, those on which most hangs at the top, then CronJobs, whose next Jobs have them.
# Read before use: a deadline counts from a Job's start, and one that is past by now ends it at once. --dry-run=server shows what would change.
"""


@dataclass(frozen=True)
class Patch:
    """A deadline to set on one object."""

    kind: str
    namespace: str
    name: str
    proposal: Proposal

    @property
    def spec(self) -> dict[str, Any]:
        """The part of the object that changes."""
        spec: dict[str, Any] = {"spec": {"activeDeadlineSeconds": self.proposal.deadline_seconds}}
        return {"spec": {"jobTemplate": spec}} if self.kind == "CronJob" else spec


def deadline_patches(found: JobAssessment, most: int) -> tuple[Artifact, ...]:
    """Make a patch file for each of the first `most` objects, and one script of all; nothing without a proposal."""
    patches = tuple(proposed(found))
    if not patches:
        return ()
    files = [Artifact(file_name(one.kind, one.namespace, one.name), "application/yaml", _file(one).encode()) for one in patches[:most]]
    lines = "".join(f"{command(one)}\n" for one in patches)
    return (*files, Artifact(SCRIPT, "text/x-shellscript; charset=utf-8", (_HEAD + lines).encode()))


def proposed(found: JobAssessment) -> Iterator[Patch]:
    """Yield what can be set today: on Jobs that it would not end at once, and on CronJobs."""
    for job in without_deadline(found.jobs):
        if job.proposal and not ends_now(job):
            yield Patch("Job", job.namespace, job.name, job.proposal)
    for cronjob in to_propose(found):
        if cronjob.proposal:
            yield Patch("CronJob", cronjob.namespace, cronjob.name, cronjob.proposal)


def to_propose(found: JobAssessment) -> list[CronJob]:
    """Give the CronJobs with a proposed deadline: those whose runs were cut short first, then those that ask for most."""
    proposed = [it for it in found.cronjobs if it.proposal]
    return sorted(proposed, key=lambda it: (not it.runs.exceeded, -it.requests_gpu_count, -(it.requests_cpu_nanocores or 0), it.key))


def ends_now(job: Job) -> bool:
    """Whether the proposed deadline of a Job is already past: runs like it are long over."""
    return job.proposal is not None and job.duration_seconds is not None and job.duration_seconds >= job.proposal.deadline_seconds


def file_name(kind: str, namespace: str, name: str) -> str:
    """Give the name of an object's patch below the run's folder."""
    return f"deadlines/{quote(namespace, safe='')}/{quote(f'{kind.lower()}-{name}', safe='')}.yaml"


def command(patch: Patch) -> str:
    """Write a patch as a command for a POSIX shell, whatever its names hold."""
    text = json.dumps(patch.spec, separators=(",", ":"), ensure_ascii=True)
    target = [f"{patch.kind.lower()}/{patch.name}", f"--namespace={patch.namespace}"]
    return shlex.join(["kubectl", "patch", *target, "--type=merge", f"--patch={text}"])


def _file(patch: Patch) -> str:
    """Write a patch as kustomize takes it. What stands in comments is numbers, for names may hold anything."""
    tree = {"apiVersion": "batch/v1", "kind": patch.kind, "metadata": {"name": patch.name, "namespace": patch.namespace}, **patch.spec}
    proposal = patch.proposal
    note = f"# finished runs {proposal.run_count}, of which a deadline ended {proposal.cut_count}; basis {proposal.basis_seconds:.0f} s\n"
    body: str = yaml.safe_dump(tree, sort_keys=False, default_flow_style=False, allow_unicode=False)
    return note + body
