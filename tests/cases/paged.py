"""A source of many pods of 7 KB, made page by page as they are asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from batch.collect.source import NODES, PODS, Kind, at_any_time
from tests.collect.objects_json import container, node, page, pod

_PAGE_SIZE = 500


class Padded:
    """Implements Source."""

    def __init__(self, pod_count: int) -> None:
        self._pod_count = pod_count

    def kubernetes_version(self) -> str | None:
        """Give a version."""
        return "v1.36.2"

    def pages(self, kind: Kind, before_page: Callable[[], None] = at_any_time) -> Iterator[bytes]:
        """Yield pages of pods, one node, and empty lists of everything else."""
        before_page()
        if kind is PODS:
            for start in range(0, self._pod_count, _PAGE_SIZE):
                items = (_PADDED.replace(b"NAME", b"p%06d" % number) for number in range(start, min(start + _PAGE_SIZE, self._pod_count)))
                yield b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[' + b",".join(items) + b"]}"
        else:
            yield page(*([node()] if kind is NODES else []))


def _padded() -> bytes:
    environment = [{"name": f"VARIABLE_{i}", "value": "x" * 90} for i in range(50)]
    managed = [{"manager": "kubelet", "operation": "Update", "fieldsV1": {f"f:{i}": {} for i in range(60)}}]
    return json.dumps(pod("NAME", spec={"containers": [container(requests={"cpu": "1"}, env=environment)]}, managedFields=managed)).encode()


_PADDED = _padded()
