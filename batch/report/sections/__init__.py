"""The sections of the report, in reading order."""

from __future__ import annotations

from batch.report.model import Section
from batch.report.sections import (
    capacity,
    definitions,
    fleets,
    gpus,
    headroom,
    jobs,
    profiles,
    quality,
    rightsizing,
    scale,
    summary,
    trends,
)
from batch.report.sections.material import Material

SECTIONS = (
    summary.build,
    capacity.build,
    headroom.build,
    profiles.build,
    rightsizing.build,
    fleets.build,
    gpus.build,
    jobs.build,
    scale.build,
    trends.build,
    quality.build,
    definitions.build,
)
"""One builder a line; each gives one section, or several. How to add one: docs/add-a-section.md."""


def build(material: Material) -> tuple[Section, ...]:
    """Give every section, in reading order."""
    return tuple(section for builder in SECTIONS for section in builder(material))
