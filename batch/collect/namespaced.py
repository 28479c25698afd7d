"""Reads pages of a kind that lives in namespaces, one object after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Generic, TypeVar

from batch.collect.objects import Decoder, Owned
from batch.collect.rejects import Rejects

Item = TypeVar("Item", bound=Owned)


class NamespacedCollector(ABC, Generic[Item]):
    """Takes pages; what each object becomes is said by `keep`. An object that does not fit, or has no name, costs only itself."""

    item: type[Item]
    what: str

    def __init__(self, rejects: Rejects, namespaces: Collection[str] = ()) -> None:
        self._decoder = Decoder(self.item)
        self._rejects = rejects
        self._namespaces = frozenset(namespaces)

    @abstractmethod
    def keep(self, key: tuple[str, str], item: Item) -> None:
        """Keep what is used of one object; `key` is its namespace and name."""

    def take(self, page: bytes) -> int:
        """Read one page; return how many objects it held."""
        count = 0
        for item in self._decoder.items(page):
            count += 1
            if isinstance(item, tuple):
                self._rejects.add(f"{self.what} {item[0]}", "object", "", item[1])
            elif not item.metadata.name:
                self._rejects.add(f"{self.what} without a name", "metadata.name", "", "missing")
            elif not self._namespaces or item.metadata.namespace in self._namespaces:
                self.keep((item.metadata.namespace or "default", item.metadata.name), item)
        return count
