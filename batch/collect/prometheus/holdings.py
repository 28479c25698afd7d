"""Whose the series of accelerators are, by their labels, and how all series of one holding are asked for as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from batch.collect.prometheus.answers import Labels
from batch.collect.prometheus.exporters import STYLES, Exporter, first_of
from batch.collect.prometheus.promql import select
from batch.collect.prometheus.shards import quoted

_EXPORTER = "exporter"
"""In the names of what exports: where they stand in place of the holder's, nobody holds the device."""

Holding = tuple[str, str, str, str, str]
"""Device, MIG instance, namespace, pod and container: the key of the table."""


class Holdings:
    """The holdings of one metric, learnt from all of its series.

    `are_split` is whether one holding has several series that take turns or tell the same twice: the exporter was restarted and has
    another address or name, or is scraped by two jobs. A function over time of each series is none of the holding then.
    """

    def __init__(self, exporter: Exporter, series: Iterable[Labels]) -> None:
        self._exporter = exporter
        every = list(series)
        self._exporters = frozenset(identity for labels in every if labels.get(STYLES[0][1]) for identity in _identities(labels))
        keys = Counter(self.key(labels) for labels in every)
        self.are_split = any(count > 1 for count in keys.values())
        self._named = all(first_of(labels, exporter.device) for labels in every)
        self._styles = sorted({self._style(labels) for labels in every})
        self._nobodies = sorted({labels.get("pod", "") for labels in every if self._style(labels) == len(STYLES)} - {""})

    def key(self, labels: Labels) -> Holding:
        """Give the holding that a series is of."""
        exporter, style = self._exporter, self._style(labels)
        device = first_of(labels, exporter.device)
        if device is None:
            device = "/".join(filter(None, (first_of(labels, exporter.node), first_of(labels, exporter.index))))
        namespace, pod, container = (labels.get(label, "") for label in STYLES[style]) if style < len(STYLES) else ("", "", "")
        return device, labels.get(exporter.mig_id, ""), namespace, pod, container

    def together(self, metric: str, step: int, matchers: Sequence[str], condition: str = "") -> str:
        """Give the sample of this step of each holding, whichever series has it; nothing where there is none: what came before would be counted twice."""

        def one(style: int) -> str:
            selected = select(metric, *matchers, *self._matchers(style))
            return f"max by ({', '.join(self._labels(style))}) (last_over_time({selected}[{step * 1000 - 1}ms]){condition})"

        return f"({' or '.join(one(style) for style in self._styles)})"

    def _style(self, labels: Labels) -> int:
        """Give the place of the style that names the holder; one behind the last where nobody does, or only the exporter itself is named."""
        for place, style in enumerate(STYLES):
            namespace, pod = (labels.get(label, "") for label in style[:2])
            if namespace and pod and not (style == STYLES[-1] and self._exports(labels)):
                return place
        return len(STYLES)

    def _exports(self, labels: Labels) -> bool:
        """Tell whether pod names who exports, not who holds."""
        named = any(identity in self._exporters for identity in _identities(labels))
        return named or _EXPORTER in (labels.get("container") or labels.get("pod", ""))

    def _matchers(self, style: int) -> Iterator[str]:
        yield from (f'{label}=""' for _, label, _ in STYLES[: min(style, len(STYLES) - 1)])
        if style < len(STYLES):
            yield from (f'{label}!=""' for label in STYLES[style][:2])
        pods = "|".join(name.replace(".", "[.]") for name in self._nobodies)
        if style == len(STYLES):
            yield f"pod=~{quoted(f'|{pods}')}" if pods else 'pod=""'
        elif style == len(STYLES) - 1 and pods:
            yield f"pod!~{quoted(pods)}"

    def _labels(self, style: int) -> Iterator[str]:
        """Name the labels that make the key."""
        exporter = self._exporter
        yield from exporter.device
        yield from () if self._named else (*exporter.node, *exporter.index)
        yield from (exporter.mig_id,) if exporter.mig_id else ()
        yield from STYLES[style] if style < len(STYLES) else ()


def _identities(labels: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Give what tells an exporter: where its own labels win the holder's are renamed, and pod is never the holder.

    A device that nobody holds has no renamed labels; it is told by the pod, or by the job in the exporter's own namespace.
    """
    for label in ("pod", "job"):
        if labels.get(label):
            yield label, labels[label], labels.get("namespace", "")
