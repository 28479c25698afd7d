"""Send one query, and sort what goes wrong into what may pass, what asking for less may help, and what will not change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from http import HTTPStatus
from random import random
from urllib.parse import quote, urlencode

import urllib3
from urllib3.exceptions import HTTPError, ReadTimeoutError, SSLError

from batch.collect.prometheus.answers import Answer, decode, failure
from batch.collect.prometheus.authentication import signer
from batch.collect.prometheus.errors import ExhaustedError, PrometheusError, TooMuchError
from batch.collect.retry import PassingError, Patience
from batch.deadline import Deadline
from batch.settings import PrometheusSettings

MOST_POINTS = 11_000
"""Points of one series that a range query may have (prometheus/web/api/v1/api.go, query_range)."""

_PASSING = frozenset({429, 500, 502, 503})
_TOO_MUCH = frozenset({413, 422, 504})
_TIMED_OUT = "timeout"
"""errorType of a query that the server gave up, with status 503."""

_RESOLUTION = "maximum resolution"
"""In the message of status 400 for a range query of too many points."""

_GRACE_SECONDS = 5.0
"""How much longer than the server's own limit is waited, so that its refusal arrives."""

_CHUNK = 1 << 16
_LONGEST_MESSAGE = 300


class Client:
    """Sends queries, several at a time if asked by several threads. Proxies of the environment are not used: it is within the network.

    `request_count` and `received_bytes` are this program's own footprint; `warnings` are those of the server, each once;
    `dropped_count` are values that were no numbers.
    """

    def __init__(
        self,
        settings: PrometheusSettings,
        deadline: Deadline,
        user_agent: str,
        sleep: Callable[[float], None],
        chance: Callable[[], float] = random,
    ) -> None:
        self._settings = settings
        self._base = (settings.url or "").rstrip("/")
        self._deadline = deadline
        self._started = deadline.monotonic()
        self._headers = {"User-Agent": user_agent, "Accept": "application/json", "Accept-Encoding": "gzip"}
        self._sign = signer(settings)
        self._pool = _pool(settings)
        self._patience = Patience(settings.retry_seconds, deadline, sleep, chance)
        self._lock = threading.Lock()
        self._posts = True
        self.request_count = 0
        self.received_bytes = 0
        self.dropped_count = 0
        self.warnings: dict[str, None] = {}

    @property
    def address(self) -> str:
        """The address that is asked; it never has credentials in it."""
        return self._base

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since the client was made."""
        return self._deadline.monotonic() - self._started

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()

    def query(self, text: str, at: datetime) -> Answer:
        """Evaluate at one moment. Raises PrometheusError."""
        return self._ask("query", {"query": text, "time": f"{at.timestamp():.3f}"})

    def query_range(self, text: str, first: datetime, step_seconds: int, count: int) -> Answer:
        """Evaluate at `count` moments from `first` on; more than a server takes in one query are asked for in parts. Raises PrometheusError."""
        start, whole = first.timestamp(), Answer()
        series: dict[tuple[tuple[str, str], ...], list[tuple[float, float]]] = {}
        for begin in range(0, count, MOST_POINTS):
            last = min(count, begin + MOST_POINTS) - 1  # the next part begins one step later: no moment is in two of them
            times = {"start": f"{start + begin * step_seconds:.3f}", "end": f"{start + last * step_seconds:.3f}"}
            answer = self._ask("query_range", {"query": text, **times, "step": str(step_seconds)})
            for labels, points in answer.series:
                series.setdefault(tuple(labels.items()), []).extend(points)
            whole.dropped += answer.dropped
        whole.series = [(dict(labels), points) for labels, points in series.items()]
        return whole

    def runtime(self) -> bytes:
        """Give what Prometheus tells of itself; others do not. Raises PrometheusError."""
        try:
            return self._send("GET", "/api/v1/status/runtimeinfo", {})
        except PassingError as error:  # not worth waiting for
            raise PrometheusError(str(error)) from error

    def _ask(self, endpoint: str, parameters: Mapping[str, str]) -> Answer:
        given = {**parameters, "timeout": f"{self._settings.timeout_seconds:g}s", **self._settings.parameters}
        try:
            data = self._patience.call("ask Prometheus", lambda: self._post(f"/api/v1/{endpoint}", given))
        except PassingError as error:
            kind = TooMuchError if error.oversize else PrometheusError
            raise kind(str(error), "Look whether it is up, and what it logs.") from error
        answer = decode(data)
        with self._lock:
            self.dropped_count += answer.dropped
            self.warnings.update(dict.fromkeys(answer.warnings))
        return answer

    def _post(self, path: str, parameters: Mapping[str, str]) -> bytes:
        """Send the query in the body, where it may be long; in the address to what takes no POST."""
        if self._posts:
            try:
                return self._send("POST", path, parameters)
            except _NoPostError:
                self._posts = False
        return self._send("GET", path, parameters)

    def _send(self, method: str, path: str, parameters: Mapping[str, str]) -> bytes:
        self._take_turn()
        encoded = urlencode(parameters, quote_via=quote)  # AWS signs a blank as %20, never as +
        url, body, headers = f"{self._base}{path}", None, dict(self._headers)
        if method == "POST":
            body, headers["Content-Type"] = encoded.encode(), "application/x-www-form-urlencoded"
        elif encoded:
            url = f"{url}?{encoded}"
        status, after, data = self._exchange(method, url, body, self._sign(method, url, body, headers))
        if status != HTTPStatus.OK:
            raise _refusal(status, after, data, method)
        return data

    def _take_turn(self) -> None:
        with self._lock:
            if self.request_count >= self._settings.queries_max:
                raise ExhaustedError(f"the {self._settings.queries_max} requests of prometheus.queries_max are used up", "Raise it.")
            if self.elapsed_seconds > self._settings.budget_seconds:
                raise ExhaustedError(f"the {self._settings.budget_seconds:g} s of prometheus.budget_seconds are used up", "Raise it.")
            if self._deadline.collection_seconds() <= 0:
                raise ExhaustedError("the run's time was used up before it could be asked")
            self.request_count += 1

    def _exchange(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> tuple[int, float, bytes]:
        limit = self._settings.timeout_seconds + _GRACE_SECONDS
        timeout = urllib3.Timeout(connect=min(limit, 10.0), read=limit)
        with _translated(limit):
            response = self._pool.request(
                method, url, body=body, headers=headers, timeout=timeout, retries=False, redirect=False, preload_content=False
            )
            try:
                data = b"".join(self._within_limits(response, limit))
            except BaseException:
                response.close()  # what is left of it is not wanted
                raise
            if response.length_remaining:
                raise PassingError("the answer was cut off", oversize=True)
            response.release_conn()
        return response.status, _retry_after(response.headers), data

    def _within_limits(self, response: urllib3.BaseHTTPResponse, limit: float) -> Iterator[bytes]:
        """Yield the body; one that is too large or trickles in too slowly is given up."""
        began, size = self._deadline.monotonic(), 0
        while chunk := response.read1(_CHUNK, decode_content=True):  # which waits for no more than comes
            size += len(chunk)
            with self._lock:
                self.received_bytes += len(chunk)
            if size > self._settings.answer_bytes_max:
                raise TooMuchError(
                    f"the answer is larger than {self._settings.answer_bytes_max} bytes", "Raise prometheus.answer_bytes_max."
                )
            if self._deadline.monotonic() - began > limit:
                raise TooMuchError(f"the answer had not arrived within {limit:g} s", "Raise prometheus.timeout_seconds.")
            yield chunk


class _NoPostError(Exception):
    """The address takes no POST."""


def _pool(settings: PrometheusSettings) -> urllib3.PoolManager:
    certificate = settings.client_certificate_file
    for name in ("ca_file", "client_certificate_file", "client_key_file"):
        path = getattr(settings, name)
        if path is not None and not path.is_file():
            raise PrometheusError(f"there is no file {path}", f"Mount it there, or correct prometheus.{name}.")
    return urllib3.PoolManager(
        num_pools=1,
        maxsize=settings.parallelism,
        block=True,
        cert_reqs="CERT_REQUIRED",
        ca_certs=str(settings.ca_file) if settings.ca_file else None,
        cert_file=str(certificate) if certificate else None,
        key_file=str(settings.client_key_file) if settings.client_key_file else None,
    )


@contextmanager
def _translated(limit: float) -> Iterator[None]:
    """Turn urllib3's exceptions into ours."""
    try:
        yield
    except ReadTimeoutError as error:
        raise TooMuchError(f"no answer within {limit:g} s", "Raise prometheus.timeout_seconds.") from error
    except SSLError as error:
        raise PrometheusError(_plain(error), "Set prometheus.ca_file to the CA of its certificate.") from error
    except HTTPError as error:
        raise PassingError(_plain(error)) from error


