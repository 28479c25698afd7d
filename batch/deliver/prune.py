"""Deletes the runs of a cluster that are older than reports are kept; nothing else, ever."""

from __future__ import annotations

import json
import re
from datetime import date, timedelta

from batch.deliver import layout, manifest
from batch.deliver.model import Store


def prune(store: Store, cluster: str, today: str, days: int) -> tuple[str, ...]:
    """Delete the cluster's runs of dates before the `days` that end with `today` (YYYY-MM-DD); give their keys.

    Only what is below date=.../run=.../ of this very cluster is touched: what runs leave to later ones stays, and so do other clusters and
    foreign files. The run that latest.json points at stays whatever its age. A manifest goes first, so that no list shows half a run.
    """
    oldest = (date.fromisoformat(today) - timedelta(days=days - 1)).isoformat()
    start = f"{layout.cluster_path(cluster)}date="
    of_run = re.compile(rf"({re.escape(start)}(\d{{4}}-\d{{2}}-\d{{2}})/run=[^/]+/)(.+)")
    kept = _pointed_at(store, cluster)
    old: dict[str, list[str]] = {}
    for key in store.keys(start):
        found = of_run.fullmatch(key)
        if found and found[2] < oldest and found[1] != kept:
            old.setdefault(found[1], []).append(key)
    for run, keys in old.items():
        for key in sorted(keys, key=lambda key, run=run: (key != run + manifest.NAME, key)):  # type: ignore[misc]
            store.delete(key)
    return tuple(old)


def _pointed_at(store: Store, cluster: str) -> str:
    """Give the path of the newest complete run, "" when there is none or its pointer is damaged."""
    try:
        return str(json.loads(store.read(layout.latest_keys(cluster)[0]))["path"])
    except (KeyError, ValueError, TypeError):
        return ""
