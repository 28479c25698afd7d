"""From what a node advertises to cards: how much of a card one unit of a resource is, and how many cards are behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from batch.accelerators import NEURON, THOUSANDTHS, vendor
from batch.gpu.mig import parts_of_card, product_profile, read_profile, resource_profile, slices_of_card

MOST_CARDS = 16
"""No machine of a cloud has more (AWS p2.16xlarge, NVIDIA HGX-2): more of a resource without a word on sharing are slots."""

PLAIN, SHARED = "nvidia.com/gpu", "nvidia.com/gpu.shared"

COUNT_LABEL = "nvidia.com/gpu.count"
_MEMORY_LABEL = "nvidia.com/gpu.memory"
_DRIVER_LABELS = ("nvidia.com/cuda.driver-version.full", "amd.com/gpu.driver-version", "beta.amd.com/gpu.driver-version")
_DRIVER_PARTS = ("nvidia.com/cuda.driver.major", "nvidia.com/cuda.driver.minor", "nvidia.com/cuda.driver.rev")
_REPLICAS = ("nvidia.com/gpu.replicas", "cloud.google.com/gke-max-shared-clients-per-gpu")
_STRATEGIES = ("nvidia.com/gpu.sharing-strategy", "cloud.google.com/gke-gpu-sharing-strategy")
_GKE_PARTITION = "cloud.google.com/gke-gpu-partition-size"
_AMD_PARTITION = "amd.com/compute-memory-partition"
_INTEL_COUNT = "gpu.intel.com/device.count"

CARD_LABELS = frozenset(
    {
        COUNT_LABEL,
        _MEMORY_LABEL,
        *_DRIVER_LABELS,
        *_DRIVER_PARTS,
        *_REPLICAS,
        *_STRATEGIES,
        _GKE_PARTITION,
        _AMD_PARTITION,
        _INTEL_COUNT,
    }
)
"""Labels that tell how cards are cut and shared: of NVIDIA's and AMD's feature discovery, GKE, and Intel's rules."""

_AMD_PARTS = {"spx": 1, "dpx": 2, "tpx": 3, "qpx": 4, "cpx": 8}
"""Parts of a card by compute partition (AMD Instinct MI300X; cpx has one part for each of its 8 dies, 6 on MI300A)."""

_MIB = 1024**2

TIME_SLICING, MPS, MIG, SOFTWARE, PARTITION, THOUSANDTH, CORES = (
    "time-slicing",
    "MPS",
    "MIG",
    "software",
    "partition",
    "thousandths",
    "cores",
)


@dataclass(frozen=True)
class Cut:
    """How one resource of one node relates to cards.

    `share` is the part of a card that one unit is, `card_count` the cards behind all of them, `healthy_card_count` those that can be given
    out; None is unknown. `sharing` says how cards are divided, None for whole cards. `hint` is what contradicts the count.
    """

    share: Fraction | None
    card_count: int | None
    healthy_card_count: int | None = None
    sharing: str | None = None
    hint: str | None = None


@dataclass(frozen=True)
class Machine:
    """What is known of a node beside counts: labels, product of each resource, cards that a GPU-sharing scheduler lists (slots, healthy).

    `sliced` says that pods there ask for parts of cards, or that the node offers some: its slots then tell nothing of cards.
    """

    labels: Mapping[str, str]
    products: Mapping[str, str | None]
    listed: tuple[tuple[int, bool], ...] = ()
    sliced: bool = False


def cuts(machine: Machine, counts: Mapping[str, tuple[int, int]], told: Mapping[str, int]) -> dict[str, Cut]:
    """Give the cut of each resource of a node; `counts` are (capacity, allocatable), `told` slots a card by the settings."""
    parts = {resource: capacity for resource, (capacity, _) in counts.items() if resource_profile(resource)}
    found = {r: _cut(r, *counts[r], machine, told, counts) for r in counts if r not in parts}
    return {**found, **_mixed(machine, parts)}


def memory_bytes(machine: Machine, cut: Cut) -> int | None:
    """Give the memory of one whole card by NVIDIA's label, which speaks of the part where cards are cut by MIG."""
    text = machine.labels.get(_MEMORY_LABEL, "")
    if cut.sharing in (SOFTWARE, MIG) or not text.isdecimal():
        return None
    return int(text) * _MIB


