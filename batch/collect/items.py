"""The objects in the pages of a list, decoded to one type; what does not fit, has no name or is of another kind costs itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from batch.collect.objects import NULL, Listed, Metadata
from batch.collect.pieces import pieces, rest
from batch.collect.rejects import Rejects

Item = TypeVar("Item", bound=Listed)

_ANY_KIND = (None, "List", "PartialObjectMetadataList")
"""Kinds of a list that do not tell the kind of its items: a hand-made one, kubectl's, and that of metadata alone."""


_NO_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding raises for what is no JSON, and for JSON that is nested without end."""


class _Page(msgspec.Struct, Generic[Item]):
    items: list[Item] | None
    kind: str | None = None


class _RawPage(msgspec.Struct):
    items: list[msgspec.Raw] | None
    kind: str | None = None


class _Kind(msgspec.Struct):
    kind: str | None = None


class _Stated(msgspec.Struct):
    metadata: msgspec.Raw = NULL


class _Identity(msgspec.Struct):
    namespace: Any = None
    name: Any = None


class NotAList(ValueError):
    """The text is not the JSON of a Kubernetes List of that kind."""


class Items(Generic[Item]):
    """Decodes pages of objects of one kind, such as "Pod"; of namespaced objects those of `namespaces`, or all.

    `count` is how many objects the page held that was read last.
    """

    def __init__(self, item: type[Item], kind: str, rejects: Rejects, namespaces: Collection[str] = ()) -> None:
        self._kind = kind
        self._expected = (None, kind, "PartialObjectMetadata")
        self._page = msgspec.json.Decoder(_Page[item])  # type: ignore[valid-type]
        self._item = msgspec.json.Decoder(item)
        self._raw_page = msgspec.json.Decoder(_RawPage)
        self._rejects = rejects
        self._namespaces = frozenset(namespaces)
        self.count = 0

    def of(self, page: bytes) -> Iterator[tuple[str, Item]]:
        """Yield the names and objects of a page that are to be read. Raises NotAList, also in the middle."""
        expected, namespaces = self._expected, self._namespaces
        foreign: Counter[str] = Counter()
        self.count = 0
        for items in self._decoded(page):
            self.count += len(items)
            for item in items:
                if item is None:
                    continue
                if item.kind not in expected:
                    foreign[str(item.kind)] += 1
                elif not item.metadata.name:
                    self._rejects.add(f"{self._kind.lower()} without a name", "metadata.name", "", "missing")
                elif not namespaces or item.metadata.namespace in namespaces:
                    yield item.metadata.name, item  # type: ignore[misc]  # of its kind, so an Item
            del items
        for kind, count in foreign.items():
            reason = f"{count} of another kind stand in the list, and are left out: save each kind to a file of its own"
            self._rejects.add(f"{self._kind.lower()} list", "items.kind", kind, reason)

    def _decoded(self, page: bytes) -> Iterator[Sequence[Item | Listed | None]]:
        """Yield what the page holds; None stands for an object that does not fit, which is noted."""
        for piece, begin in pieces(page):
            try:
                items = self._decode(piece)
            except NotAList:
                yield self._decode(rest(page, begin))
                return
            yield items
            del items  # so that the next take its place in the cache

    def _decode(self, text: bytes) -> Sequence[Item | Listed | None]:
        try:
            whole = self._page.decode(text)
        except msgspec.ValidationError:
            return self._one_by_one(text)
        except _NO_JSON as error:
            raise NotAList(str(error)) from error
        self._check_kind(whole.kind)
        return whole.items or ()

    def _one_by_one(self, text: bytes) -> Sequence[Item | Listed | None]:
        try:
            whole = self._raw_page.decode(text)
        except _NO_JSON as error:  # also behind the first object that does not fit
            raise NotAList(str(error)) from error
        self._check_kind(whole.kind)
        return [self._one(raw) for raw in whole.items or ()]

    def _check_kind(self, kind: str | None) -> None:
        if kind not in (*_ANY_KIND, f"{self._kind}List"):
            raise NotAList(f"it is a {kind}, not a {self._kind}List")

    def _one(self, raw: msgspec.Raw) -> Item | Listed | None:
        """Decode one object; None for one that does not fit, which is noted."""
        try:
            return self._item.decode(raw)
        except msgspec.DecodeError as error:
            if (kind := _kind_of(raw)) not in self._expected:
                return Listed(metadata=Metadata(), kind=kind)
            self._rejects.add(f"{self._kind.lower()} {_name_of(raw)}", "object", "", str(error))
            return None


def _kind_of(raw: msgspec.Raw) -> str | None:
    try:
        return msgspec.json.decode(raw, type=_Kind).kind
    except msgspec.DecodeError:
        return None


def _name_of(raw: msgspec.Raw) -> str:
    """Name a broken object as well as it can be named."""
    try:
        found = msgspec.json.decode(msgspec.json.decode(raw, type=_Stated).metadata, type=_Identity)
    except msgspec.DecodeError:
        return "an object without a name"
    return "/".join(str(part) for part in (found.namespace, found.name) if part) or "an object without a name"
