"""Whether enough pods were measured to advise a flavor."""

from __future__ import annotations

from batch.findings import Message, message
from batch.settings import PlanSettings


def lacking(measured_pod_count: int, pod_count: int, settings: PlanSettings) -> Message | None:
    """Say why the measured pods do not speak for all of a profile; None when they do."""
    if not measured_pod_count:
        return message("No pod of this profile was measured, so it is not known what a node of them needs.")
    if measured_pod_count < settings.measured_count_min:
        return message(
            "{measured:count} measured of {all:count} are too few to tell how rarely pods need much; a recommendation takes {least:count}.",
            measured=measured_pod_count,
            all=pod_count,
            least=settings.measured_count_min,
        )
    if measured_pod_count < settings.measured_ratio_min * pod_count:
        return message(
            "Only {measured:count} of {all:count} pods were measured; a recommendation takes {least:ratio} of them, because the others may be those that need most.",
            measured=measured_pod_count,
            all=pod_count,
            least=settings.measured_ratio_min,
        )
    return None
