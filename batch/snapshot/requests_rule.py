"""RequestsRule: how the scheduler of a Kubernetes version counts a pod that is being resized in place."""

from __future__ import annotations

import enum
import re

_MAX_OF_SUMS_SINCE = (1, 37)
"""kubernetes/kubernetes#140047 (merged July 2026): a resize is allocated and carried out for the whole pod at once."""


class RequestsRule(enum.Enum):
    """The two rules there are; they differ only for pods in the middle of a resize (docs/collection.md, "Requests and limits")."""

    PER_CONTAINER = "the largest of spec, allocated and actual for each container, then the sum (Kubernetes up to 1.36)"
    PER_POD = "the largest of the sums of spec, allocated and actual (Kubernetes 1.37 and newer)"


def rule_of(kubernetes_version: str | None) -> RequestsRule:
    """Give the rule of a server version such as "v1.36.2-gke.1"; that of 1.36 when it is not known."""
    match = re.match(r"v?(\d+)\.(\d+)", kubernetes_version or "")
    newer = match is not None and (int(match[1]), int(match[2])) >= _MAX_OF_SUMS_SINCE
    return RequestsRule.PER_POD if newer else RequestsRule.PER_CONTAINER
