"""The ResourceClaims that a pod refers to, and the resources that it is given through one."""

from __future__ import annotations

from collections.abc import Iterator

from batch.collect.objects import Pod, PodSpec, PodStatus


def pod_claims(pod: Pod) -> Iterator[tuple[str, str, str | None]]:
    """Yield the reference, the resource that the claim serves ("" for none) and the claim's name, None until it is made."""
    spec, status = pod.spec or PodSpec(), pod.status or PodStatus()
    made = {one.name: one.resource_claim_name for one in status.resource_claim_statuses or []}
    for one in spec.resource_claims or []:
        yield one.name, "", one.resource_claim_name or made.get(one.name)
    extended = status.extended_resource_claim_status
    if extended is not None:
        for resource in sorted({mapping.resource_name for mapping in extended.request_mappings or []}):
            yield "", resource, extended.resource_claim_name
