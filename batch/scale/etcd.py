"""etcd: how full it is, how fast its disks are, and whether its members agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from batch.findings import message
from batch.scale.areas import ETCD
from batch.scale.facts import Facts
from batch.scale.model import Check, Rule, judged
from batch.scale.told import Figure, figures, untold
from batch.snapshot.control_plane import ETCD_COMMIT, ETCD_DATABASE, ETCD_FSYNC, ETCD_LEADER_CHANGES, ETCD_QUOTA

_FAQ = 'etcd 3.6, FAQ, "What does the etcd warning “apply entries took too long” mean?"'
_MIXIN = "alerts of etcd's own mixin (contrib/mixin)"
_WINDOW = "over the last day"

SIZE = Rule(
    id="etcd.size",
    area=ETCD,
    name="Database against its quota",
    unit="ratio",
    measures="largest database of a member, divided by its quota; by scale.etcd_quota_bytes (2 GiB) where the quota is not told",
    threshold="warns above 50 %, fails above 80 %",
    source='etcd 3.6, "System limits": a quota of 2 GiB by default, 8 GiB at most suggested; the shares are our own',
    lesson="etcd reached its default quota and from then on refused every write. All nodes failed their health checks, and an autoscaler set out to terminate them.",
    action="Raise `--quota-backend-bytes`, compact and defragment; move events to an etcd of their own.",
    needs=("Prometheus: etcd or API servers",),
)
FSYNC = Rule(
    id="etcd.fsync",
    area=ETCD,
    name="Writes to the log",
    unit="seconds",
    measures=f"99th percentile of the time to sync the write-ahead log, of the slowest member, {_WINDOW}",
    threshold="warns above 10 ms, fails above 500 ms",
    source=f"{_FAQ}: below 10 ms; 500 ms: {_MIXIN}",
    lesson="A network disk with thousands of operations a second still took 2 ms for each, and etcd, which waits for every one, took hundreds for a write. On a local disk it took 0.2 ms, and the cluster was well.",
    action="Put etcd's data on a local SSD that nothing else writes to.",
    needs=("Prometheus: etcd",),
)
COMMIT = Rule(
    id="etcd.commit",
    area=ETCD,
    name="Commits of the database",
    unit="seconds",
    measures=f"99th percentile of the time to commit to the backend, of the slowest member, {_WINDOW}",
    threshold="warns above 25 ms, fails above 250 ms",
    source=f"{_FAQ}: below 25 ms; 250 ms: {_MIXIN}",
    lesson="When commits are slow, requests pile up in the API servers and look like their fault. More API servers then make it worse.",
    action="Look at the disk, at backups that run beside it, and at the size of the database.",
    needs=("Prometheus: etcd",),
)
LEADER_CHANGES = Rule(
    id="etcd.leader-changes",
    area=ETCD,
    name="Changes of the leader",
    unit="count",
    measures=f"most changes of the leader within 15 minutes, {_WINDOW}",
    threshold="warns above 1, fails above 3",
    source=f"{_MIXIN}: four within 15 minutes; one may be an upgrade",
    lesson="Every election stops all writes for seconds, and controllers that lose their lease restart. Slow disks and a slow network between members are behind it.",
    action="Look at the time to sync and at the network between the members; leave the time-outs alone until both are well.",
    needs=("Prometheus: etcd",),
)
RULES = (SIZE, FSYNC, COMMIT, LEADER_CHANGES)


def checks(facts: Facts) -> Iterator[Check]:
    """Judge what Prometheus told of etcd."""
    yield _size(facts)
    yield _slowest(facts, FSYNC, ETCD_FSYNC, "etcd_disk_wal_fsync_duration_seconds", warn=0.01, fail=0.5)
    yield _slowest(facts, COMMIT, ETCD_COMMIT, "etcd_disk_backend_commit_duration_seconds", warn=0.025, fail=0.25)
    yield _leader_changes(facts)


def _size(facts: Facts) -> Check:
    sizes = figures(facts, ETCD_DATABASE)
    if not sizes:
        return untold(facts, SIZE, "etcd", ("etcd_mvcc_db_total_size_in_bytes", "apiserver_storage_size_bytes"))
    told = [one for one in figures(facts, ETCD_QUOTA) if one.value > 0]
    quota = int(told[-1].value) if told else facts.settings.scale.etcd_quota_bytes
    size = int(sizes[0].value)
    found = message(
        "{size:bytes} of {quota:bytes} used, {share:ratio}" if told else "{size:bytes} used, {share:ratio} of etcd's default {quota:bytes}",
        size=size,
        quota=quota,
        share=size / quota,
    )
    return judged(SIZE, size / quota, found, warn=0.5, fail=0.8, objects=_above(sizes, quota / 2))


def _slowest(facts: Facts, rule: Rule, metric: str, series: str, *, warn: float, fail: float) -> Check:
    members = figures(facts, metric)
    if not members:
        return untold(facts, rule, "etcd", (series,))
    slowest = members[0].value
    found = message("99 of 100 take at most {slowest:seconds} on the slowest of {count:count} members", slowest=slowest, count=len(members))
    return judged(rule, slowest, found, warn=warn, fail=fail, objects=_above(members, warn))


def _leader_changes(facts: Facts) -> Check:
    members = figures(facts, ETCD_LEADER_CHANGES)
    if not members:
        return untold(facts, LEADER_CHANGES, "etcd", ("etcd_server_leader_changes_seen_total",))
    most = round(members[0].value)
    return judged(LEADER_CHANGES, most, message("At most {most:count} within 15 minutes of the last day", most=most), warn=1, fail=3)


def _above(members: Sequence[Figure], limit: float) -> tuple[str, ...]:
    return tuple(member.instance for member in members if member.value > limit and member.instance)
