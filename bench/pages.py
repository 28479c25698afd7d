"""Pages: objects written to files, each file one answer of a paged GET."""

from __future__ import annotations

import json
from pathlib import Path

ITEMS_A_PAGE = 500
RESOURCE_VERSION = "900000001"


def compact(thing: object) -> str:
    """Give JSON without spaces, as the API server writes it."""
    return json.dumps(thing, separators=(",", ":"))


class Pages:
    """Writes <stem>-0001.json and so on. The continue token is the number of the next page; clients take it for anything.

    `paged` False makes one page of all: the metrics API ignores `limit`.
    """

    def __init__(self, folder: Path, stem: str, kind: str, api_version: str, *, paged: bool = True) -> None:
        self._folder, self._stem, self._kind, self._api_version = folder, stem, kind, api_version
        self._paged = paged
        self._items: list[str] = []
        self._page = 1
        self.count = 0
        self.byte_count = 0

    def add(self, item: str) -> None:
        """Add one object as JSON text."""
        if self._paged and len(self._items) == ITEMS_A_PAGE:
            self._write({"resourceVersion": RESOURCE_VERSION, "continue": str(self._page + 1)})
        self._items.append(item)
        self.count += 1

    def close(self) -> None:
        """Write the last page."""
        self._write({"resourceVersion": RESOURCE_VERSION})

    def _write(self, metadata: dict[str, str]) -> None:
        head = compact({"kind": self._kind, "apiVersion": self._api_version, "metadata": metadata, "items": []})
        text = f"{head.removesuffix(']}')}{','.join(self._items)}]}}\n"
        (self._folder / f"{self._stem}-{self._page:04}.json").write_text(text, encoding="ascii")
        self.byte_count += len(text)
        self._page += 1
        self._items = []
