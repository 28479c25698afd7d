"""To which resource and pod a device of the activity series belongs, and for which part of a card it counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from batch.gpu.activity import Pod, Reading
from batch.gpu.cards import MIG, Cut
from batch.gpu.mig import resource_profile
from batch.gpu.model import Holder
from batch.gpu.nodes import NO_RESOURCE, Row


class Attribution:
    """Looks up what the series do not say: resource, product and share of a card."""

    def __init__(self, rows: Sequence[Row], cuts: Mapping[tuple[str, str], Cut], holders: Sequence[Holder]) -> None:
        self._products = {(row["node"], row["resource"]): row["product"] for row in rows if row["resource"] != NO_RESOURCE}
        self._resources: dict[str, list[str]] = defaultdict(list)
        for node, resource in self._products:
            self._resources[node].append(resource)
        self._cuts = cuts
        self._held: dict[Pod, list[Holder]] = defaultdict(list)
        for one in holders:
            self._held[one.namespace, one.pod].append(one)
        self.device_counts = {pod: sum(map(self._devices, own)) for pod, own in self._held.items()}
        """Whole devices that each pod holds; parts and shares count as none, as they cannot be told apart."""

    def share(self, pod: Pod | None, node: str | None, device_count: int) -> float | None:
        """Give the part of a whole card for which one device of a pod counts: what the pod holds, spread over its devices.

        A pod that is gone had as much as one unit of the node's only resource is; where that is not known, None.
        """
        own = self._held.get(pod, []) if pod else []
        if own:
            cards = [one.card_count for one in own]
            known = [count for count in cards if count is not None]
            return min(1.0, sum(known) / max(1, device_count)) if len(known) == len(cards) else None
        cuts = [self._cuts.get((node or "", resource)) for resource in self._resources.get(node or "", ())] if pod else []
        shared = [cut for cut in cuts if cut is not None and cut.sharing is not None and cut.sharing != MIG]
        if not shared:
            return 1.0
        return float(shared[0].share) if len(cuts) == 1 and shared[0].share is not None else None

    def key(self, one: Reading) -> tuple[str, str | None] | None:
        """Give resource and product of a device: the only one that its pod holds, else the one of its node that it can be; None if several."""
        own = {(holder.resource, holder.product) for holder in self._held.get(one.pod, ())} if one.pod else set()
        if len(own) == 1:
            return next(iter(own))
        candidates = [r for r in self._resources.get(one.node or "", ()) if not one.part or _is_part(r, one.profile)]
        if not one.part:
            candidates = [r for r in candidates if resource_profile(r) is None]
        else:
            candidates = [r for r in candidates if resource_profile(r)] or candidates
        return (candidates[0], self._products[one.node or "", candidates[0]]) if len(candidates) == 1 else None

    def _devices(self, one: Holder) -> int:
        cut = self._cuts.get((one.node, one.resource))
        return one.count if cut is not None and cut.share == 1 else 0


def _is_part(resource: str, profile: str | None) -> bool:
    """Whether parts of that profile can be what a resource counts: those of its own name, or any of a plain name (single strategy)."""
    own = resource_profile(resource)
    return own is None or profile is None or own.name.replace(".me", "+me") == profile
