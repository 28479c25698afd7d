"""Everything that can stop a run, with its exit code and slug.

Each slug has an entry in docs/messages.md. An error says four things: what was attempted, on which object,
why it failed, and what to do.
"""

from __future__ import annotations

from typing import ClassVar


class BatchError(Exception):
    """Stops the run. Exit code 1 is left to bugs, which are no BatchError."""

    exit_code: ClassVar[int]

    def __init__(self, slug: str, *, attempted: str, why: str, remedy: str) -> None:
        self.slug = slug
        self.attempted = attempted
        self.why = why
        self.remedy = remedy
        super().__init__(f"could not {attempted}: {why}. {remedy} [{slug}]")


class SettingsError(BatchError):
    """A setting, an option or the configuration file is wrong."""

    exit_code = 2


class CollectError(BatchError):
    """A required source (nodes, pods) could not be read."""

    exit_code = 3


class RenderError(BatchError):
    """The report could not be made from what was collected."""

    exit_code = 4


class DeliverError(BatchError):
    """At least one destination did not get the report."""

    exit_code = 5


class Interrupted(BaseException):
    """A signal asked the run to stop.

    A BaseException, so that no `except Exception` that turns a source into a gap can swallow it.
    """

    def __init__(self, signal_number: int) -> None:
        self.exit_code = 128 + signal_number
        super().__init__(f"stopped by signal {signal_number}")
