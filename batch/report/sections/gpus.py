"""GPUs: what there is, what is promised, what works, who holds it, and what the free ones are good for."""

from __future__ import annotations

from batch.report.model import Section
from batch.report.sections.gpu_charts import charts
from batch.report.sections.gpu_tables import tables
from batch.report.sections.gpu_words import accelerator_pools, behind, how_to_read, lede, title
from batch.report.sections.material import Material

SLUG = "gpus"


def build(material: Material) -> tuple[Section, ...]:
    """Give the section about accelerators; one sentence when there are none."""
    gpu = material.gpu
    return (
        Section(
            slug=SLUG,
            template=SLUG,
            name="GPUs",
            title=title(material),
            lede=tuple(lede(material)),
            how_to_read=how_to_read(material) if gpu.resources or accelerator_pools(gpu) else (),
            findings=material.findings_of(SLUG),
            tables=tables(gpu, material.snapshot.taken_at),
            charts=charts(gpu),
            sentences={"behind": behind(gpu)},
        ),
    )