def _plain(error: Exception) -> str:
    """Give the words of an exception without the object that urllib3 prints in front."""
    return " ".join(str(error).rpartition(">: ")[2].split())[:_LONGEST_MESSAGE]


def _refusal(status: int, after: float, data: bytes, method: str) -> Exception:
    words, kind = failure(data)
    said = f"{status} {words[:_LONGEST_MESSAGE] or HTTPStatus(status).phrase}"
    if status == HTTPStatus.METHOD_NOT_ALLOWED and method == "POST":
        return _NoPostError()
    if status in _TOO_MUCH or kind == _TIMED_OUT or _RESOLUTION in words:
        return TooMuchError(said)
    if status in _PASSING:
        return PassingError(said, after_seconds=after)
    return PrometheusError(said, _REMEDIES.get(status, ""))


_REMEDIES: Mapping[int, str] = {
    401: "Give it what it accepts: prometheus.token_file, prometheus.username and password, or prometheus.sigv4_region.",
    403: "Give the token or user the right to query.",
    404: "Give prometheus.url as it is without /api/v1; a path prefix belongs to it.",
    301: "Give prometheus.url as the address that this one leads to.",
    302: "Give prometheus.url as the address that this one leads to; a login page is none.",
    307: "Give prometheus.url as the address that this one leads to.",
    308: "Give prometheus.url as the address that this one leads to.",
}


def _retry_after(headers: Mapping[str, str]) -> float:
    text = headers.get("Retry-After", "")
    return float(text) if text.isdigit() else 0.0
