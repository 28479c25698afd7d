"""The keys of what a run leaves at each output, and the order in which they are written."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, unquote

from batch.deliver import manifest
from batch.report.model import Artifact, Report

INDEX = "index.html"
CLUSTERS = "cluster="
"""How the keys of every cluster begin."""

_NAME_LENGTH = 200
"""Longest encoded name: a file name may have 255 bytes (Linux, NAME_MAX), a key 1024 (S3, "Naming Amazon S3 objects")."""

_WHOLE_RUN = re.compile(rf"(cluster=[^/]+/date=\d{{4}}-\d{{2}}-\d{{2}}/run=[^/]+/){re.escape(manifest.NAME)}")


def encode(name: str) -> str:
    """Percent-encode a name as one part of a key, as Hive-style readers decode it; what gets too long ends in a checksum."""
    encoded = quote(name, safe="")
    if set(encoded) == {"."}:
        return encoded.replace(".", "%2E")
    if len(encoded) <= _NAME_LENGTH:
        return encoded
    ending = "~" + hashlib.sha256(name.encode()).hexdigest()[:16]
    head = name[:_NAME_LENGTH]
    while len(quote(head, safe="")) + len(ending) > _NAME_LENGTH:  # by whole characters: half of one could not be decoded
        head = head[:-1]
    return quote(head, safe="") + ending


def cluster_path(cluster: str) -> str:
    """Key under which everything of a cluster is."""
    return f"{CLUSTERS}{encode(cluster)}/"


def history_path(cluster: str) -> str:
    """Key under which a cluster's nights are remembered."""
    return f"{cluster_path(cluster)}history/"


def run_path(report: Report) -> str:
    """Key under which everything of a run is."""
    return f"{cluster_path(report.cluster)}date={encode(report.run.date)}/run={encode(report.run.id)}/"


def latest_keys(cluster: str) -> tuple[str, str]:
    """Keys of a cluster's pointer to its newest complete run: for programs, and for bookmarks."""
    return f"{cluster_path(cluster)}latest.json", f"{cluster_path(cluster)}latest/{INDEX}"


def run_files(report: Report) -> Iterator[Artifact]:
    """Yield every file of a run, named by its key, in writing order: manifest.json last, for it makes the run visible.

    What it leaves to the history comes before that, so that a run that is listed is also remembered. An artifact's name that is
    percent-encoded stays as it is, since the report links to it.
    """
    path = run_path(report)
    paths = {artifact.name: "/".join(encode(unquote(part)) for part in artifact.name.split("/")) for artifact in report.artifacts}
    for artifact in report.artifacts:
        yield Artifact(path + paths[artifact.name], artifact.media_type, artifact.data)
    for artifact in report.history:
        name = "/".join(map(encode, artifact.name.split("/")))
        yield Artifact(f"{history_path(report.cluster)}date={encode(report.run.date)}/{name}", artifact.media_type, artifact.data)
    yield Artifact(path + manifest.NAME, "application/json", manifest.encode(report, paths))


def whole_runs(keys: Iterable[str]) -> frozenset[str]:
    """Pick from a listing the runs that are there whole: those with a manifest.json."""
    return frozenset(found.group(1) for key in keys if (found := _WHOLE_RUN.fullmatch(key)))


def cache_control(key: str) -> str:
    """How long a browser may keep a key: files of a run for a day (rendering a snapshot again replaces them), others not at all."""
    return "max-age=86400, immutable" if "/run=" in key else "no-cache"
