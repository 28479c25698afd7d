"""A small read-only Kubernetes API server for tests: real HTTP(S) in a thread, lists served from plain objects.

    with FakeKube(rules=rules_from_manifests(documents)) as kube:     # rules None: everything is allowed
        kube.add({"apiVersion": "v1", "kind": "Pod", "metadata": {...}})   # or a recorded List
        kube.fail("/api/v1/pods", 429, times=2, retry_after=1)
        ... kube.url, kube.token, kube.requests ...

It imitates limit/continue over one snapshot, remainingItemCount, 401, 403 from real RBAC rules, 404, 410, Status bodies,
lists of metadata alone, selectors of one label's value and of metadata.name, SelfSubjectAccessReview, /version, and what an API serves. It does
not know other selectors, watches or writes.
"""

from __future__ import annotations

import base64
import bisect
import http.server
import json
import re
import ssl
import threading
import urllib.parse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal, Protocol, Self

Json = dict[str, Any]
Rule = tuple[str | None, Mapping[str, Any]]
Answer = tuple[int, Json | str]
"""Status and body; text is sent as text/plain."""
Key = tuple[str, str]
Item = tuple[Key, Json]

METRICS = "metrics.k8s.io/v1beta1"
KINDS = {  # kind: (group/version, plural, namespaced)
    "Pod": ("v1", "pods", True),
    "Node": ("v1", "nodes", False),
    "Namespace": ("v1", "namespaces", False),
    "ResourceQuota": ("v1", "resourcequotas", True),
    "Service": ("v1", "services", True),
    "Deployment": ("apps/v1", "deployments", True),
    "ReplicaSet": ("apps/v1", "replicasets", True),
    "StatefulSet": ("apps/v1", "statefulsets", True),
    "DaemonSet": ("apps/v1", "daemonsets", True),
    "Job": ("batch/v1", "jobs", True),
    "CronJob": ("batch/v1", "cronjobs", True),
    "HorizontalPodAutoscaler": ("autoscaling/v2", "horizontalpodautoscalers", True),
    "PodDisruptionBudget": ("policy/v1", "poddisruptionbudgets", True),
    "ResourceSlice": ("resource.k8s.io/v1", "resourceslices", False),
    "ResourceClaim": ("resource.k8s.io/v1", "resourceclaims", True),
    "DeviceClass": ("resource.k8s.io/v1", "deviceclasses", False),
    "ConfigMap": ("v1", "configmaps", True),
    "NodePool": ("karpenter.sh/v1", "nodepools", False),
    "PodMetrics": (METRICS, "pods", True),
    "NodeMetrics": (METRICS, "nodes", False),
}
PLURALS = {(version, plural): kind for kind, (version, plural, _) in KINDS.items()}
REASONS = {400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 410: "Expired", 500: "InternalError"}
REASONS |= {503: "ServiceUnavailable", 504: "Timeout"}

Trouble = int | Literal["drop", "cut", "cut chunks", "empty", "hang"]
"""A status, or how the connection goes wrong: closed without an answer, closed in the middle of the body, an empty body, silence."""

_PATH = re.compile(r"/(?:api/(v1)|apis/([^/]+/[^/]+))(?:/namespaces/([^/]+)(?=/))?/([^/]+)(?:/([^/]+))?")
_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@dataclass(frozen=True)
class Request:
    """One entry of the request log."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]


@dataclass
class Fault:
    """What goes wrong with the next requests under a path."""

    path: str
    trouble: Trouble
    times: int
    retry_after: int | None
    body: str | None


def rules_from_manifests(documents: Iterable[Any]) -> list[Rule]:
    """Rules of every Role and ClusterRole in these documents, each with its namespace or None."""
    return [
        (document["metadata"].get("namespace") if document["kind"] == "Role" else None, rule)
        for document in documents
        if document and document.get("kind") in ("Role", "ClusterRole")
        for rule in document.get("rules") or []
    ]


class Door(Protocol):
    """What it takes to get into an API server."""

    @property
    def url(self) -> str: ...

    @property
    def certificate(self) -> Path | None: ...

    @property
    def token(self) -> str: ...


def write_kubeconfig(path: Path, kube: Door, context: str = "fake", **user: str) -> Path:
    """Write a kubeconfig with one context that logs in with the server's token, or as `user` says."""
    cluster = {"server": kube.url} | ({"certificate-authority": str(kube.certificate)} if kube.certificate else {})
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": context,
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user or {"token": kube.token}}],
        "contexts": [{"name": context, "context": {"cluster": "c", "user": "u"}}],
    }
    path.write_text(json.dumps(config))
    return path


