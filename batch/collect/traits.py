"""What of a pod matters to the network, to DNS, to whoever wants to drain its node, and to whoever wants to size its containers."""

from __future__ import annotations

from batch.collect.objects import Annotations, Pod, PodSpec, Rules, Volume

_IN_MEMORY = "Memory"
_SAID = {"true": True, "false": False}
_NOTHING = (b"null", b"[]", b"{}")
_NO_RULES = Rules()


def traits(pod: Pod) -> tuple[bool, str | None, bool, bool | None, bool, bool]:
    """Give host_network, dns_policy, local_storage, safe_to_evict, kept_apart and sized_as_a_whole."""
    spec = pod.spec or PodSpec()
    said = (pod.metadata.annotations or Annotations()).safe_to_evict
    return (
        bool(spec.host_network),
        spec.dns_policy,
        any(map(_is_local, spec.volumes or ())),
        _SAID.get(said) if isinstance(said, str) else None,
        _is_kept_apart(spec),
        bytes(spec.resources) not in _NOTHING,
    )


def _is_local(volume: Volume) -> bool:
    """Tell local storage as the cluster autoscaler does (kubernetes/autoscaler, utils/drain/drain.go, isLocalVolume)."""
    on_disk = volume.empty_dir is not None and volume.empty_dir.medium != _IN_MEMORY
    return on_disk or bytes(volume.host_path) != b"null"


def _is_kept_apart(spec: PodSpec) -> bool:
    apart = (spec.affinity and spec.affinity.pod_anti_affinity) or _NO_RULES
    return any(bytes(raw) not in _NOTHING for raw in (apart.required, apart.preferred, spec.topology_spread_constraints))
