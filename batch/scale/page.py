"""Prints docs/scale.md: every check with its limits, whose they are, what it needs, and what it teaches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from batch.scale.catalogue import RULES
from batch.scale.model import Rule

_HEAD = """# Can the cluster grow

Every check of the section "Can it grow", generated from batch/scale by `./dev docs`. Each is a limit that others met on the way to thousands
of nodes. A check is `ok`, `warn`, `fail` or `unknown`; an unknown one says in the report what would make it known. All of them are in
report.json (`scale.checks`) and in tables/scale-checks.csv.

## What they need

A check that lacks what it needs is unknown; nothing else suffers. `list KIND` is a right of the reading role (k8s/base has them all), and
`python -m batch check` has a line for each. Prometheus is asked when `prometheus.url` is set; it must scrape what is named. Limits of node
autoscalers take a right of their own each, which a component of kustomize adds to any overlay:

| to read | add to your site's kustomization.yaml | and set |
| --- | --- | --- |
| the status of the cluster autoscaler: one ConfigMap in kube-system, and no other | `components: [../k8s/components/cluster-autoscaler]` | `scale.autoscalers: [cluster-autoscaler]` |
| Karpenter's NodePools | `components: [../k8s/components/karpenter]` | `scale.autoscalers: [karpenter]` |

Not asked for, on purpose: Secrets, any wildcard, and `nodes/proxy`. The last would show what kubelets are set to (`serializeImagePulls`,
`maxParallelImagePulls`, `registryPullQPS`, `maxPods`), but it also lets its holder run commands in every pod of the node. How many Secrets
or custom resources are stored is known from the API server's own count, by way of Prometheus.

| check | needs |
| --- | --- |
"""


def page() -> Iterator[str]:
    """Yield the page line by line."""
    yield _HEAD.rstrip("\n")
    for rule in RULES:
        yield f"| `{rule.id}` | {', '.join(rule.needs) or 'nothing'} |"
    for area, rules in groupby(RULES, key=lambda rule: rule.area):
        yield f"\n## {area}"
        for rule in rules:
            yield from _described(rule)


def _described(rule: Rule) -> Iterator[str]:
    yield f"\n### {rule.name} (`{rule.id}`)\n"
    yield f"{rule.lesson}\n"
    yield f"- Measured: {rule.measures} ({rule.unit})."
    yield f"- {rule.threshold[:1].upper()}{rule.threshold[1:]}."
    yield f"- Source: {rule.source}."
    yield f"- What to do: {rule.action}"


if __name__ == "__main__":
    for line in page():
        print(line)  # noqa: T201  the page is the output
