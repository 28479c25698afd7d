"""Ask one question in parts: by namespace, then by the last characters of pods' names, smaller when a part is too much for the server.

The controllers end pods' names in random characters, so that sets of these are as good as the hash that PromQL does not have.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from batch.collect.prometheus.answers import Answer
from batch.collect.prometheus.errors import TooMuchError

_CHARACTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
"""What names and device ids end in. Any other character counts as the first of them."""

_BITS = 6
"""Binary digits of a place in these characters."""

_MOST_SPLITS = 8
"""How often a part is halved before the question is given up: 1/256 of what was too much at first. Then 9 requests were sent in vain."""

Ask = Callable[[str], Answer]
"""Asks one question with the matchers of a part."""


@dataclass(frozen=True)
class Shard:
    """Part of the series: of these namespaces (empty: all), and whose `label` has these bits (empty: all).

    The first bits are those of the place of its last character, the next those of the last but one. `weight` is about how many series
    it has; `depth` how often it was halved because it was too much.
    """

    namespaces: tuple[str, ...] = ()
    bits: tuple[bool, ...] = ()
    label: str = "pod"
    weight: int = 0
    depth: int = 0

    def matchers(self) -> str:
        """Give it as label matchers; empty for everything."""
        return ",".join((*self._of_namespaces(), *(self._of_bit(place, bit=bit) for place, bit in enumerate(self.bits))))

    def _of_namespaces(self) -> Iterator[str]:
        if len(self.namespaces) == 1:
            yield f"namespace={quoted(self.namespaces[0])}"
        elif self.namespaces:
            yield f"namespace=~{quoted('|'.join(self.namespaces))}"

    def _of_bit(self, place: int, *, bit: bool) -> str:
        """Match one bit. The other half is what does not match, so that both together always are the whole."""
        chosen = "".join(character for number, character in enumerate(_CHARACTERS) if number >> place % _BITS & 1)
        ending = f".*[{chosen}]{'.' * (place // _BITS)}"
        return f"{self.label}{'=~' if bit else '!~'}{quoted(ending)}"

    def halves(self) -> tuple[Shard, Shard]:
        """Give two parts of it."""
        half = replace(self, weight=self.weight // 2)
        if len(self.namespaces) > 1:
            middle = len(self.namespaces) // 2
            return replace(half, namespaces=self.namespaces[:middle]), replace(half, namespaces=self.namespaces[middle:])
        return replace(half, bits=(*self.bits, False)), replace(half, bits=(*self.bits, True))


def planned(weights: Mapping[str, int], most: int) -> list[Shard]:
    """Divide namespaces, with their numbers of series, into parts of at most `most`; a larger namespace is divided by its pods' names."""
    parts: list[Shard] = []
    open_part = Shard()
    for namespace, weight in sorted(weights.items(), key=lambda item: (-item[1], item[0])):
        if weight > most:
            parts += _divided(Shard((namespace,), weight=weight), most)
        elif open_part.namespaces and open_part.weight + weight > most:
            parts.append(open_part)
            open_part = Shard((namespace,), weight=weight)
        else:
            open_part = replace(open_part, namespaces=(*open_part.namespaces, namespace), weight=open_part.weight + weight)
    return [*parts, *([open_part] if open_part.namespaces else [])]


def _divided(shard: Shard, most: int) -> Iterator[Shard]:
    if shard.weight <= most or len(shard.bits) >= 2 * _BITS:
        yield shard
        return
    for half in shard.halves():
        yield from _divided(half, most)


def quoted(text: str) -> str:
    """Write text as a string of PromQL."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


class Asker:
    """Asks questions part by part, `parallelism` at a time; parts that were too much stay divided for later questions."""

    def __init__(self, shards: Sequence[Shard], parallelism: int) -> None:
        self._shards = list(shards)
        self._parallelism = parallelism

    def ask(self, question: Ask) -> Iterator[Answer]:
        """Yield the answers of all parts, in order, with no more waiting than are asked at once.

        Raises PrometheusError as soon as one part has no answer: a figure of some pods would be taken for one of all.
        """
        asked, self._shards = self._shards, []
        with ThreadPoolExecutor(self._parallelism) as threads:
            waiting: deque[tuple[Shard, Future[list[tuple[Shard, Answer]]]]] = deque()
            rest: Iterable[Shard] = iter(asked)
            try:
                for shard in rest:
                    waiting.append((shard, threads.submit(_answered, question, shard)))
                    if len(waiting) >= self._parallelism:
                        yield from self._taken(waiting)
                while waiting:
                    yield from self._taken(waiting)
            finally:
                for shard, future in waiting:
                    future.cancel()
                    self._shards.append(shard)
                self._shards += rest

    def _taken(self, waiting: deque[tuple[Shard, Future[list[tuple[Shard, Answer]]]]]) -> Iterator[Answer]:
        _, future = waiting[0]
        answered = future.result()
        waiting.popleft()
        for shard, answer in answered:
            self._shards.append(shard)
            yield answer


def _answered(question: Ask, shard: Shard) -> list[tuple[Shard, Answer]]:
    """Ask about a part; about its halves when it is too much."""
    try:
        return [(shard, question(shard.matchers()))]
    except TooMuchError:
        if shard.depth >= _MOST_SPLITS:
            raise
    halves = (replace(half, depth=shard.depth + 1) for half in shard.halves())
    return [answered for half in halves for answered in _answered(question, half)]
