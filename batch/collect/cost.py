"""What this run itself costs the API server: requests, bytes and objects of each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pandas as pd

from batch.collect.source import Footprint
from batch.snapshot.schemas import API_REQUESTS

_OTHER = "other"
_NOTHING = Footprint(0, 0)


class ApiCost:
    """Adds up the cost of each kind. `footprint` tells what was asked so far; where it gives None there is nothing to add up."""

    def __init__(self, footprint: Callable[[], Footprint | None]) -> None:
        self._footprint = footprint
        self._by_kind: dict[str, tuple[int, int, int]] = {}

    @contextmanager
    def of(self, kind: str) -> Iterator[Callable[[int], None]]:
        """Count what is asked inside for that kind, also when it fails; give the way to tell how many objects came."""
        before = self._footprint() or _NOTHING
        objects = 0

        def count_objects(count: int) -> None:
            nonlocal objects
            objects += count

        try:
            yield count_objects
        finally:
            self._add(kind, before, objects)

    def table(self) -> pd.DataFrame:
        """Give table api_requests, with all questions that were no lists under "other"."""
        rows = [(kind, *amounts) for kind, amounts in self._by_kind.items()]
        whole = self._footprint()
        if whole is not None:
            requests, received = (sum(row[place] for row in self._by_kind.values()) for place in (0, 1))
            rows.append((_OTHER, whole.request_count - requests, whole.received_bytes - received, 0))
        return API_REQUESTS.frame(sorted(rows))

    def _add(self, kind: str, before: Footprint, objects: int) -> None:
        after = self._footprint()
        if after is not None:
            requests, received, known = self._by_kind.get(kind, (0, 0, 0))
            requests += after.request_count - before.request_count
            received += after.received_bytes - before.received_bytes
            self._by_kind[kind] = (requests, received, known + objects)
