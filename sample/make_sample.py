"""Write the sample cluster: `python -m sample.make_sample`, from the project's root.

Deterministic: the same code gives the same objects. The output in sample/cluster is committed; run this after changing what is in it.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Mapping
from pathlib import Path

from sample.builder import Builder
from sample.data import add_data
from sample.hub import add_hub
from sample.identity import ago
from sample.machines import VERSION
from sample.ml import add_ml
from sample.objects import kubectl_list
from sample.policies import namespace
from sample.shop import add_shop
from sample.system import BORN, add_system

FOLDER = Path(__file__).parent / "cluster"

NAMESPACES = {
    "default": None,
    "kube-node-lease": None,
    "kube-public": None,
    "kube-system": "platform",
    "monitoring": "platform",
    "ingress": "platform",
    "hub": "research",
    "shop": "storefront",
    "data": "analytics",
    "ml": "machine learning",
}
"""Namespaces and the teams that own them."""


def build_cluster() -> Builder:
    """Build the whole cluster in memory."""
    builder = Builder()
    for name, owner in NAMESPACES.items():
        namespace(builder, name, BORN, owner)
    add_system(builder)
    add_hub(builder)
    add_shop(builder)
    builder.pool("general")[-1].cordoned = ago(hours=4, minutes=40)
    add_data(builder)
    add_ml(builder)
    return builder


def build_files() -> dict[str, bytes]:
    """Give every file of the dump by name, not compressed."""
    files = {f"{name}.json": kubectl_list(items) for name, items in build_cluster().finish().items()}
    return {**files, "version.json": (json.dumps(_version(), indent=2) + "\n").encode()}


def compress(data: bytes) -> bytes:
    """Compress without name and time, so that equal data gives equal bytes."""
    sink = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=sink, mtime=0) as file:
        file.write(data)
    return sink.getvalue()


def _version() -> Mapping[str, object]:
    """Give what `kubectl version -o json` prints."""
    build = {
        "gitTreeState": "clean",
        "buildDate": "2026-08-19T09:26:12Z",
        "goVersion": "go1.26.1 X:boringcrypto",
        "compiler": "gc",
        "platform": "linux/amd64",
    }
    older = {"minCompatibilityMajor": "1", "minCompatibilityMinor": "35"}
    server = {"major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "36", **older, "gitVersion": VERSION}
    return {"serverVersion": {**server, "gitCommit": "5d4a0c6a1f7be1cb4c8f64fbc8b2b1f0a1d2a9e7", **build}}


def main() -> None:
    """Write the dump and say what was written."""
    FOLDER.mkdir(exist_ok=True)
    total = 0
    for name, data in build_files().items():
        compressed = name != "version.json"
        path = FOLDER / (f"{name}.gz" if compressed else name)
        path.write_bytes(compress(data) if compressed else data)
        total += path.stat().st_size
        print(f"{path.stat().st_size:>9,} bytes  {path.name}")
    print(f"{total:>9,} bytes in all")


if __name__ == "__main__":
    main()