class FakeKube:
    """The server; `requests` is its log, `hanging` is set once a request hangs. With a certificate and key (PEM files) it speaks HTTPS."""

    def __init__(
        self, rules: list[Rule] | None = None, *, version: str = "v1.37.0", certificate: Path | None = None, key: Path | None = None
    ) -> None:
        self.rules = rules
        self.version = version
        self.certificate = certificate
        self.token = "test-token"
        self.user = "system:serviceaccount:report:report"
        self.requests: list[Request] = []
        self.stopped = threading.Event()
        self.hanging = threading.Event()
        self._objects: dict[tuple[str, str], dict[Key, Json]] = {}
        self._canned: dict[str, list[Json]] = {}
        self._faults: list[Fault] = []
        self._lists: dict[str, list[Item]] = {}
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        if certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(certificate, key)
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.port: int = self._server.server_address[1]
        self.url = f"http{'s' if certificate else ''}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def add(self, thing: Json) -> None:
        """Serve an object, or every item of a recorded List."""
        if "items" in thing:
            for item in thing["items"] or []:
                self.add({"apiVersion": thing["apiVersion"], "kind": thing["kind"].removesuffix("List"), **item})
            return
        version, plural, namespaced = KINDS[thing["kind"]]
        metadata = thing["metadata"]
        assert bool(metadata.get("namespace")) == namespaced, metadata
        self._objects.setdefault((version, plural), {})[metadata.get("namespace", ""), metadata["name"]] = thing

    def serve(self, path: str, *pages: Json) -> None:
        """Answer that path with these bodies, one after the other."""
        self._canned[path] = list(pages)

    def fail(self, path: str, trouble: Trouble, times: int = 1, *, retry_after: int | None = None, body: str | None = None) -> None:
        """Let the next requests under that path go wrong; a `body` is sent as plain text."""
        self._faults.append(Fault(path, trouble, times, retry_after, body))

    def expire(self) -> None:
        """Answer every continue token handed out so far with 410, as after a compaction."""
        self._lists.clear()

    def next_fault(self, path: str) -> Fault | None:
        """Take the next fault for that path, if one is left."""
        fault = next((fault for fault in self._faults if fault.times > 0 and path.startswith(fault.path)), None)
        if fault:
            fault.times -= 1
        return fault

    def answer(self, request: Request, body: Json | None) -> Answer:
        """Answer as the real server does."""
        if request.headers.get("authorization", "").lower() != f"bearer {self.token}":
            return status(401, "Unauthorized")
        if request.path == "/version":
            return 200, {"gitVersion": self.version}
        if request.path == _REVIEWS and body:
            asked = body["spec"]["resourceAttributes"]
            allowed = self.allows(asked["verb"], asked["group"], asked["resource"], asked.get("namespace") or None, asked.get("name") or "")
            return 201, {**body, "status": {"allowed": allowed}}
        if request.path in self._canned:
            return 200, self._canned[request.path].pop(0)
        match = _PATH.fullmatch(request.path)
        if not match:
            served = _served(request.path)
            return (200, served) if served else (404, "404 page not found\n")
        return self._resource(match[1] or match[2], match[3], match[4], match[5], request)

    def allows(self, verb: str, group: str, resource: str, namespace: str | None, name: str = "") -> bool:
        """Judge as RBAC does; a list of all namespaces needs a ClusterRole."""
        asked = (("verbs", verb), ("apiGroups", group), ("resources", resource))
        return self.rules is None or any(
            where in (None, namespace)
            and name in (rule.get("resourceNames") or [name])
            and (name or not rule.get("resourceNames"))
            and all({"*", wanted} & set(rule.get(key) or ()) for key, wanted in asked)
            for where, rule in self.rules
        )

    def _resource(self, version: str, namespace: str | None, plural: str, name: str | None, request: Request) -> Answer:
        verb, group = "get" if name else "list", version.rpartition("/")[0]
        chosen = _chosen(request)
        if not self.allows(verb, group, plural, namespace, name or chosen):
            where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
            resource = f"{plural}.{group}" if group else plural
            return status(
                403, f'{resource} is forbidden: User "{self.user}" cannot {verb} resource "{plural}" in API group "{group}" {where}'
            )
        if (version, plural) not in PLURALS:  # after 403: the real server authorizes before it routes
            return status(404, "the server could not find the requested resource")
        have = self._objects.get((version, plural), {})
        if name:
            found = have.get((namespace or "", name))
            return (200, found) if found else status(404, f'{plural} "{name}" not found')
        return self._list(
            version,
            plural,
            sorted((key, thing) for key, thing in have.items() if namespace in (None, key[0]) and chosen in ("", key[1])),
            request,
        )

    def _list(self, version: str, plural: str, items: list[Item], request: Request) -> Answer:
        limit = 0 if version == METRICS else int(request.query.get("limit") or 0)
        if selector := request.query.get("labelSelector"):
            label, _, value = selector.partition("=")
            items = [(key, thing) for key, thing in items if (thing["metadata"].get("labels") or {}).get(label) == value]
        start, name = 0, f"{request.path} {len(self.requests)}"
        if token := request.query.get("continue"):
            name, after = json.loads(base64.urlsafe_b64decode(token))
            if name not in self._lists:
                return status(410, "The provided continue parameter is too old to display a consistent list result.", {"continue": token})
            items = self._lists[name]
            start = bisect.bisect_right(items, tuple(after), key=lambda item: item[0])
        page = items[start : start + limit] if limit else items
        rest = len(items) - start - len(page)
        metadata: Json = {"resourceVersion": "1000"}
        if rest:
            self._lists[name] = items
            metadata["continue"] = base64.urlsafe_b64encode(json.dumps([name, page[-1][0]]).encode()).decode()
            metadata["remainingItemCount"] = rest
        if "as=PartialObjectMetadataList" in request.headers.get("accept", "") and version != METRICS:
            form = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
            bare = [{**form, "metadata": thing["metadata"]} for _, thing in page]
            return 200, {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "items": bare}
        bare = [{key: value for key, value in thing.items() if key not in ("apiVersion", "kind")} for _, thing in page]  # as in real lists
        return 200, {"kind": f"{PLURALS[version, plural]}List", "apiVersion": version, "metadata": metadata, "items": bare}


