"""The night in one function; the only module that knows every stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

from batch import __version__
from batch.collect.api import Cluster
from batch.collect.assemble import ONCE, Identity, Sampling, assemble
from batch.collect.dump import Dump
from batch.collect.prometheus.read import Prometheus
from batch.collect.source import Footprint, Source
from batch.deadline import Deadline
from batch.deliver import layout, publish, smtp, spool
from batch.deliver.mail import mail
from batch.deliver.model import Receipt
from batch.deliver.storage import StorageError, locate, open_store, without_keys
from batch.errors import BatchError, CollectError, DeliverError, Interrupted, RenderError, SettingsError
from batch.gpu.assess import assess as assess_gpu
from batch.gpu.levels import levels as gpu_levels
from batch.jobs.assess import assess as assess_jobs
from batch.memory import give_back
from batch.plan import price_list
from batch.plan.assess import assess as assess_plan
from batch.plan.flavors import check_names
from batch.plan.forecast.assess import assess as assess_trends
from batch.plan.measured import age_gaps
from batch.plan.model import CapacityPlan
from batch.plan.prices import Prices
from batch.plan.profiles import given_profiles
from batch.report.document import stopped
from batch.report.model import Artifact, Report, Run
from batch.scale.assess import assess as assess_scale
from batch.scale.model import Emptying
from batch.settings import Settings
from batch.snapshot import archive, history
from batch.snapshot.history import NO_HISTORY, History
from batch.snapshot.model import Snapshot

SAMPLE = Path(__file__).resolve().parent.parent / "sample" / "cluster"
"""The small cluster shipped with the project, in the form of a dump."""


class Progress(Protocol):
    """Hears what the run is doing, to show it or not."""

    def stage(self, name: str) -> None:
        """Begin a stage."""
        ...

    def count(self, what: str, number: int) -> None:
        """Tell how many objects of a kind were read so far."""
        ...


@dataclass(frozen=True)
class World:
    """What a run takes from outside: clocks, environment, and who watches. One place, so that tests and `--now` can replace it.

    `now` gives aware UTC; `monotonic` and `sleep` are in seconds. `in_cluster` is whether the process runs in a pod.
    """

    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]
    in_cluster: bool
    progress: Progress


@dataclass
class Outcome:
    """What became of a run. `receipts` grows while outputs are served, so that an interruption does not lose what was delivered.

    `stopped` says of a run that was interrupted after a delivery which outputs have no report, and where its files are kept.
    """

    report: Report | None = None
    receipts: list[Receipt] = field(default_factory=list)
    failure: BatchError | None = None
    stopped: str = ""

    @property
    def delivered(self) -> bool:
        """Whether at least one output has the whole report."""
        return any(receipt.error is None for receipt in self.receipts)


def run(settings: Settings, world: World, outcome: Outcome) -> None:
    """Do the whole night: collect, assess, render, deliver. Fills `outcome`; raises BatchError when there is no report."""
    outputs = chosen_outputs(settings, world)
    for url in outputs:
        locate(url)  # a bad address is said now, not after the night's work
    smtp.check_settings(settings.mail)
    prices = price_list.read(settings.prices)  # and so are bad prices
    check_plan(settings, world)  # and what is to be planned
    started_at = world.now()
    snapshot = take_snapshot(settings, world)
    remembered = remember(settings, outputs[0], snapshot)
    report = make_report(settings, world, snapshot, started_at, prices, remembered)
    outcome.report = report
    world.progress.stage("deliver")
    try:
        for receipt in publish.publish(report, outputs, settings):
            outcome.receipts.append(receipt)
    except Interrupted as stop:
        if not outcome.delivered:
            raise
        report = outcome.report = _put_in_order(report, outputs, settings, outcome, stop)
    else:
        _mail(report, settings, world, outcome)
    if any(receipt.error for receipt in outcome.receipts):
        kept = spool.keep(report, settings.run.spool_directory)
        outcome.failure = publish.failure(tuple(outcome.receipts), kept)
    elif report.problem:
        outcome.failure = RenderError(
            "pdf-failed", attempted="make report.pdf", why=report.problem, remedy="The other files were delivered; the log has the details."
        )


def _mail(report: Report, settings: Settings, world: World, outcome: Outcome) -> None:
    """Mail the report, whatever became of the outputs. A run that is stopped meanwhile has delivered all the same, if an output has it."""
    try:
        for receipt in mail(report, tuple(outcome.receipts), settings, world.sleep):
            outcome.receipts.append(receipt)
    except Interrupted as stop:
        if not outcome.delivered:
            raise
        outcome.stopped = f"{stop} before everybody had the mail"


def _put_in_order(report: Report, outputs: Sequence[str], settings: Settings, outcome: Outcome, stop: Interrupted) -> Report:
    """Finish an interrupted delivery: keep the files for the outputs that were not served, and say at the others that the run is not complete."""
    tried = len(outcome.receipts)
    if tried == len(outputs):
        outcome.stopped = f"{stop} after the last output had the report; lists of reports may lag by one run"
        return report
    report = stopped(report)
    kept = spool.keep(report, settings.run.spool_directory)
    served = [url for url, receipt in zip(outputs[:tried], outcome.receipts, strict=True) if receipt.error is None]
    publish.correct(report, served, settings)
    unserved = ", ".join(map(without_keys, outputs[tried:]))
    where = f"the files are kept in {kept}" if kept else "the files could not be kept either, the log says why"
    unmailed = "; no mail was sent" if settings.mail.host else ""
    outcome.stopped = f"{stop} before {unserved} had the report (complete: false); {where}{unmailed}"
    return report


def check_plan(settings: Settings, world: World) -> None:
    """Raise SettingsError for profiles, selectors and flavors that no plan can be made of, before anything is collected.

    Only a live cluster can be asked for nodes of a flavor that is known nowhere else; in a dump they show when it is read.
    """
    given_profiles(settings.plan)
    if settings.source != "cluster":
        return

    def has_nodes(name: str) -> bool | None:
        deadline = Deadline(settings.run.deadline_seconds, settings.run.reserve_seconds, world.monotonic, world.monotonic())
        with closing(Cluster.connect(settings, deadline, __version__, sleep=world.sleep)) as cluster:
            return cluster.has_nodes_of(name)

    check_names(settings.plan, has_nodes)


def collect(settings: Settings, world: World, url: str) -> None:
    """Collect only, and write the snapshot to a folder or bucket."""
    store = open_store(url, settings)
    snapshot = take_snapshot(settings, world)
    try:
        archive.save(snapshot, store)
    except StorageError as error:
        raise DeliverError("snapshot-unwritable", attempted=f"write the snapshot to {url}", why=error.why, remedy=error.remedy) from error


def take_snapshot(settings: Settings, world: World) -> Snapshot:
    """Read the source that the settings name."""
    world.progress.stage("collect")
    name, _, where = settings.source.partition(":")
    if name == "snapshot" and where:
        return _load(settings, where)
    deadline = Deadline(settings.run.deadline_seconds, settings.run.reserve_seconds, world.monotonic, world.monotonic())
    with _opened(settings, world, deadline) as (source, identity, taken_at, fallback, sampling):
        return assemble(
            source,
            identity,
            taken_at=taken_at,
            fallback_taken_at=fallback,
            deadline=deadline,
            namespaces=settings.cluster.namespaces,
            sampling=sampling,
            prometheus=_prometheus(settings, world),
            on_page=world.progress.count,
            footprint=lambda: _footprint(source),
            autoscalers=settings.scale.autoscalers,
        )


def _prometheus(settings: Settings, world: World) -> Prometheus | None:
    """Give what asks Prometheus, when there is one; the sample has none, whatever is set."""
    if settings.prometheus.url is None or settings.source == "sample":
        return None
    return Prometheus(settings, f"nightcap/{__version__}", world.sleep)


def _footprint(source: Source) -> Footprint | None:
    """Tell what was asked of the API server so far; None when a folder is read."""
    return Footprint(source.request_count, source.received_bytes) if isinstance(source, Cluster) else None


def _load(settings: Settings, where: str) -> Snapshot:
    try:
        return archive.load(open_store(where, settings), where)
    except StorageError as error:
        raise CollectError("snapshot-unreadable", attempted=f"read the snapshot at {where}", why=error.why, remedy=error.remedy) from error


def remember(settings: Settings, url: str, snapshot: Snapshot) -> History:
    """Read what earlier nights left at an output; one that cannot be read is a gap in the report, and a failed receipt when it is served."""
    try:
        store = open_store(url, settings)
    except SettingsError as error:
        return History(gaps=(history.unreadable(error.why),))
    window = history.Window(snapshot.date, settings.rightsizing.window_seconds, settings.trends.window_seconds)
    return history.load(store, layout.history_path(snapshot.cluster), window, namespaces=snapshot.namespaces)


def make_report(
    settings: Settings, world: World, snapshot: Snapshot, started_at: datetime, prices: Prices, remembered: History = NO_HISTORY
) -> Report:
    """Assess a snapshot in the light of earlier nights, and render the report."""
    from batch.report.render import render  # noqa: PLC0415  WeasyPrint and matplotlib take a second to import; `settings` and errors need neither

    world.progress.stage("assess")
    files = _snapshot_artifacts(snapshot)
    give_back()
    aged = age_gaps(snapshot, settings.usage.max_age_seconds)
    snapshot = replace(snapshot, gaps=(*snapshot.gaps, *aged, *remembered.gaps))
    capacity = assess_plan(snapshot, settings, remembered, prices)
    give_back()
    accelerators = assess_gpu(snapshot, settings)
    jobs = assess_jobs(snapshot, settings)
    capacity = replace(capacity, trends=assess_trends(snapshot, capacity, gpu_levels(accelerators), remembered, settings))
    growth = assess_scale(snapshot, settings, remembered, emptying_of(capacity))
    give_back()
    world.progress.stage("render")
    this_run = Run(
        id=snapshot.run_id,
        date=snapshot.date,
        source=snapshot.source,
        taken_at=snapshot.taken_at,
        started_at=started_at,
        finished_at=world.now(),
        deadline_seconds=settings.run.deadline_seconds,
        complete=snapshot.complete,
    )
    return render(this_run, snapshot, capacity, accelerators, jobs, growth, settings, files)


def emptying_of(plan: CapacityPlan) -> Emptying | None:
    """Hand over what the plan says of nodes that could be emptied; None when it could not pack anything."""
    found = plan.headroom
    return Emptying(found.considered_node_count, tuple(one.node for one in found.emptyable)) if found.pools else None


def chosen_outputs(settings: Settings, world: World) -> tuple[str, ...]:
    """Give the outputs; ./out when none is set outside a cluster, an error inside one, where ./out would die with the pod."""
    if settings.outputs:
        return settings.outputs
    if world.in_cluster:
        raise SettingsError(
            "outputs-missing",
            attempted="find out where the report goes",
            why="no output is set, and inside a cluster a folder would be lost with the pod",
            remedy="Set outputs, e.g. NIGHTCAP_OUTPUTS=s3://bucket/prefix.",
        )
    return ("out",)


_Opened = tuple[Source, Identity, datetime | None, Callable[[], datetime], Sampling]


@contextmanager
def _opened(settings: Settings, world: World, deadline: Deadline) -> Iterator[_Opened]:
    """Open the source; give it with its identity, its moment (None: the newest measurement), the moment to fall back on, and the sampling."""
    name, _, where = settings.source.partition(":")
    if settings.source == "cluster":
        with closing(Cluster.connect(settings, deadline, __version__, sleep=world.sleep)) as cluster:
            taken_at = world.now()
            asked = Sampling(settings.sampling.samples, settings.sampling.interval_seconds, world.sleep)
            yield cluster, _live_identity(settings, cluster), taken_at, lambda: taken_at, asked
    elif settings.source == "sample" or (name == "dump" and where):
        folder = SAMPLE if settings.source == "sample" else Path(where)
        dump = Dump(folder)
        own_name = "sample" if settings.source == "sample" else folder.resolve().name
        shown = "sample" if settings.source == "sample" else f"dump:{own_name}"
        yield dump, Identity(settings.cluster.name or own_name, shown), settings.run.now, dump.changed_at, ONCE
    else:
        raise SettingsError(
            "source-unknown",
            attempted=f"read the source {settings.source!r}",
            why="it is none of cluster, sample, dump:DIR, snapshot:URL",
            remedy="Correct --source.",
        )


def cluster_name(settings: Settings, cluster: Cluster) -> str:
    """Give the name of a live cluster: the setting, else the kubeconfig context. Raises SettingsError when it has none."""
    name = settings.cluster.name or cluster.context_name()
    if not name:
        raise SettingsError(
            "cluster-unnamed",
            attempted="name the cluster in the report",
            why="cluster.name is not set, and inside a cluster nothing else tells its name",
            remedy="Set NIGHTCAP_CLUSTER__NAME.",
        )
    return name


def _live_identity(settings: Settings, cluster: Cluster) -> Identity:
    name = cluster_name(settings, cluster)
    job, uid, namespace = settings.run.job_name, settings.run.job_uid, settings.run.namespace
    if not (job and uid):
        return Identity(name, "cluster")
    created_at = cluster.created_at(job, namespace) if namespace else None
    return Identity(name, "cluster", run_id=f"{job}-{uid[:8]}", date=created_at.strftime("%Y-%m-%d") if created_at else None)


def _snapshot_artifacts(snapshot: Snapshot) -> tuple[Artifact, ...]:
    return tuple(Artifact(f"snapshot/{name}", archive.media_type(name), data) for name, data in archive.encode(snapshot).items())
