"""Reads pages of one kind, object after object: what each becomes is all that its collector says."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Generic

from batch.collect.items import Item, Items
from batch.collect.rejects import Rejects


class KeptItems(ABC, Generic[Item]):
    """Takes pages of `kind`, and hands on its objects with their namespace and name."""

    item: type[Item]
    kind: str

    def __init__(self, rejects: Rejects, namespaces: Collection[str] = ()) -> None:
        self._items = Items(self.item, self.kind, rejects, namespaces)
        self._rejects = rejects

    @abstractmethod
    def keep(self, key: tuple[str, str], item: Item) -> None:
        """Keep what is used of one object; `key` is its namespace and name."""

    def take(self, page: bytes) -> int:
        """Read one page; return how many objects it held."""
        for name, item in self._items.of(page):
            self.keep((item.metadata.namespace or "default", name), item)
        return self._items.count
