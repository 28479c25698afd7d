"""The images that nodes have: nodes of a cluster have the same ones in the same words, so each is read once and a node keeps numbers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa

from batch.collect.objects import decode_image
from batch.collect.quantity import LARGEST
from batch.collect.rejects import Rejects
from batch.snapshot.schema import INTEGER, TEXT
from batch.snapshot.schemas import NODE_IMAGES

_NO_NAME = "<none>"

_Image = tuple[str, int]
"""Name and bytes."""


class NodeImages:
    """Gathers table node_images: one row for each image of a node; those without a name together."""

    def __init__(self, rejects: Rejects) -> None:
        self._rejects = rejects
        self._by_words: dict[bytes, int] = {}
        self._numbers: dict[_Image, int] = {}
        self._unnamed: dict[int, int] = {}
        self._nodes: list[str] = []
        self._counts: list[int] = []
        self._images = array("q")

    def add(self, node: str, images: Iterable[msgspec.Raw]) -> None:
        """Take over the images of one node; what cannot be read is noted."""
        found = [number for raw in images if (number := self._number(node, bytes(raw))) is not None]
        if self._unnamed:
            found = self._with_one_unnamed(node, found)
        self._nodes.append(node)
        self._counts.append(len(found))
        self._images.extend(found)

    def frame(self) -> pd.DataFrame:
        """Give everything added so far."""
        nodes = pa.array(self._nodes, type=TEXT)
        images = pa.table(
            {
                "image": pa.array([name for name, _ in self._numbers], type=TEXT),
                "size_bytes": pa.array([size for _, size in self._numbers], type=INTEGER),
            }
        )
        rows = images.take(pa.array(np.frombuffer(self._images, dtype=np.int64)))
        return NODE_IMAGES.from_rows(rows.append_column("node", nodes.take(pa.array(np.repeat(np.arange(len(nodes)), self._counts)))))

    def _number(self, node: str, words: bytes) -> int | None:
        known = self._by_words.get(words)
        if known is not None:
            return known
        try:
            image = _read(words)
        except msgspec.ValidationError as error:
            self._rejects.add(f"node {node}", "status.images", words.decode(errors="replace"), str(error))
            return None
        number = self._by_words[words] = self._numbers.setdefault(image, len(self._numbers))
        if image[0] == _NO_NAME:
            self._unnamed[number] = image[1]
        return number

    def _with_one_unnamed(self, node: str, numbers: list[int]) -> list[int]:
        """Put one image in place of all that have no name; those that are too large together cost themselves."""
        named = [number for number in numbers if number not in self._unnamed]
        if len(named) == len(numbers):
            return numbers
        size = 0
        for more in (self._unnamed[number] for number in numbers if number in self._unnamed):
            if size + more > LARGEST:
                self._rejects.add(f"node {node}", "status.images", more, "the sum of the images without a name is out of range")
            else:
                size += more
        return [*named, self._numbers.setdefault((_NO_NAME, size), len(self._numbers))]


def _read(words: bytes) -> _Image:
    """Read an image: of its names the one with a tag rather than a digest, which a person can read; the API leaves out a size of 0.

    Raises msgspec.ValidationError.
    """
    image = decode_image(words)
    return min(image.names or [_NO_NAME], key=lambda text: ("@" in text, text)), image.size_bytes or 0
