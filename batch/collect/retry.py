"""Repeat what failed for a passing reason: back-off with jitter, Retry-After, one time budget."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from batch.deadline import Deadline

_FIRST_WAIT_SECONDS = 1.0
_LONGEST_WAIT_SECONDS = 30.0
_FEW_TRIES = 4
"""Tries where waiting seldom helps and every try costs a whole answer."""

_log = logging.getLogger(__name__)
Result = TypeVar("Result")


class PassingError(Exception):
    """Something failed for a reason that may pass by itself.

    `after_seconds` is how long the server asked to be left alone. `oversize` is True when the answer may have been too large
    to arrive; asking for less may then help, waiting seldom does.
    """

    def __init__(self, reason: str, *, after_seconds: float = 0.0, oversize: bool = False) -> None:
        self.after_seconds = after_seconds
        self.oversize = oversize
        super().__init__(reason)


class Patience:
    """A time budget for repeating. Failed tries and waits use it up for good, over all calls."""

    def __init__(self, budget_seconds: float, deadline: Deadline, sleep: Callable[[float], None], random: Callable[[], float]) -> None:
        self._left_seconds = budget_seconds
        self._deadline = deadline
        self._sleep = sleep
        self._random = random

    def call(self, what: str, attempt: Callable[[], Result]) -> Result:
        """Call `attempt` until it succeeds. Raises the last PassingError when tries, budget or the run's own time are used up."""
        tries = 0
        while True:
            tries += 1
            started = self._deadline.monotonic()
            try:
                return attempt()
            except PassingError as error:
                self._left_seconds -= self._deadline.monotonic() - started
                wait = max(error.after_seconds, self._back_off(tries))
                if wait > min(self._left_seconds, self._deadline.collection_seconds()) or (error.oversize and tries >= _FEW_TRIES):
                    raise PassingError(f"{error} (tried {tries} times)" if tries > 1 else str(error), oversize=error.oversize) from error
                _log.warning("could not %s: %s; trying again in %.1f s", what, error, wait)
            self._sleep(wait)
            self._left_seconds -= wait

    def _back_off(self, tries: int) -> float:
        """Double the wait with every try; half of it is chance, so that many clients do not come back together."""
        longest = min(_LONGEST_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2.0 ** (tries - 1))
        return longest * (0.5 + self._random() / 2)
