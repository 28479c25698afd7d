"""What the parts of a profile's section share."""

from __future__ import annotations

from batch.plan.model import FlavorFit, ProfilePlan

FEW = 10
"""Measured pods below which "nine in ten" would be a grand word for one pod."""


def is_few(profile: ProfilePlan) -> bool:
    """Whether so few pods were measured that nothing can be drawn from them: no distribution, and no chance of an overrun."""
    return profile.recommended is None and max(len(profile.memory.values), len(profile.cpu.values)) < FEW


def is_recommended(profile: ProfilePlan, fit: FlavorFit) -> bool:
    """Whether that flavor is the one to take."""
    return profile.recommended is not None and profile.recommended.flavor == fit.flavor.name


def recommended_fit(profile: ProfilePlan) -> FlavorFit | None:
    """Give the flavor to take; None when none can be recommended."""
    return next((fit for fit in profile.flavors if is_recommended(profile, fit)), None)