def _chosen(request: Request) -> str:
    """Give the name that a field selector asks for, as which the real server judges the right to list; "" without one."""
    return request.query.get("fieldSelector", "").removeprefix("metadata.name=")


def _served(path: str) -> Json | None:
    """Give the list of resources at the root of an API; None when that is no root of ours."""
    resources = [
        {"name": plural, "singularName": "", "namespaced": namespaced, "kind": kind, "verbs": ["get", "list"]}
        for kind, (version, plural, namespaced) in KINDS.items()
        if path == ("/api/v1" if version == "v1" else f"/apis/{version}")
    ]
    return {"kind": "APIResourceList", "groupVersion": path.split("/", 2)[2], "resources": resources} if resources else None


def status(code: int, message: str, metadata: Json | None = None) -> Answer:
    """Give a Status object, the API server's usual way to say no."""
    body = {"kind": "Status", "apiVersion": "v1", "metadata": metadata or {}, "status": "Failure", "message": message, "code": code}
    return code, {**body, "reason": REASONS.get(code, "")}


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Stay silent about clients that hang up or refuse our certificate."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize, disable_nagle_algorithm = -1, True  # without them every answer waits 40 ms
    kube: FakeKube

    def do_GET(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, url.path, dict(urllib.parse.parse_qsl(url.query)), headers)
        self.kube.requests.append(request)
        fault = self.kube.next_fault(url.path)
        if fault and isinstance(fault.trouble, int):
            code, answer = (fault.trouble, fault.body) if fault.body is not None else status(fault.trouble, "asked for by the test")
            self._send(code, answer, {"Retry-After": str(fault.retry_after)} if fault.retry_after is not None else {})
        elif fault:
            self._break(fault.trouble)
        else:
            self._send(*self.kube.answer(request, json.loads(body) if body else None), {})

    do_POST = do_GET  # noqa: N815  # the name is http.server's

    def log_message(self, *_: object) -> None:
        """Log nothing; the test reads kube.requests."""

    def _send(self, code: int, answer: Json | str, headers: Mapping[str, str]) -> None:
        data = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        kind = "text/plain" if isinstance(answer, str) else "application/json"
        self._start(code, {"Content-Type": kind, "Content-Length": str(len(data)), **headers})
        self.wfile.write(data)

    def _break(self, trouble: Trouble) -> None:
        self.close_connection = True
        if trouble == "empty":
            self._start(HTTPStatus.OK, {"Content-Length": "0"})
        elif trouble == "cut":
            self._start(HTTPStatus.OK, {"Content-Length": "5000"})
            self.wfile.write(b'{"kind": "PodList", "items": [{"metadata"')
        elif trouble == "cut chunks":
            self._start(HTTPStatus.OK, {"Transfer-Encoding": "chunked"})
            self.wfile.write(b'1F\r\n{"kind": "PodList", "items": [{"\r\n')
        elif trouble == "hang":
            self.kube.hanging.set()
            self.kube.stopped.wait()

    def _start(self, code: int, headers: Mapping[str, str]) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


def _handler(kube: FakeKube) -> type[_Handler]:
    return type("Handler", (_Handler,), {"kube": kube})
