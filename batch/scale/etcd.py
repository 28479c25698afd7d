"""etcd: how full it is, how fast its disks are, and whether its members agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from batch.findings import message
from batch.scale.areas import ETCD
from batch.scale.facts import Facts
from batch.scale.model import Check, Rule, judged, unknown
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
    measures="database of each member, divided by that member's quota; the fullest counts; by scale.etcd_quota_bytes (2 GiB) where no quota is told",
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

_WARNS, _FAILS = 0.5, 0.8
_SURELY_BEYOND = 1.1
"""Share of its quota that no database passes by much: etcd refuses writes from the quota on. Our own margin."""


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
    told = {one.instance: one.value for one in figures(facts, ETCD_QUOTA) if one.value > 0}
    if not told:
        return _by_assumed_quota(sizes, facts.settings.scale.etcd_quota_bytes)
    least = min(told.values())  # for a size that API servers tell, and not the member itself
    fullest = sorted(((one.value / told.get(one.instance, least), one) for one in sizes), key=lambda pair: (-pair[0], pair[1].instance))
    share, first = fullest[0]
    found = message(
        "{size:bytes} of {quota:bytes} used, {share:ratio}",
        size=int(first.value),
        quota=int(told.get(first.instance, least)),
        share=share,
    )
    names = tuple(one.instance for part, one in fullest if part > _WARNS and one.instance)
    return judged(SIZE, share, found, warn=_WARNS, fail=_FAILS, objects=names)


def _by_assumed_quota(sizes: Sequence[Figure], quota: int) -> Check:
    """Hold the largest database against a quota that nobody told. One that is well beyond it shows that the quota is another."""
    share = sizes[0].value / quota
    if share > _SURELY_BEYOND:
        found = message(
            "{size:bytes} used, more than the {quota:bytes} that etcd allows by default: the quota is not known", **_amounts(sizes, quota)
        )
        return unknown(
            SIZE,
            found,
            message("Setting scale.etcd_quota_bytes, or Prometheus with {series:text} of etcd", series="etcd_server_quota_backend_bytes"),
        )
    found = message("{size:bytes} used, {share:ratio} of {quota:bytes}, for no quota is told", share=share, **_amounts(sizes, quota))
    return judged(SIZE, share, found, warn=_WARNS, fail=_FAILS, objects=_above(sizes, _WARNS * quota))


def _amounts(sizes: Sequence[Figure], quota: int) -> dict[str, int]:
    return {"size": int(sizes[0].value), "quota": quota}


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
