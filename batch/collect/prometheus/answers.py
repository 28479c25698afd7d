"""What a Prometheus-compatible API answers, decoded: labels and numbers, without what is no number."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import msgspec

from batch.collect.prometheus.errors import PrometheusError

Labels = dict[str, str]


@dataclass
class Answer:
    """Series with one value each (an instant query) or several (a range query); times in seconds since 1970.

    `dropped` counts values that are NaN or infinite: they say nothing and are no zeros. `warnings` are the server's own,
    such as that a part of the store did not answer.
    """

    series: list[tuple[Labels, list[tuple[float, float]]]] = field(default_factory=list)
    dropped: int = 0
    warnings: tuple[str, ...] = ()

    def values(self) -> list[tuple[Labels, float]]:
        """Give each series with its last value."""
        return [(labels, points[-1][1]) for labels, points in self.series]


class _Series(msgspec.Struct):
    metric: Labels
    value: tuple[float, str] | None = None
    values: list[tuple[float, str]] = []


class _Data(msgspec.Struct, rename="camel"):
    result_type: str
    result: msgspec.Raw


class _Body(msgspec.Struct, rename="camel"):
    status: str
    data: _Data | None = None
    warnings: list[str] = []


class _Failure(msgspec.Struct, rename="camel"):
    error: str
    error_type: str = ""


_RESULT = msgspec.json.Decoder(list[_Series])
_BODY = msgspec.json.Decoder(_Body)

_NOTICE = "PromQL info"
"""Prometheus 2.5x sends its hints on queries among the warnings (promql/annotations)."""


def decode(data: bytes) -> Answer:
    """Read an answer to a query. Raises PrometheusError for anything else."""
    try:
        body = _BODY.decode(data)
        if body.status != "success" or body.data is None or body.data.result_type not in ("vector", "matrix"):
            raise PrometheusError("the answer is no vector or matrix of Prometheus")
        result = _RESULT.decode(body.data.result)
        answer = Answer(warnings=tuple(text for text in body.warnings if not text.startswith(_NOTICE)))
        for one in result:
            _take(answer, one)
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError) as error:
        raise PrometheusError(f"the answer is not one of Prometheus: {error}", "Look at what is served at prometheus.url.") from error
    return answer


def _take(answer: Answer, series: _Series) -> None:
    points = series.values if series.value is None else [series.value]
    known = [(at, number) for at, text in points if math.isfinite(number := float(text))]
    answer.dropped += len(points) - len(known)
    if known:
        answer.series.append((series.metric, known))


def failure(data: bytes) -> tuple[str, str]:
    """Read the words and the kind of a refusal; of one that is not Prometheus' own, its text."""
    try:
        read = msgspec.json.decode(data, type=_Failure)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return " ".join(data.decode(errors="replace").split()), ""
    return " ".join(read.error.split()), read.error_type