def driver_version(machine: Machine) -> str | None:
    """Give the version of the driver by the labels of feature discovery."""
    whole = next((machine.labels[label] for label in _DRIVER_LABELS if machine.labels.get(label)), None)
    parts = [machine.labels[label] for label in _DRIVER_PARTS if machine.labels.get(label)]
    return whole or ".".join(parts) or None


def _cut(
    resource: str, capacity: int, allocatable: int, machine: Machine, told: Mapping[str, int], counts: Mapping[str, tuple[int, int]]
) -> Cut:
    installed = max(capacity, allocatable)
    if resource == THOUSANDTHS:
        return Cut(Fraction(1, 1000), *_cards(1000, installed, allocatable), THOUSANDTH)
    if resource in NEURON:
        return _neuron(resource, installed, counts)
    if resource in told:
        return Cut(Fraction(1, told[resource]), *_cards(told[resource], installed, allocatable), SOFTWARE if told[resource] > 1 else None)
    return _by_labels(resource, installed, allocatable, machine)


def _by_labels(resource: str, installed: int, allocatable: int, machine: Machine) -> Cut:
    if resource in (PLAIN, SHARED):
        return _nvidia(resource, installed, allocatable, machine)
    maker = vendor(resource)
    if maker == "intel" and not resource.startswith("habana.ai/"):
        return _intel(installed, machine)
    if maker == "amd":
        return _amd(resource, installed, allocatable, machine)
    return _whole(installed, allocatable)


