"""Finds out whether a run would work, before one is needed: every right, API, output and setting, one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Literal

from batch import __version__
from batch.collect.api import Cluster, rule_to_add
from batch.collect.assemble import EFFECTS, NAMESPACES_WILL_DO
from batch.collect.prometheus.errors import PrometheusError
from batch.collect.prometheus.examine import examine
from batch.collect.source import FILE_NAMES, JOBS, NODES, OF_AUTOSCALERS, PODS, Kind, SourceError
from batch.deadline import Deadline
from batch.deliver import layout, smtp
from batch.deliver.smtp import MailError
from batch.deliver.storage import StorageError, locate, open_store, without_keys
from batch.errors import BatchError, CollectError, DeliverError, RenderError, SettingsError
from batch.pipeline import World, chosen_outputs, cluster_name, take_snapshot
from batch.plan import price_list
from batch.plan.flavors import check_names, compared_flavors
from batch.plan.profiles import given_profiles
from batch.report.pdf import make_pdf
from batch.settings import Settings

PROBE = ".nightcap-check"
"""Key that is written at every output, over itself each time: without the right to delete it could not be taken away again."""

_PROBE_TEXT = b"Written by `python -m batch check`, to see whether it can be. Nothing reads it later.\n"

_SKEW_NOTED_SECONDS = 60
_SKEW_REFUSED_SECONDS = 900
"""S3 refuses requests that were signed 15 minutes off (Amazon S3 API Reference, error RequestTimeTooSkewed)."""

_SMALL_PAGE = "<html lang=en><title>Preflight</title><p>Aa"

_STRONGEST_FIRST = (SettingsError.exit_code, CollectError.exit_code, DeliverError.exit_code, RenderError.exit_code)
"""In the order in which a run meets them; a PDF that cannot be made comes last, for the other files are delivered first."""

_LEFT_OUT = "The namespace is left out."
_FILED_ANEW = "The report of a second try after midnight is filed under the new day."

State = Literal["ok", "missing", "not configured"]


@dataclass(frozen=True)
class Line:
    """What was found about one thing. `exit_code` is what a run ends with when it is not ok, 0 where a run can do without it."""

    state: State
    what: str
    why: str = ""
    remedy: str = ""
    exit_code: int = 0

    @property
    def required(self) -> bool:
        """Whether a run fails without it."""
        return self.exit_code != 0


def check(settings: Settings, world: World) -> tuple[Line, ...]:
    """Ask for everything that a run with these settings would need. Reads no list of a live cluster, but a dump or snapshot as a whole."""
    return (
        Line("ok", "settings", "read, every name known and every value of its type"),
        *_prices(settings),
        *_profiles(settings),
        *_source(settings, world),
        *_pdf(settings, world),
        *_outputs(settings, world),
        _written("spool folder", str(settings.run.spool_directory), settings, exit_code=0),
        *_mail(settings),
    )


def exit_code(lines: tuple[Line, ...]) -> int:
    """Give what a run would end with; 0 when every required line is ok."""
    failing = {line.exit_code for line in lines if line.required and line.state != "ok"}
    return next((code for code in _STRONGEST_FIRST if code in failing), 0)


def _prices(settings: Settings) -> Iterator[Line]:
    """Read the prices as a run does; without any nothing is said, for a run needs none."""
    try:
        prices = price_list.read(settings.prices)
    except SettingsError as error:
        yield Line("missing", "prices", error.why, error.remedy, error.exit_code)
        return
    if prices.by_flavor:
        oldest = min(price.day for price in prices.by_flavor.values())
        yield Line("ok", "prices", f"of {len(prices.by_flavor)} flavors, in {prices.currency}, the oldest of {oldest:%Y-%m-%d}")


def _profiles(settings: Settings) -> Iterator[Line]:
    """Read the profiles and their selectors as a run does; without any nothing is said."""
    try:
        given = given_profiles(settings.plan)
    except SettingsError as error:
        yield Line("missing", "plan.profiles", f"could not {error.attempted}: {error.why}", error.remedy, error.exit_code)
        return
    if given:
        yield Line("ok", "plan.profiles", ", ".join(profile.name for profile in given))


def _flavors(settings: Settings, find: Callable[[], object]) -> Iterator[Line]:
    """Find the flavors that are to be compared, where some are named; `find` raises SettingsError for one that is nowhere."""
    if not settings.plan.flavor_names:
        return
    try:
        find()
    except SettingsError as error:
        yield Line("missing", "plan.flavor_names", f"could not {error.attempted}: {error.why}", error.remedy, error.exit_code)
    else:
        yield Line("ok", "plan.flavor_names", ", ".join(settings.plan.flavor_names))


def _source(settings: Settings, world: World) -> Iterator[Line]:
    try:
        if settings.source != "cluster":
            yield from _stored(settings, world)
            return
        deadline = Deadline(None, 0, world.monotonic, world.monotonic())
        with closing(Cluster.connect(settings, deadline, __version__, sleep=world.sleep)) as cluster:
            yield from _budget(settings, world)
            yield _name(settings, cluster)
            yield from _cluster(settings, world, cluster)
        yield from _prometheus(settings, world, deadline)
    except BatchError as error:
        yield Line("missing", f"source {without_keys(settings.source)}", error.why, error.remedy, error.exit_code)


def _prometheus(settings: Settings, world: World, deadline: Deadline) -> Iterator[Line]:
    """Ask Prometheus one cheap query. A run does without it, so nothing is said where none is set."""
    if settings.prometheus.url is None:
        return
    try:
        found = examine(settings.prometheus, deadline, f"nightcap/{__version__}", world.sleep, settings.run.now or world.now())
    except PrometheusError as error:
        yield Line("missing", "prometheus", error.reason, error.remedy)
    else:
        yield Line("ok", "prometheus", found)


def _stored(settings: Settings, world: World) -> Iterator[Line]:
    """Read a dump, the sample or a snapshot; what is missing in it is a line."""
    snapshot = take_snapshot(settings, world)
    taken = f"cluster {snapshot.cluster}, Kubernetes {snapshot.kubernetes_version or 'of unknown version'}, {snapshot.taken_at:%Y-%m-%d %H:%M} UTC"
    yield Line("ok", f"source {without_keys(settings.source)}", taken)
    yield from _flavors(settings, partial(compared_flavors, snapshot, settings.plan))
    for gap in snapshot.gaps:
        yield Line("missing", gap.source, f"{gap.reason}. {gap.effect}")


def _budget(settings: Settings, world: World) -> Iterator[Line]:
    seconds = settings.run.deadline_seconds
    if seconds is not None:
        yield Line("ok", "run.deadline_seconds", f"{seconds:g} s")
    elif world.in_cluster:
        why = "A run that takes too long is ended by the Job's deadline, without a report."
        yield Line("not configured", "run.deadline_seconds", why, "Set it below the Job's activeDeadlineSeconds.")


def _name(settings: Settings, cluster: Cluster) -> Line:
    try:
        return Line("ok", "cluster.name", cluster_name(settings, cluster))
    except SettingsError as error:
        return Line("not configured", "cluster.name", error.why, error.remedy, error.exit_code)


def _cluster(settings: Settings, world: World, cluster: Cluster) -> Iterator[Line]:
    """Ask the API server; when it does not even answer the first question, the others are left out."""
    try:
        cluster.allowed("list", PODS)
    except SourceError as error:
        yield Line("missing", "cluster", error.reason, error.remedy, CollectError.exit_code)
        return
    clock = [*_clock(settings, world, cluster)]  # at once: the answer's time grows old
    way = f"context {cluster.context_name()}" if cluster.context_name() else "service account of this pod"
    yield Line("ok", "cluster", f"Kubernetes {cluster.kubernetes_version() or 'of unknown version'}, {way}")
    yield from clock
    yield from _flavors(settings, partial(check_names, settings.plan, cluster.has_nodes_of))
    kinds = _asked(settings)
    for kind in kinds:
        yield from _rights(cluster, kind, () if kind.only else settings.cluster.namespaces)
    if settings.run.job_name and settings.run.namespace:
        line = _right(cluster, "get", JOBS, settings.run.namespace, 0)
        yield line if line.state == "ok" else replace(line, why=f"{line.why} {_FILED_ANEW}")
    beside_core = sorted((kind for kind in kinds if kind.group), key=lambda kind: kind.api)
    for _, served in groupby(beside_core, key=lambda kind: kind.api):
        yield _api(cluster, list(served))
    if not settings.scale.autoscalers:
        why = "Whether node pools are at their maximum is unknown."
        yield Line("not configured", "scale.autoscalers", why, "Name the node autoscalers, and add their component of k8s/components.")


def _asked(settings: Settings) -> list[Kind]:
    """Give every kind that a run with these settings lists."""
    left_out = [kind for name, kind in OF_AUTOSCALERS.items() if name not in settings.scale.autoscalers]
    return [kind for kind in FILE_NAMES if kind not in left_out]


def _rights(cluster: Cluster, kind: Kind, namespaces: Sequence[str]) -> Iterator[Line]:
    """Ask for the right to list a kind, in each namespace where some are named; of a required kind one of them will do."""
    required = kind is PODS or (kind is NODES and not namespaces)
    effect = "" if required else EFFECTS[kind]
    code = CollectError.exit_code if required else 0
    lines = [_right(cluster, "list", kind, namespace, code) for namespace in (namespaces if kind.namespaced else ()) or (None,)]
    one_will_do = any(line.state == "ok" for line in lines)
    for line in lines:
        if line.state == "ok":
            yield line
        elif one_will_do:
            yield replace(line, exit_code=0, why=f"{line.why} {_LEFT_OUT}")
        else:
            yield replace(line, why=f"{line.why} {effect}".strip())


def _clock(settings: Settings, world: World, cluster: Cluster) -> Iterator[Line]:
    """Compare clocks; with --now ours tells nothing."""
    theirs = cluster.server_time
    if theirs is None or settings.run.now:
        return
    off = round((world.now() - theirs).total_seconds())
    if abs(off) <= _SKEW_NOTED_SECONDS:
        yield Line("ok", "clock", "agrees with the API server's")
        return
    refused = abs(off) > _SKEW_REFUSED_SECONDS and any(url.lower().startswith("s3:") for url in settings.outputs)
    consequence = "S3 refuses what is signed so far off." if refused else "Measurements look older or newer than they are."
    why = f"{abs(off)} s {'ahead of' if off > 0 else 'behind'} the API server's. {consequence}"
    yield Line("missing", "clock", why, "Set the clock (NTP) of this machine.", DeliverError.exit_code if refused else 0)


def _right(cluster: Cluster, verb: str, kind: Kind, namespace: str | None, code: int) -> Line:
    """Ask for one right; why it is missing ends as a sentence does."""
    name = f"{kind.name}.{kind.group}" if kind.group else kind.name
    where = "/".join(kind.only) if kind.only else namespace
    what = f"{verb} {name} in {where}" if where else f"{verb} {name}"
    try:
        if cluster.allowed(verb, kind, namespace):
            return Line("ok", what, exit_code=code)
    except SourceError as error:
        return Line("missing", what, f"{error.reason}.", error.remedy, code)
    remedy = rule_to_add(kind, namespace)
    if kind is NODES and code:
        remedy = f"{remedy} {NAMESPACES_WILL_DO}"
    return Line("missing", what, "no right.", remedy, code)


def _api(cluster: Cluster, kinds: list[Kind]) -> Line:
    """Ask one API whether it serves these kinds. None of them is required."""
    what = f"API {kinds[0].group}/{kinds[0].version}"
    try:
        what, served = _served(cluster, kinds[0])
    except SourceError as error:
        if error.absent and all(kind.optional for kind in kinds):
            return Line("not configured", what, "not served, so there is none of it", "Nothing to do: it stays empty in the report.")
        return Line("missing", what, " ".join((f"{error.reason}.", *(EFFECTS[kind] for kind in kinds))), error.remedy)
    absent = [kind for kind in kinds if kind.name not in served]
    if absent:
        why = f"does not serve {', '.join(kind.name for kind in absent)}."
        return Line("missing", what, " ".join((why, *(EFFECTS[kind] for kind in absent))), "This version of Kubernetes does not have it.")
    return Line("ok", what, f"serves {', '.join(kind.name for kind in kinds)}")


def _served(cluster: Cluster, kind: Kind) -> tuple[str, frozenset[str]]:
    """Name the newest version that is served of those that a run would ask for, and what it serves. Raises SourceError."""
    versions = list(kind.versions())
    for version in versions:
        try:
            return f"API {version.group}/{version.version}", cluster.served_with(version)
        except SourceError as error:
            if not error.absent or version is versions[-1]:
                raise
    raise AssertionError("a kind has a version")


def _pdf(settings: Settings, world: World) -> Iterator[Line]:
    """Make a small PDF as a run makes its own: in a process, within the limits that are set."""
    if "pdf" not in settings.report.formats:
        return
    try:
        make_pdf(_SMALL_PAGE, (), world.now(), settings.report)
    except RenderError as error:
        remedy = "Install Pango (Debian: libpangoft2-1.0-0 libharfbuzz-subset0) and a font, or leave pdf out of report.formats."
        yield Line("missing", "PDF", error.why, remedy, error.exit_code)
    else:
        yield Line("ok", "PDF", "a small one was made", exit_code=RenderError.exit_code)


def _outputs(settings: Settings, world: World) -> Iterator[Line]:
    try:
        urls = chosen_outputs(settings, world)
    except SettingsError as error:
        yield Line("not configured", "outputs", error.why, error.remedy, error.exit_code)
        return
    for url in urls:
        what = f"output {without_keys(url)}"
        try:
            locate(url)
        except SettingsError as error:
            yield Line("missing", what, error.why, error.remedy, error.exit_code)
        else:
            yield _written(what, url, settings, exit_code=DeliverError.exit_code)
            yield from _deleted(what, url, settings)


def _written(what: str, url: str, settings: Settings, *, exit_code: int) -> Line:
    """Write, read back and list a small file at a place."""
    try:
        store = open_store(url, settings)
        store.write(PROBE, _PROBE_TEXT, "text/plain; charset=utf-8")
        same = store.read(PROBE) == _PROBE_TEXT and PROBE in store.keys(PROBE)
    except (StorageError, SettingsError) as error:
        return Line("missing", what, error.why, error.remedy, exit_code)
    except KeyError:
        same = False
    if not same:
        why = f"{PROBE} was written, and was not there when it was read back"
        return Line("missing", what, why, "Look for a cache or a clean-up between here and there.", exit_code)
    return Line("ok", what, "written, read back and listed", exit_code=exit_code)


def _deleted(what: str, url: str, settings: Settings) -> Iterator[Line]:
    """Where old runs are to be deleted, write and delete a file where a run's files would be: rights may end at that path."""
    if settings.retention.days is None:
        return
    key = f"{layout.cluster_path(settings.cluster.name or 'check')}date=1970-01-01/run=check/{PROBE}"
    what = f"{what}, old runs"
    try:
        store = open_store(url, settings)
        store.write(key, _PROBE_TEXT, "text/plain; charset=utf-8")
        store.delete(key)
        gone = key not in store.keys(key)
    except StorageError as error:
        yield Line("missing", what, f"{error.why}. They stay.", error.remedy)
        return
    if gone:
        yield Line("ok", what, f"a file can be deleted; runs are kept for {settings.retention.days} days")
    else:
        yield Line(
            "missing", what, "a deleted file is still there. They stay.", "Look for a lock or a policy of the store that keeps objects."
        )


def _mail(settings: Settings) -> Iterator[Line]:
    """Connect, log in, and ask the mail server about every recipient; send nothing. Without a server nothing is said, for a run needs none."""
    mail = settings.mail
    if not mail.host:
        return
    what, code = f"mail server {smtp.server_name(mail)}", DeliverError.exit_code
    try:
        smtp.check_settings(mail)
        with smtp.session(mail) as session:
            limit = smtp.size_limit(session, mail)
            refused = smtp.ask(session, mail, mail.recipients)
    except SettingsError as error:
        yield Line("missing", what, error.why, error.remedy, error.exit_code)
    except MailError as error:
        yield Line("missing", what, error.why, error.remedy, code)
    else:
        way = {"starttls": "STARTTLS", "tls": "TLS", "none": "in clear"}[mail.security]
        login = f"logged in as {mail.username}" if mail.username else "without login"
        yield Line("ok", what, f"{way}, {login}; takes messages up to {limit:,} bytes", exit_code=code)
        for address, refusal in refused.items():
            yield Line("missing", f"mail to {address}", refusal.why, refusal.remedy, code)
