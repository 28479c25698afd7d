"""The live cluster as a source: raw pages of lists, read politely from the Kubernetes API."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import msgspec

from batch.collect.login import find_login
from batch.collect.nodes import INSTANCE_TYPE_LABELS
from batch.collect.retry import PassingError, Patience
from batch.collect.source import NODES, PODS, Kind, ListExpired, PartlyForbidden, SourceError, at_any_time
from batch.collect.times import read_instant
from batch.collect.transport import RefusedError, Transport
from batch.deadline import Deadline
from batch.settings import Settings

_SHORT_RETRY_SECONDS = 15.0
"""Patience with what the report can do without: the metrics API, whose backend seldom comes back within minutes, questions about the cluster
itself, and lists after one for which the API server was waited for in vain."""

_SHORTEST_TIMEOUT_SECONDS = 5.0
"""A required list is read even when the time for collection is used up, but then no answer may take long."""

_METRICS_GROUP = "metrics.k8s.io"

_METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
"""The form in which the API server leaves out spec and status; plain JSON where it cannot."""

_ITEMS, _END_OF_LIST = b'"items":[', b"]}"
_LONGEST_HEAD, _TAIL = 16_384, 16
"""Where the items of a page begin at the latest, and how far from its end it ends: bytes. What is written otherwise is read in full."""

_SHOWN = 60
"""Bytes of an answer that show what it is."""

_LOOP_REMEDY = "It is a fault of the server, or of a cache in front of it; raise api.page_size until one page is enough."

_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class _ListMetadata(msgspec.Struct):
    continue_: str | None = msgspec.field(default=None, name="continue")


class _ListHead(msgspec.Struct):
    """What paging needs of a list; the items are skipped, not decoded."""

    kind: str
    metadata: _ListMetadata | None = None


class _Version(msgspec.Struct, rename="camel"):
    git_version: str


class _ObjectMetadata(msgspec.Struct, rename="camel"):
    creation_timestamp: str


class _Object(msgspec.Struct):
    metadata: _ObjectMetadata


class _Resource(msgspec.Struct):
    name: str


class _ResourceList(msgspec.Struct):
    resources: list[_Resource]


class _Items(msgspec.Struct):
    items: list[msgspec.Raw] | None


class _ReviewStatus(msgspec.Struct):
    allowed: bool


class _Review(msgspec.Struct):
    status: _ReviewStatus


class Cluster:
    """Implements batch.collect.source.Source on the live API, one request at a time."""

    def __init__(
        self,
        transport: Transport,
        context: str | None,
        settings: Settings,
        deadline: Deadline,
        sleep: Callable[[float], None],
        chance: Callable[[], float],
    ) -> None:
        self._transport = transport
        self._context = context
        self._settings = settings
        self._deadline = deadline
        self._sleep = sleep
        self._chance = chance
        self._is_lost = False

    @classmethod
    def connect(
        cls,
        settings: Settings,
        deadline: Deadline,
        version: str,
        *,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> Cluster:
        """Find the way into the cluster and its credentials; nothing is asked yet. Raises SettingsError.

        `version` is ours, for the user agent; `chance` gives numbers from 0 to 1 for the jitter of waits.
        """
        login = find_login(settings.cluster.context)
        transport = Transport(login, f"nightcap/{version}")
        return cls(transport, login.context, settings, deadline, sleep, chance)

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def context_name(self) -> str | None:
        """Give the kubeconfig context in use; None inside a cluster."""
        return self._context

    @property
    def request_count(self) -> int:
        """Requests sent so far, failed ones included."""
        return self._transport.request_count

    @property
    def received_bytes(self) -> int:
        """Bytes of all answers so far."""
        return self._transport.received_bytes

    @property
    def server_time(self) -> datetime | None:
        """The API server's clock in its newest answer, to whole seconds; None before the first."""
        return self._transport.server_time

    def kubernetes_version(self) -> str | None:
        """Give gitVersion, e.g. "v1.36.2"; None when the API server does not tell."""
        try:
            return msgspec.json.decode(self._ask("GET", "/version"), type=_Version).git_version
        except (PassingError, RefusedError, *_UNREADABLE):
            return None

    def created_at(self, job_name: str, namespace: str) -> datetime | None:
        """Give the creation time of a Job; None when it cannot be read."""
        path = f"/apis/batch/v1/namespaces/{quote(namespace, safe='')}/jobs/{quote(job_name, safe='')}"
        try:
            return read_instant(msgspec.json.decode(self._ask("GET", path), type=_Object).metadata.creation_timestamp)
        except (PassingError, RefusedError, *_UNREADABLE):
            return None

    def allowed(self, verb: str, kind: Kind, namespace: str | None = None) -> bool:
        """Ask whether we have that right; the API server answers without doing it. Raises SourceError."""
        where, name = kind.only or (namespace or "", "")
        attributes = {"verb": verb, "group": kind.group, "resource": kind.name, "namespace": where, "name": name}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        try:
            answer = self._ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body=review)
            return msgspec.json.decode(answer, type=_Review).status.allowed
        except (PassingError, RefusedError) as error:
            raise _explain(error, kind, "API server") from error
        except _UNREADABLE as error:
            raise SourceError(kind, f"the answer to an access review is not one: {error}") from error

    def served_with(self, kind: Kind) -> frozenset[str]:
        """Give the plurals of all that the API of this kind serves. Raises SourceError, `absent` when there is no such API.

        An aggregated API, such as that of metrics, answers this itself: it also shows that its backend is there.
        """
        try:
            answer = msgspec.json.decode(self._ask("GET", kind.api), type=_ResourceList)
        except (PassingError, RefusedError) as error:
            if isinstance(error, RefusedError) and error.status == HTTPStatus.NOT_FOUND:
                raise _absent(kind, kind.api) from error
            raise _explain(error, kind, _server(kind)) from error
        except _UNREADABLE as error:
            raise SourceError(kind, f"what {kind.api} answers is no list of resources: {error}") from error
        return frozenset(resource.name for resource in answer.resources)

    def has_nodes_of(self, instance_type: str) -> bool | None:
        """Ask for one node of that instance type; None when it cannot be found out."""
        try:
            return any(self._has_node_with(f"{label}={instance_type}") for label in INSTANCE_TYPE_LABELS)
        except (PassingError, RefusedError, *_UNREADABLE):
            return None

    def _has_node_with(self, selector: str) -> bool:
        answer = self._ask("GET", NODES.path(), query={"labelSelector": selector, "limit": 1}, accept=_METADATA_ONLY)
        return bool(msgspec.json.decode(answer, type=_Items).items)

    def pages(self, kind: Kind, before_page: Callable[[], None] = at_any_time) -> Iterator[bytes]:
        """Yield the pages of the list, of each namespace in turn when the settings name some. Raises SourceError, also in the middle."""
        hopeless = kind.group == _METRICS_GROUP or (self._is_lost and kind is not PODS)
        patience = self._patience(min(self._settings.api.retry_seconds, _SHORT_RETRY_SECONDS if hopeless else float("inf")))
        namespaces = self._settings.cluster.namespaces if kind.namespaced else ()
        refused: dict[str, SourceError] = {}
        for namespace in (kind.only[:1] if kind.only else namespaces) or (None,):
            try:
                yield from self._list_served(kind, namespace, patience, before_page)
            except SourceError as error:
                self._remember(kind, is_lost=isinstance(error.__cause__, PassingError))
                if namespace is None or kind.only or not error.forbidden:
                    raise
                refused[namespace] = error
            else:
                self._remember(kind, is_lost=False)
        if refused:
            first = next(iter(refused.values()))
            raise first if len(refused) == len(namespaces) else PartlyForbidden(kind, list(refused), first)

    def _remember(self, kind: Kind, *, is_lost: bool) -> None:
        """Remember whether the API server was last waited for in vain; that the metrics API is down says nothing of it."""
        if kind.group != _METRICS_GROUP:
            self._is_lost = is_lost

    def _list_served(self, kind: Kind, namespace: str | None, patience: Patience, before_page: Callable[[], None]) -> Iterator[bytes]:
        """Page through the list in the newest version that is served; a kind that a cluster may lack is then an empty list."""
        versions = list(kind.versions())
        for version in versions:
            try:
                yield from self._list(version, namespace, patience, before_page)
            except SourceError as error:
                if not error.absent or (version is versions[-1] and not kind.optional):
                    raise
            else:
                return

    def _list(self, kind: Kind, namespace: str | None, patience: Patience, before_page: Callable[[], None]) -> Iterator[bytes]:
        """Page through one list. Only `continue` says whether there is more: a page may be short or empty, and counts may be missing."""
        query: dict[str, str | int] = {"limit": self._settings.api.page_size}
        if kind.only:
            query["fieldSelector"] = f"metadata.name={kind.only[1]}"
        path = kind.path(quote(namespace, safe="") if namespace else None)
        accept = _METADATA_ONLY if kind.metadata_only else "application/json"
        seen: set[str] = set()
        while True:
            before_page()
            try:
                page, token = patience.call(f"GET {path}", lambda: self._page(path, query, accept))
            except (PassingError, RefusedError) as error:
                raise _explain_list(error, kind, namespace, in_the_middle="continue" in query) from error
            yield page
            if not token:
                return
            if token in seen:
                raise SourceError(kind, f"{path} gave the same continue token twice: the list would never end", _LOOP_REMEDY)
            seen.add(token)
            query["continue"] = token

    def _page(self, path: str, query: dict[str, str | int], accept: str) -> tuple[bytes, str | None]:
        """Read one page and the token of the next. After an answer that may have been too large, `query` asks for half as many."""
        try:
            page = self._transport.send("GET", path, self._timeout_seconds(), query, accept=accept)
            return page, _next_token(page)
        except PassingError as error:
            if error.oversize:
                query["limit"] = max(1, int(query["limit"]) // 2)
            raise

    def _ask(self, method: str, path: str, **question: Any) -> bytes:
        """Ask one small question, repeating it for a short while. `question` is as in Transport.send."""
        patience = self._patience(min(self._settings.api.retry_seconds, _SHORT_RETRY_SECONDS))
        return patience.call(f"{method} {path}", lambda: self._transport.send(method, path, self._timeout_seconds(), **question))

    def _patience(self, budget_seconds: float) -> Patience:
        return Patience(budget_seconds, self._deadline, self._sleep, self._chance)

    def _timeout_seconds(self) -> float:
        return min(self._settings.api.timeout_seconds, max(self._deadline.collection_seconds(), _SHORTEST_TIMEOUT_SECONDS))


def _next_token(page: bytes) -> str | None:
    """Give the continue token of a page; what is no complete list is a cut answer, and what is no object at all somebody else's, as a page to log in."""
    if not page.lstrip().startswith(b"{"):
        raise RefusedError(HTTPStatus.OK, f"this is no JSON: {page[:_SHOWN].decode(errors='replace')}")
    try:
        head = _head(page) or msgspec.json.decode(page, type=_ListHead)
    except _UNREADABLE as error:
        raise PassingError(f"the answer is not a whole Kubernetes List: {error}", oversize=True) from error
    if not head.kind.endswith("List"):
        raise PassingError(f"the answer is a {head.kind}, not a Kubernetes List")
    return head.metadata.continue_ if head.metadata else None


def _head(page: bytes) -> _ListHead | None:
    """Read what stands before the items of a whole list, without reading them; None when that is not how the page is written.

    The API server writes kind and metadata first. Reading all of a page only for its token costs as much as decoding it.
    """
    end = page.find(_ITEMS, 0, _LONGEST_HEAD)
    if end < 0 or not page[-_TAIL:].rstrip().endswith(_END_OF_LIST):
        return None
    try:
        head = msgspec.json.decode(page[:end].rstrip(b", ") + b"}", type=_ListHead)
    except _UNREADABLE:
        return None
    return head if head.metadata else None


def _explain_list(error: PassingError | RefusedError, kind: Kind, namespace: str | None, *, in_the_middle: bool) -> SourceError:
    """Say in words for the report why a list could not be read, and what to do."""
    status = error.status if isinstance(error, RefusedError) else None
    if status == HTTPStatus.FORBIDDEN:
        scope = f'in namespace "{namespace}"' if namespace else "at the cluster scope"
        return SourceError(
            kind,
            f'no right to list {kind.name} of API group "{kind.group}" {scope} (403): {error}',
            rule_to_add(kind, namespace),
            forbidden=not in_the_middle,
        )
    if status == HTTPStatus.NOT_FOUND:
        return _absent(kind, kind.path())
    if status == HTTPStatus.GONE and in_the_middle:
        return ListExpired(kind, "its continue token expired in mid-list (410)")
    return _explain(error, kind, _server(kind))


def rule_to_add(kind: Kind, namespace: str | None) -> str:
    """Say which rule gives the rights on a kind, in one namespace or everywhere."""
    where, name = kind.only or (namespace, "")
    role = f'a Role in namespace "{where}"' if where else "the ClusterRole"
    names = f', resourceNames ["{name}"]' if name else ""
    return f'Add to {role}: apiGroups ["{kind.group}"], resources ["{kind.name}"]{names}, verbs ["get", "list"].'


def _server(kind: Kind) -> str:
    return "metrics API" if kind.group == _METRICS_GROUP else "API server"


def _absent(kind: Kind, path: str) -> SourceError:
    remedy = "Install metrics-server." if kind.group == _METRICS_GROUP else "This version of Kubernetes does not have it."
    return SourceError(kind, f"{path} is not served (404)", remedy, absent=True)


def _explain(error: PassingError | RefusedError, kind: Kind, server: str) -> SourceError:
    """Say what can go wrong with any question."""
    if isinstance(error, PassingError):
        return SourceError(kind, f"{server} unavailable: {error}", _passing_remedy(error, kind))
    if error.status == HTTPStatus.UNAUTHORIZED:
        return SourceError(
            kind,
            str(error),
            "Log in again, so that kubectl works with the same context; in a cluster, check the pod's service account token.",
        )
    if error.status == 0:
        return SourceError(kind, f"no connection to the API server: {error}", "Check the address and the CA certificate in the kubeconfig.")
    return SourceError(
        kind,
        f"{server} answered {error.status}: {error}",
        f"Ask the same with `kubectl get --raw {kind.path()}`, and look at what stands between here and the API server, such as a proxy.",
    )


def _passing_remedy(error: PassingError, kind: Kind) -> str:
    if "connect to proxy" in str(error):
        return "Look at HTTPS_PROXY, and at NO_PROXY, which must name the API server where no proxy is to be used for it."
    if error.oversize:
        return "Lower api.page_size or raise api.timeout_seconds, and look for a proxy that cuts long answers."
    if kind.group == _METRICS_GROUP:
        return f"Look at `kubectl get apiservice {kind.version}.{kind.group}`."
    return "Run again when the API server is well, or raise api.retry_seconds."
