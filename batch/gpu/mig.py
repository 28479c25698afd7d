"""MIG: into how many slices a card of NVIDIA's can be cut, and how many parts of a profile one card holds.

NVIDIA MIG User Guide, "Supported GPUs" and "Supported MIG Profiles" (docs.nvidia.com/datacenter/tesla/mig-user-guide, R610, 2026).
"""

from __future__ import annotations

import re
from typing import NamedTuple

_SLICES = (
    (re.compile(r"A30(?![0-9])"), 4),
    (re.compile(r"RTX.PRO.6000", re.IGNORECASE), 4),
    (re.compile(r"RTX.PRO.(5000|4500)", re.IGNORECASE), 2),
    (re.compile(r"(?<![0-9A-Z])(A100|A800|H100|H800|H200|H20|GH200|B200|GB200|B300|GB300)(?![0-9])", re.IGNORECASE), 7),
)
"""Compute slices of a card by its model; what stands in none of these is unknown."""

_PROFILE = re.compile(r"(?P<slices>[1-9])g\.(?P<gigabytes>[0-9]+)gb(?:[.+-].*)?")
_IN_PRODUCT = re.compile(r"-MIG-(?P<profile>[1-9]g\.[0-9]+gb.*?)(?:-SHARED)?$")
_SHARED = re.compile(r"-SHARED$")
_CARD_GIGABYTES = re.compile(r"(?<![0-9])([1-9][0-9]+)GB(?![a-z])")


_GIGABYTES = (
    (re.compile(r"GH200.144G", re.IGNORECASE), 144),
    (re.compile(r"GH200", re.IGNORECASE), 96),
    (re.compile(r"(?<![0-9A-Z])H200(?![0-9])", re.IGNORECASE), 141),
    (re.compile(r"H100.NVL", re.IGNORECASE), 94),
    (re.compile(r"(?<![0-9A-Z])GB200(?![0-9])", re.IGNORECASE), 186),
    (re.compile(r"(?<![0-9A-Z])B200(?![0-9])", re.IGNORECASE), 180),
    (re.compile(r"(?<![0-9A-Z])G?B300(?![0-9])", re.IGNORECASE), 279),
)
"""Memory for parts of models whose product name does not say it; GH200's names the memory of its CPU, as in GH200-480GB. In parts by the guide:
four of 1g.24gb (H100 NVL, GH200), 1g.35gb (H200), 1g.36gb (GH200 144G), 1g.45gb and 1g.47gb (B200, GB200), 1g.67gb and 1g.70gb (B300, GB300)."""


class Profile(NamedTuple):
    """The shape of a part: compute slices and gigabytes of memory, as its name has them."""

    name: str
    slice_count: int
    gigabytes: int


def read_profile(name: str | None) -> Profile | None:
    """Read 1g.10gb, 1g.10gb+me or 1g.10gb.me; None for what is no profile."""
    match = _PROFILE.fullmatch(name or "")
    return Profile(match[0], int(match["slices"]), int(match["gigabytes"])) if match else None


def resource_profile(resource: str) -> Profile | None:
    """Read the profile in a resource of the mixed strategy, nvidia.com/mig-1g.10gb or its shared form; None for other resources."""
    _, found, name = resource.removesuffix(".shared").partition("nvidia.com/mig-")
    return read_profile(name) if found else None


def product_profile(product: str | None) -> Profile | None:
    """Read the profile that the single strategy writes into the product, as in NVIDIA-H100-80GB-HBM3-MIG-1g.10gb."""
    match = _IN_PRODUCT.search(product or "")
    return read_profile(match["profile"]) if match else None


def card_product(product: str | None) -> str | None:
    """Give the model of the card without what feature discovery adds for parts and shares of it."""
    return None if product is None else _SHARED.sub("", _IN_PRODUCT.sub("", product))


def slices_of_card(product: str | None) -> int | None:
    """Give the compute slices of a card by its product; None when the model is not known to be cut."""
    return next((slices for model, slices in _SLICES if model.search(product or "")), None)


def parts_of_card(profile: Profile, product: str | None) -> int | None:
    """Give how many parts of one profile a card holds: as many as its slices allow, and its memory where the product names it.

    Memory is given out in slices too, so 141 GB hold four parts of 35 GB; a profile with media extensions is there once a card.
    """
    slices = slices_of_card(product)
    if slices is None or profile.slice_count > slices:
        return None
    if "me" in profile.name and not profile.name.endswith("-me"):
        return 1
    gigabytes = _gigabytes_of_card(card_product(product) or "")
    by_slices = slices // profile.slice_count
    return min(by_slices, max(1, round(gigabytes / profile.gigabytes))) if gigabytes else by_slices


def _gigabytes_of_card(product: str) -> int | None:
    """Give the memory of a card by its model, else as its name says it."""
    known = next((gigabytes for model, gigabytes in _GIGABYTES if model.search(product)), None)
    named = _CARD_GIGABYTES.search(product)
    return known or (int(named[1]) if named else None)
