"""Read every list of a cluster with the official client's typed lists; metrics as the dictionaries that it has for them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from kubernetes import client, config

from bench.reading import PAGE_SIZE, tell


def count_items(read: Callable[..., Any]) -> int:
    """Page through a typed list, holding one page at a time; give the number of items."""
    count, page = 0, read(limit=PAGE_SIZE)
    while True:
        count += len(page.items)
        token = page.metadata._continue  # noqa: SLF001  the client's name for `continue`, which is a word of Python
        if not token:
            return count
        page = read(limit=PAGE_SIZE, _continue=token)


if __name__ == "__main__":
    start_seconds = time.process_time()
    config.load_kube_config()
    core, custom = client.CoreV1Api(), client.CustomObjectsApi()
    count_items(core.list_node)
    pod_count = count_items(core.list_pod_for_all_namespaces)
    for plural in ("nodes", "pods"):
        custom.list_cluster_custom_object("metrics.k8s.io", "v1beta1", plural)
    count_items(client.BatchV1Api().list_job_for_all_namespaces)
    count_items(client.BatchV1Api().list_cron_job_for_all_namespaces)
    apps = client.AppsV1Api()
    count_items(apps.list_deployment_for_all_namespaces)
    count_items(apps.list_stateful_set_for_all_namespaces)
    count_items(apps.list_daemon_set_for_all_namespaces)
    count_items(client.AutoscalingV2Api().list_horizontal_pod_autoscaler_for_all_namespaces)
    tell(start_seconds, pod_count)
