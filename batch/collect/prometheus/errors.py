"""What can go wrong with one query, sorted by what helps."""

from __future__ import annotations


class PrometheusError(Exception):
    """There is no answer: `reason` says why in words for the report, `remedy` what to do about it."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        self.reason = reason
        self.remedy = remedy
        super().__init__(reason)


class TooMuchError(PrometheusError):
    """The server could not do it, or not in time, or the answer was too large: asking for less may help, waiting will not."""


class ExhaustedError(PrometheusError):
    """Time or requests are used up: nothing more is asked."""


class NothingThereError(PrometheusError):
    """It answers, and has no series of containers; others it may have."""
