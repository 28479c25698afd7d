"""Send one request to the API server, and sort what goes wrong into what may pass and what will not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import msgspec
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError, LocationValueError, ReadTimeoutError

from batch.collect.login import UNUSABLE, Login
from batch.collect.retry import PassingError

_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_OVERSIZE = frozenset({504})
"""The API server answers 504 when it could not put the answer together in time."""

_LONGEST_MESSAGE = 300


class RefusedError(Exception):
    """The request failed and will fail again. `status` is the HTTP status, 0 when there was no answer."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


class _Status(msgspec.Struct):
    """The object that the API server answers errors with."""

    message: str


class Transport:
    """Sends requests, one at a time, with credentials that are read anew when they are no longer accepted.

    `request_count` and `received_bytes` are this program's own footprint on the API server; `server_time` is its clock in the
    newest answer, to whole seconds, None when it told none.
    """

    def __init__(self, login: Login, user_agent: str) -> None:
        self._login = login
        self._user_agent = user_agent
        self._client = login.open_client(user_agent)
        self.request_count = 0
        self.received_bytes = 0
        self.server_time: datetime | None = None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def send(
        self,
        method: str,
        path: str,
        timeout_seconds: float,
        query: Mapping[str, str | int] | None = None,
        body: object = None,
        accept: str = "application/json",
    ) -> bytes:
        """Give the body of a successful answer, never an empty one. Raises PassingError or RefusedError."""
        status, headers, data = self._exchange(method, path, timeout_seconds, query, body, accept)
        if status == HTTPStatus.UNAUTHORIZED:
            self._log_in_again()
            status, headers, data = self._exchange(method, path, timeout_seconds, query, body, accept)
        if status == HTTPStatus.UNAUTHORIZED:
            raise RefusedError(status, f"our credentials are not accepted, also after reading them again (401): {_message(status, data)}")
        if status in _PASSING:
            raise PassingError(f"{status} {_message(status, data)}", after_seconds=_retry_after(headers), oversize=status in _OVERSIZE)
        if status not in (HTTPStatus.OK, HTTPStatus.CREATED):
            raise RefusedError(status, _message(status, data))
        if not data:
            raise PassingError("the answer was empty", oversize=True)
        return data

    def _exchange(
        self, method: str, path: str, timeout_seconds: float, query: Mapping[str, str | int] | None, body: object, accept: str
    ) -> tuple[int, Mapping[str, str], bytes]:
        self.request_count += 1
        headers = self._headers(body, accept)
        with _translated(timeout_seconds, began=False):
            request = self._client.param_serialize(method, path, None, list((query or {}).items()), headers, body)
            response = self._client.call_api(*request, _request_timeout=timeout_seconds)
        with _translated(timeout_seconds, began=True):
            data: bytes = response.read()
        self.received_bytes += len(data)
        self.server_time = _date(response.headers)
        return response.status, response.headers, data

    def _headers(self, body: object, accept: str) -> dict[str, str]:
        headers = {"Accept": accept}
        if body is not None:
            headers["Content-Type"] = "application/json"
        with _reading_credentials():  # the client looks into a service account's token file every minute
            credentials = self._client.configuration.get_api_key_with_prefix("BearerToken")
        if credentials:
            headers["Authorization"] = credentials.strip()  # a token file may end in a newline
        return headers

    def _log_in_again(self) -> None:
        with _reading_credentials():
            renewed = self._login.open_client(self._user_agent)
        self._client.close()
        self._client = renewed


@contextmanager
def _reading_credentials() -> Iterator[None]:
    """Turn what reading credentials may raise into a refusal."""
    try:
        yield
    except UNUSABLE as error:
        raise RefusedError(HTTPStatus.UNAUTHORIZED, f"our credentials could not be read: {error}") from error


@contextmanager
def _translated(timeout_seconds: float, *, began: bool) -> Iterator[None]:
    """Turn the client's exceptions into ours; `began` says that the answer had begun to arrive."""
    try:
        yield
    except (ApiException, LocationValueError) as error:  # the client hides the TLS failure of a connection in an ApiException
        words = " ".join(str(getattr(error, "reason", error)).split())
        if "EOF occurred" in words:  # hung up on in the middle of the handshake, as a restarting load balancer does
            raise PassingError(words) from error
        raise RefusedError(0, words) from error
    except ReadTimeoutError as error:
        raise PassingError(f"no answer within {timeout_seconds:g} s", oversize=True) from error
    except HTTPError as error:
        words = _words(error)
        raise PassingError(f"the answer was cut off: {words}" if began else words, oversize=began) from error


def _words(error: HTTPError) -> str:
    """Give the client's words; of an error that wraps another both, as a sentence rather than as Python prints them."""
    text, *causes = (" ".join(str(part).split()) for part in error.args or (error,))
    told = text.rstrip(".")
    return ": ".join([told, *(cause for cause in causes if cause not in told)])


def _message(status: int, data: bytes) -> str:
    """Give the message of a Status object, else the text itself: gateways and aggregated APIs answer in plain text."""
    try:
        text = msgspec.json.decode(data, type=_Status).message
    except (msgspec.MsgspecError, UnicodeDecodeError):
        text = data.decode(errors="replace")
    return " ".join(text.split())[:_LONGEST_MESSAGE] or _phrase(status)


def _phrase(status: int) -> str:
    """Give the standard's words for a status; proxies also answer with numbers of their own, such as 499 and 520."""
    return HTTPStatus(status).phrase if status in list(HTTPStatus) else "without a word"


def _retry_after(headers: Mapping[str, str]) -> float:
    """Read Retry-After in seconds; the API server sends no other form."""
    text = headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else 0.0


def _date(headers: Mapping[str, str]) -> datetime | None:
    """Read Date, which HTTP always writes in GMT (RFC 9110, section 5.6.7)."""
    try:
        return parsedate_to_datetime(headers.get("Date", "")).replace(tzinfo=UTC)
    except ValueError:
        return None