def _cards(per_card: int, installed: int, allocatable: int) -> tuple[int | None, int | None]:
    """Give the cards behind units of which each has `per_card`; None where units are left over."""
    return tuple(count // per_card if count % per_card == 0 else None for count in (installed, allocatable))  # type: ignore[return-value]  # two


def _whole(installed: int, allocatable: int) -> Cut:
    if installed > MOST_CARDS:
        return Cut(None, None, None, SOFTWARE)
    return Cut(Fraction(1), installed, allocatable)


def _neuron(resource: str, installed: int, counts: Mapping[str, tuple[int, int]]) -> Cut:
    """Cores and devices are the same silicon; how many cores a device has is the node's own ratio."""
    devices = next((max(counts[name]) for name in NEURON[1:] if name in counts and max(counts[name])), None)
    if resource in NEURON[1:]:
        return Cut(Fraction(1), installed, max(0, counts[resource][1]))
    if not devices or not installed:
        return Cut(None, None, None, CORES)
    return Cut(Fraction(devices, installed), devices, None, CORES)


def _intel(installed: int, machine: Machine) -> Cut:
    """Intel's plugin may offer each card to many pods and does not say so; a label of its rules counts the cards of some products."""
    text = machine.labels.get(_INTEL_COUNT, "")
    cards = int(text) if text.isdecimal() and int(text) else None
    if cards is None or not installed or cards > installed:
        return Cut(None, None, None, SOFTWARE)
    return Cut(Fraction(cards, installed), cards, None, SOFTWARE if cards < installed else None)


def _amd(resource: str, installed: int, allocatable: int, machine: Machine) -> Cut:
    name = resource.rpartition("/")[2] if resource != "amd.com/gpu" else machine.labels.get(_AMD_PARTITION, "")
    parts = _AMD_PARTS.get(name[:3].lower(), 1)
    if parts == 1:
        return _whole(installed, allocatable)
    if parts == _AMD_PARTS["cpx"] and "MI300A" in str(machine.products.get(resource)):
        parts = 6  # dies of that model
    return Cut(Fraction(1, parts), *_cards(parts, installed, allocatable), PARTITION)


def _nvidia(resource: str, installed: int, allocatable: int, machine: Machine) -> Cut:
    """Whole cards, time slices, MPS shares, parts of MIG's single strategy, or any of the last shared again."""
    product = machine.products.get(resource)
    replicas = max((int(text) for label in _REPLICAS if (text := machine.labels.get(label, "")).isdecimal()), default=0)
    profile = product_profile(product) or read_profile(machine.labels.get(_GKE_PARTITION))
    if machine.listed:
        return _listed(machine.listed, allocatable)
    if profile is not None:
        slices, per_card = slices_of_card(product), parts_of_card(profile, product)
        if slices is None or per_card is None:
            return Cut(None, None, None, MIG)
        units = per_card * max(1, replicas)
        cut = Cut(Fraction(profile.slice_count, slices * max(1, replicas)), *_cards(units, installed, allocatable), MIG)
        return _checked(cut, machine, (cut.card_count, installed))
    if replicas > 1:
        strategy = MPS if any(machine.labels.get(label, "").lower() == "mps" for label in _STRATEGIES) else TIME_SLICING
        cut = Cut(Fraction(1, replicas), *_cards(replicas, installed, allocatable), strategy)
        return _checked(cut, machine, (cut.card_count, installed))
    if machine.sliced or resource == SHARED:
        return Cut(None, None, None, SOFTWARE if resource == PLAIN else TIME_SLICING)
    return _whole(installed, allocatable)


def _listed(listed: Iterable[tuple[int, bool]], allocatable: int) -> Cut:
    """Cards that a scheduler of shared GPUs lists; a slot is an equal part of a card when all have as many."""
    cards = list(listed)
    healthy = sum(healthy for _, healthy in cards)
    slots = {slot_count for slot_count, _ in cards}
    if len(slots) > 1 or 0 in slots:
        return Cut(None, len(cards), healthy, SOFTWARE)
    per_card = slots.pop()
    return Cut(Fraction(1, per_card), len(cards), min(healthy, allocatable // per_card), SOFTWARE)


def _checked(cut: Cut, machine: Machine, expected: tuple[int | None, int]) -> Cut:
    """Compare with the label that counts cards, or in older versions parts: only a hint, because its meaning has changed."""
    text = machine.labels.get(COUNT_LABEL, "")
    if not text.isdecimal() or cut.card_count is None or int(text) in expected:
        return cut
    return replace(cut, hint=f"{cut.card_count} cards by its slots, {text} by label {COUNT_LABEL}")


def _mixed(machine: Machine, parts: Mapping[str, int]) -> dict[str, Cut]:
    """Cut by MIG's mixed strategy: the share is known by the product; how many cards there are only where the parts fill them."""
    found = {}
    for resource, capacity in parts.items():
        profile, product = resource_profile(resource), machine.products.get(resource)
        slices = slices_of_card(product)
        replicas = _replicas_of(resource, machine)
        share = Fraction(profile.slice_count, slices * replicas) if profile and slices else None
        per_card = parts_of_card(profile, product) if profile else None
        alone = sum(count > 0 for count in parts.values()) == 1 and per_card and capacity % (per_card * replicas) == 0
        found[resource] = Cut(share, capacity // (per_card * replicas) if alone and per_card else None, None, MIG)
    return found


def _replicas_of(resource: str, machine: Machine) -> int:
    text = machine.labels.get(f"{resource.removesuffix('.shared')}.replicas", "")
    return max(1, int(text)) if text.isdecimal() else 1


def cards_of_node(found: Mapping[str, Cut], counts: Mapping[str, tuple[int, int]], machine: Machine) -> int | None:
    """Add up the cards of a node, those that MIG's mixed strategy cut into several profiles once; None when some are not known.

    Parts of several profiles are whole cards when their slices fill them; otherwise NVIDIA's count of cards decides, if it is possible.
    """
    offered = {resource: cut for resource, cut in found.items() if max(counts[resource])}
    silicon = next((name for name in NEURON if name in offered), None)
    parts = [resource for resource in offered if resource_profile(resource)]
    whole = [
        cut.card_count for resource, cut in offered.items() if resource not in parts and (resource not in NEURON or resource == silicon)
    ]
    known = [count for count in whole if count is not None]
    if len(known) < len(whole):
        return None
    if not parts:
        return sum(known)
    if len(parts) == 1 and (alone := offered[parts[0]].card_count) is not None:
        return sum(known) + alone
    cut_up = _cards_cut_up(parts, offered, counts, machine, sum(known))
    return None if cut_up is None else sum(known) + cut_up


def _cards_cut_up(
    parts: list[str], offered: Mapping[str, Cut], counts: Mapping[str, tuple[int, int]], machine: Machine, whole_count: int
) -> int | None:
    shares = [offered[resource].share for resource in parts]
    if any(share is None for share in shares):
        return None
    filled = sum((share * max(counts[r]) for share, r in zip(shares, parts, strict=True) if share is not None), Fraction(0))
    if filled.denominator == 1:
        return int(filled)
    text = machine.labels.get(COUNT_LABEL, "")
    labelled = int(text) - whole_count if text.isdecimal() else 0
    return labelled if filled < labelled <= sum(max(counts[r]) for r in parts) else None
