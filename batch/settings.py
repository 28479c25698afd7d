"""Every setting, frozen, with unit, default and reason.

A setting comes from, strongest first: option, environment (`NIGHTCAP_` prefix, `__` between levels), the YAML file
of `--config`, default. An unknown key anywhere is an error that names it and the nearest known key.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from datetime import date as Date  # noqa: N812  a setting is called date
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, NoReturn, Union, get_args, get_origin
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import idna
import yaml
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
)

from batch.errors import SettingsError

PREFIX = "NIGHTCAP_"
MIB = 1024**2

_LARGEST_INTEGER = 2**63 - 1
_LARGEST_NUMBER = 9e9
"""What still fits where it goes: columns of 64 bits, with cores in nanocores and seconds in nanoseconds."""

_DEEPEST = 20
"""Levels of a YAML tree. Settings have four; one that contains itself has no end."""

_NOT_YAML = (yaml.YAMLError, ValueError, AttributeError, RecursionError)
"""What PyYAML raises for text that is no YAML, and for values that are not what they look like (2026-13-45, "!!int x")."""


def _split(value: object) -> object:
    """Read "a,b" as a list: an environment variable has no other way to say it."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _is_text(value: str) -> bool:
    return "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)


Strings = Annotated[tuple[str, ...], BeforeValidator(_split)]
Numbers = Annotated[tuple[int, ...], BeforeValidator(_split)]
Ratio = Annotated[float, Field(ge=0, le=1)]


def _known_zone(name: str) -> str:
    """Refuse a name that the time zone database does not have."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"there is no time zone {name!r}") from error
    return name


TimeZone = Annotated[str, AfterValidator(_known_zone)]


def setting(default: Any, meaning: str, unit: str = "", **limits: Any) -> Any:
    """Declare a setting with its default, meaning (which includes the reason) and unit."""
    return Field(default=default, description=meaning, json_schema_extra={"unit": unit}, **limits)


class _Group(BaseModel):
    """A group of settings: frozen, and strict about names."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False)

    @field_validator("*")
    @classmethod
    def _usable(cls, value: object) -> object:
        """Refuse what a type allows and nothing can use: numbers that overflow, text that is no UTF-8, paths with a zero byte."""
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, int) and abs(one) > _LARGEST_INTEGER:
                raise ValueError("it is too large, 2^63 - 1 is the most")
            if isinstance(one, float) and abs(one) > _LARGEST_NUMBER:
                raise ValueError(f"it is too large, {_LARGEST_NUMBER:g} is the most")
            if isinstance(one, (str, Path)) and not _is_text(str(one)):
                raise ValueError("it is not text in UTF-8")
        return value


class ClusterSettings(_Group):
    """Which cluster, and how much of it."""

    name: str | None = setting(
        None,
        "Name in the report and in the output path. Default: the kubeconfig context, or the dump folder's name. Required inside a cluster, which does not know its own name.",
    )
    context: str | None = setting(None, "kubeconfig context to use outside a cluster. Default: the current one.")
    namespaces: Strings = setting(
        (), "Namespaces to read; none means all. With namespaces, rights on nodes are not needed and node figures may be unknown."
    )

    @field_validator("namespaces")
    @classmethod
    def _each_once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        """Read a namespace once, however often it is named."""
        return tuple(dict.fromkeys(names))


class RunSettings(_Group):
    """The run itself."""

    now: AwareDatetime | None = setting(
        None,
        "The report's clock, ISO 8601 with a time zone. Default: the real time. Makes output repeatable.",
        ge=datetime(1970, 1, 1, tzinfo=UTC),
        lt=datetime(2200, 1, 1, tzinfo=UTC),
    )
    deadline_seconds: float | None = setting(
        None,
        "Time budget of the whole run. Keep it below the Job's activeDeadlineSeconds so that the run ends by itself, with a report. Default: none.",
        "seconds",
        gt=0,
    )
    reserve_seconds: float = setting(
        90, "Part of the budget kept for rendering and delivery; optional sources not read by then become gaps.", "seconds", ge=0
    )
    job_name: str | None = setting(
        None, "Name of the Job that this pod belongs to (downward API). Part of the run id, so that a retried pod overwrites its own files."
    )
    job_uid: str | None = setting(None, "Uid of that Job (downward API).")
    namespace: str | None = setting(None, "Namespace of this pod (downward API).")
    spool_directory: Path = setting(Path("spool"), "Where artifacts are kept when a destination fails. Must be writable.")
    termination_message_path: Path = setting(
        Path("/dev/termination-log"), "A short result is written here when the file exists; `kubectl describe pod` shows it."
    )


class ApiSettings(_Group):
    """How politely the cluster's API is read."""

    page_size: int = setting(
        500, "Objects asked for at once; the API server's own default for chunked lists in kubectl.", "count", gt=0, le=10_000
    )
    timeout_seconds: float = setting(60, "Longest wait for one answer.", "seconds", gt=0)
    retry_seconds: float = setting(
        120,
        "Longest time spent on repeating one list that fails for passing reasons (429, 5xx, cut connections). After one that was given up, further ones but pods get 15 s each.",
        "seconds",
        ge=0,
    )


class UsageSettings(_Group):
    """What counts as a measurement."""

    max_age_seconds: float = setting(
        600,
        "A measurement older than this at the moment of the snapshot is not used: ten times metrics-server's default resolution.",
        "seconds",
        gt=0,
    )


class SamplingSettings(_Group):
    """How often usage is read in one run; a single reading at 2 a.m. is not a day."""

    samples: int = setting(
        1,
        "Readings of PodMetrics in one run of a live cluster. CPU is then the mean of a pod's samples, memory the largest.",
        "count",
        ge=1,
        le=1000,
    )
    interval_seconds: float = setting(
        60,
        "Time between two readings: at least metrics-server's resolution (15 by default), or the same measurement is read twice and counts once.",
        "seconds",
        ge=1,
    )


class PoolSettings(_Group):
    """How nodes are grouped."""

    label: str | None = setting(
        None,
        "Node label whose value names the node pool. Default: the first of Karpenter's, EKS's, GKE's and AKS's labels that a node has, else its instance type.",
    )


class ProfileSettings(_Group):
    """A set of pods to plan for."""

    name: str = Field(description="Name of the profile, used in the report and in file names.", json_schema_extra={"unit": ""})
    namespace: str | None = setting(None, "Only pods of this namespace. Default: all.")
    selector: str = setting("", "Label selector as in kubectl (=, !=, in, notin, exists). Empty: all pods.")
    pods_per_node: int = setting(
        100, "Pods to plan for on each node. 100 because the kubelet's default limit is 110 and system pods need some.", "count", gt=0
    )


class FlavorSettings(_Group):
    """A node shape to consider besides the catalogue's."""

    name: str = Field(
        description="Name of the flavor as the provider calls it (the node label node.kubernetes.io/instance-type).",
        json_schema_extra={"unit": ""},
    )
    provider: str | None = setting(None, "aws, google or azure; empty for any other.")
    cpu_cores: float = Field(gt=0, description="Cores of the machine.", json_schema_extra={"unit": "cores"})
    memory_bytes: int = Field(gt=0, description="Memory of the machine.", json_schema_extra={"unit": "bytes"})
    gpu_count: int = setting(0, "GPUs of the machine.", "count", ge=0)
    gpu_product: str | None = setting(None, "Product name of those GPUs.")
    gpu_memory_bytes: int | None = setting(None, "Memory of each GPU.", "bytes", gt=0)
    architecture: str = setting("", "CPU architecture as in the node label kubernetes.io/arch (amd64, arm64); empty: unknown, fits all.")
    pod_limit: int | None = setting(
        None, "Pods that a node takes. Default: the provider's, else unknown, and then the flavor is not recommended.", "count", gt=0
    )


class PlanSettings(_Group):
    """The capacity plan."""

    profiles: tuple[ProfileSettings, ...] = setting((), "Profiles besides all running pods and, when present, JupyterHub's user pods.")
    flavors: tuple[FlavorSettings, ...] = setting((), "Flavors besides the catalogue's.")
    flavor_names: Strings = setting(
        (),
        "Names of the flavors to compare; empty: the catalogue's common shapes, the flavors that the cluster has, and those of plan.flavors.",
    )
    memory_thresholds_bytes: Numbers = setting(
        (1000 * MIB, 800 * MIB, 512 * MIB, 256 * MIB, 100 * MIB), "Thresholds over which pods are counted (strictly more than).", "bytes"
    )
    cpu_thresholds_cores: Annotated[tuple[float, ...], BeforeValidator(_split)] = setting(
        (0.1,), "Thresholds over which pods are counted (strictly more than).", "cores"
    )
    typical_quantile: Ratio = setting(
        0.9, "The quantile of use that stands for a typical pod where some pods are outliers at their limit.", "ratio"
    )
    memory_limit_bytes: int | None = setting(
        None, "Memory limit of an outlier. Default: the commonest limit among pods whose containers all have one.", "bytes", gt=0
    )
    outlier_level_bytes: int | None = setting(
        None, "Memory at which a pod counts as an outlier when a node's outliers are counted. Default: the limit.", "bytes", gt=0
    )
    outlier_share: Ratio | None = setting(
        None,
        "Share of pods taken to be outliers, for the chance that a node has more than it withstands. Default: the share of measured pods within a tenth of that level (without one, of their own limit).",
        "ratio",
    )
    overrun_probability_max: Ratio = setting(
        0.01,
        "A flavor is recommended only when the chance that its pods need more than it has is at most this, for memory and for CPU.",
        "ratio",
    )
    measured_ratio_min: Ratio = setting(
        0.8,
        "Share of a profile's pods that have to be measured before a flavor is recommended: what could not be measured is rarely a fair draw, but the pods of busy nodes.",
        "ratio",
    )
    measured_count_min: int = setting(
        10, "Measured pods that a recommendation takes at least: fewer show nothing of what one pod in ten needs.", "count", ge=1
    )


Strategy = Literal["peak", "decayed", "target_ratio"]


class NamespaceStrategySettings(_Group):
    """Another strategy for one namespace."""

    namespace: str = Field(description="Namespace for which it holds.", json_schema_extra={"unit": ""})
    strategy: Strategy = Field(description="peak, decayed or target_ratio.", json_schema_extra={"unit": ""})


class RightsizingSettings(_Group):
    """What workloads should request."""

    strategy: Strategy = setting(
        "peak",
        "Which of the three candidates is recommended: peak (95th percentile of CPU of the busiest pod, memory peak and 15 %), decayed (90th percentile of a decaying histogram and 15 %) or target_ratio.",
    )
    namespaces: tuple[NamespaceStrategySettings, ...] = setting((), "Other strategies for single namespaces.")
    target_usage_ratio: float = setting(
        0.7, "The share of its request that a container's 95th percentile of use should be, for target_ratio.", "ratio", gt=0, le=1
    )
    window_seconds: float = setting(
        2_592_000,
        "How far back samples of earlier nights are used. 30 days: 29 nights are the fewest that bound a 90th percentile.",
        "seconds",
        gt=0,
    )
    samples_min: int = setting(29, "Fewest samples of a container on which advice rests: 29 bound a 90th percentile.", "count", ge=1)
    days_min: int = setting(7, "Fewest days with samples on which advice rests: use follows the week.", "count", ge=1)
    coverage_min: Ratio = setting(0.5, "Smallest share of the samples that could be there on which advice rests.", "ratio")
    memory_hours_min: int = setting(
        12,
        "Hours of the day from which samples must come before a memory request is lowered: too little memory kills, and a nightly sample is no daily peak. 1 takes nights for enough.",
        "count",
        ge=1,
        le=24,
    )
    floor_cpu_cores: float = setting(0.01, "No smaller CPU request is recommended.", "cores", gt=0)
    floor_memory_bytes: int = setting(20 * MIB, "No smaller memory request is recommended.", "bytes", gt=0)
    change_min_ratio: Ratio = setting(0.1, "A smaller change of a request is left out.", "ratio")
    change_min_cpu_cores: float = setting(
        0.1, "Lowering a workload's CPU requests by less than this in all pods together is left out.", "cores", ge=0
    )
    change_min_memory_bytes: int = setting(
        100 * MIB, "Lowering a workload's memory requests by less than this in all pods together is left out.", "bytes", ge=0
    )
    cpu_limits: Literal["remove", "keep"] = setting(
        "remove",
        "What a patch does with CPU limits. remove: a limit throttles also where the node is idle, while requests already share it out. keep: for namespaces whose ResourceQuota counts limits.cpu; a limit below the request is raised to it.",
    )
    patch_files: int = setting(200, "Patch files at most, for the largest changes; patches/kubectl.sh has all of them.", "count", ge=0)


class GpuSettings(_Group):
    """When an accelerator counts as idle, and what the cluster does not say of its cards."""

    idle_ratio: Ratio = setting(
        0.0, "Activity at or below which a sample of an accelerator is idle. The default counts only what did nothing at all.", "ratio"
    )
    idle_seconds: float = setting(
        1800,
        "A pod's accelerators are idle when they were idle for this long before the report: long enough for a pause between batches.",
        "seconds",
        gt=0,
    )
    slots_per_card: dict[str, Annotated[int, Field(gt=0)]] = setting(
        {},
        "How many pods may share one card, by resource (gpu.intel.com/i915: 5), where the device plugin does not say it; cards are unknown otherwise.",
        "count",
    )
    owner_labels: Strings = setting(
        ("owner", "team", "hub.jupyter.org/username", "app.kubernetes.io/part-of"),
        "Pod labels that name who holds an accelerator; the first that a pod has is shown.",
    )
    guest_ratio: Ratio = setting(
        0.1,
        "Pods without accelerators on GPU nodes are a finding where they request more than this share of a node's CPU or memory.",
        "ratio",
    )


class JobSettings(_Group):
    """Jobs, their deadlines, and when CronJobs start."""

    near_deadline_ratio: Ratio = setting(0.1, "A Job is close to its deadline when at most this share of it is left.", "ratio")
    deadline_quantile: Ratio = setting(0.99, "The quantile of the durations of finished runs on which a proposed deadline rests.", "ratio")
    deadline_factor: float = setting(
        2.0, "A proposed deadline is that quantile times this: room for a slow day, and still an end.", "ratio", ge=1
    )
    deadline_min_seconds: int = setting(
        600, "No shorter deadline is proposed: a pod may have to wait for a new node and for its image.", "seconds", gt=0
    )
    runs_min: int = setting(3, "Fewest finished runs on which a proposed deadline rests: what a CronJob keeps by default.", "count", ge=1)
    open_seconds_max: float = setting(
        86_400,
        "An unfinished Job without a deadline that is older than this is looked into, whatever it holds. "
        "Twice its age is proposed for it, where there are no runs to go by; a younger one might end by that before anybody has read of it.",
        "seconds",
        gt=0,
    )
    late_seconds: float = setting(
        120, "A start is late when it is due for longer than this: the controller looks at every CronJob within seconds.", "seconds", ge=0
    )
    controller_time_zone: TimeZone = setting(
        "UTC", "Time zone of the controller manager, in which schedules without timeZone hold. Managed clusters have UTC."
    )
    crowd_count: int = setting(10, "So many starts in one minute are worth a finding.", "count", ge=2)
    pile_count: int = setting(20, "So many finished Jobs that nothing ever deletes are worth a finding.", "count", ge=1)
    patch_files: int = setting(200, "Patch files for deadlines at most; deadlines/kubectl.sh has all of them.", "count", ge=0)


class ScaleSettings(_Group):
    """Where the checks of growth warn and fail; docs/scale.md says who says so."""

    warn_ratio: Ratio = setting(0.8, "Share of a limit from which a check warns.", "ratio")
    nodes_max: int = setting(5_000, 'Most nodes. Kubernetes documentation, "Considerations for large clusters".', "count", gt=0)
    pods_max: int = setting(150_000, "Most pods, by the same page.", "count", gt=0)
    containers_max: int = setting(300_000, "Most containers, by the same page.", "count", gt=0)
    pods_per_node_max: int = setting(110, "Most pods of a node that are tested, by the same page.", "count", gt=0)
    pods_per_namespace_max: int = setting(
        3_000, 'Most pods of one namespace. SIG Scalability, "Kubernetes Scalability thresholds".', "count", gt=0
    )
    services_max: int = setting(10_000, "Most Services, by the same page.", "count", gt=0)
    growth_seconds: float = setting(
        15_552_000,
        "A limit of size that growth will reach sooner than this (180 days) is a warning: time to split a cluster.",
        "seconds",
        gt=0,
    )
    dns_requests_per_second: float = setting(
        200,
        "DNS requests a second of one pod from which the check warns: where those who went to 2,500 nodes met the limit.",
        "per second",
        gt=0,
    )
    etcd_quota_bytes: int = setting(
        2 * 1024 * MIB, "Quota of etcd's database, where etcd does not tell it: its own default (--quota-backend-bytes).", "bytes", gt=0
    )
    dns_cache_nodes: int = setting(100, "Nodes from which DNS without a cache on each node is a warning.", "count", gt=0)
    pull_bytes_per_second: float = setting(
        125_000_000, "Bandwidth at which the time to pull images is estimated: a network card of 1 Gbit/s.", "bytes per second", gt=0
    )
    pull_seconds: float = setting(
        60, "Time to pull one image from which the check warns: the kubelet's former deadline without progress.", "seconds", gt=0
    )
    large_image_bytes: int = setting(1024 * MIB, "An image of at least this size is large.", "bytes", gt=0)
    rare_image_ratio: Ratio = setting(0.1, "An image on at most this share of the nodes is rare: most nodes will have to pull it.", "ratio")
    not_ready_ratio: Ratio = setting(
        0.45, "Share of nodes not ready from which the cluster autoscaler stops (its --max-total-unready-percentage).", "ratio"
    )
    not_ready_count: int = setting(
        3, "Nodes not ready that the cluster autoscaler ignores, whatever their share (its --ok-total-unready-count).", "count", ge=0
    )
    pending_seconds: float = setting(
        600, "A pod that waits longer than this for a node is a warning, six times as long a failure.", "seconds", gt=0
    )
    autoscalers: Annotated[tuple[Literal["cluster-autoscaler", "karpenter"], ...], BeforeValidator(_split)] = setting(
        (),
        "Node autoscalers whose limits are read: cluster-autoscaler (its status ConfigMap), karpenter (its NodePools). Each needs a right of its own, which overlays in k8s/ give; none is asked by default.",
    )


class PriceSettings(_Group):
    """What nodes cost. Nothing is known of it but what stands here; without it the report speaks in nodes, cores and GiB."""

    currency: str | None = setting(None, "Currency of the prices, three capital letters (EUR). Required with prices; the file may name it.")
    file: Path | None = setting(
        None,
        "Prices by flavor: YAML (currency, date, spot, and prices as a mapping) or CSV (columns flavor and per_hour; currency, date and spot if wanted). See docs/flavors.md.",
    )
    per_hour: dict[str, float] = setting({}, "Price of a node for an hour, by flavor; stronger than the file.", "currency per hour")
    gpu_per_hour: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = setting(
        {},
        "Price of one card for an hour, by product as the report names it (NVIDIA-L4), in prices.currency; what idle and stranded cards cost is worked out from it.",
        "currency per hour",
    )
    spot: bool = setting(default=False, meaning="Whether they are prices of spot or preemptible nodes, where the file does not say it.")
    date: Date | None = setting(None, "Day of the prices (2026-08-01), where the file does not say it. Required with prices.")
    max_age_seconds: float = setting(
        7_776_000, "Prices older than this at the moment of the snapshot (90 days) are called old beside every amount.", "seconds", gt=0
    )


class ReportSettings(_Group):
    """The document."""

    formats: Annotated[tuple[Literal["pdf", "html", "json"], ...], BeforeValidator(_split)] = setting(
        ("pdf", "html", "json"), "What to make; report.json and the tables are always made."
    )
    top_rows: int = setting(20, "Rows of a table in the PDF; everything is in the CSV files.", "count", gt=0, le=500)
    pdf_timeout_seconds: float = setting(
        240, "Longest time for making the PDF; afterwards the other formats are delivered without it.", "seconds", gt=0
    )
    pdf_memory_bytes: int | None = setting(None, "Most memory that the process making the PDF may use. Default: no limit.", "bytes", gt=0)


class TrendsSettings(_Group):
    """What is told from the nights before."""

    window_seconds: float = setting(
        7_776_000,
        "How far back nights are read for trends. 90 days: a dozen weeks tell a trend, and what is older tells little of next month.",
        "seconds",
        gt=0,
    )
    horizon_seconds: float = setting(
        31_536_000, "How far ahead a date is told at which room runs out. A year; further ahead it would be a guess.", "seconds", gt=0
    )
    warning_seconds: float = setting(
        2_592_000, "A node pool expected to be full within this time is a warning. 30 days: time to order or to argue.", "seconds", gt=0
    )


class S3Settings(_Group):
    """Access to S3-compatible storage; empty values leave boto3's own chain (environment, web identity, instance role) in charge."""

    endpoint_url: str | None = setting(None, "Endpoint of the store. Default: AWS.")
    region: str | None = setting(None, "Region of the bucket. Default: boto3's own chain.")
    addressing: Literal["auto", "path", "virtual"] = setting(
        "auto", "How the bucket gets into the address; stores without wildcard DNS need path."
    )
    access_key_id: str | None = setting(None, "Access key. Default: boto3's own chain.")
    secret_access_key: SecretStr | None = setting(None, "Secret key.")
    session_token: SecretStr | None = setting(None, "Session token of temporary credentials.")
    ca_file: Path | None = setting(
        None, "CA certificates (PEM) of the store. Default: the file that AWS_CA_BUNDLE names, else those that come with botocore."
    )
    timeout_seconds: float = setting(60, "Longest wait for a connection or an answer.", "seconds", gt=0)
    proxy_url: str | None = setting(None, "Proxy to the store. Default: HTTPS_PROXY, HTTP_PROXY and NO_PROXY.")
    sse: Literal["AES256", "aws:kms", "aws:kms:dsse"] | None = setting(
        None,
        "Server-side encryption to ask for with every object. Default: the bucket's own. A store that does not confirm it is an error.",
    )
    kms_key_id: str | None = setting(None, "KMS key for aws:kms. Default: the account's own key for S3.")
    storage_class: str | None = setting(None, "Storage class of every object, such as STANDARD_IA. Default: the bucket's own.")
    tags: dict[str, str] = setting({}, "Tags of every object; the key then needs s3:PutObjectTagging too. At most ten.", max_length=10)
    index_links: Literal["relative", "presigned"] = setting(
        "relative",
        "How index.html and latest/index.html link to reports. relative: for a static site, a mounted bucket or a folder. presigned: whoever may open the page can open the newest reports by it, until the links end; never for a page that everybody can read.",
    )
    link_seconds: float = setting(
        604_800,
        "How long presigned links are asked to live. Seven days is the most that S3 takes; credentials that end earlier shorten it.",
        "seconds",
        gt=0,
        le=604_800,
    )


class RetentionSettings(_Group):
    """How long reports are kept."""

    days: int | None = setting(
        None,
        "Runs of earlier dates than this many days, tonight's included, are deleted from every output after each delivery; what later runs remember (history/) stays, and so does the newest complete run. Default: nothing is deleted.",
        "days",
        ge=1,
    )


def _address(value: str) -> str:
    """Take what can be one mail address and nothing more: a line break would begin a header of its own."""
    if not re.fullmatch(r"[^\s<>()\[\],;:\\\"@]+@[^\s<>()\[\],;:\\\"@]+", value) or not value.isprintable():
        raise ValueError("is no mail address of the form name@example.com")
    to_ascii(value)
    return value


def to_ascii(address: str) -> str:
    """Write the domain of an address in the letters that every server knows (IDNA); ValueError when it is no domain."""
    local, _, domain = address.rpartition("@")
    try:
        if domain.isascii():
            domain.encode("idna")  # looks at the lengths of its parts
            return address
        return f"{local}@{idna.encode(domain, uts46=True).decode('ascii')}"
    except UnicodeError as error:
        raise ValueError(f"is no mail address: {domain} is no domain") from error


def _sender(address: str) -> str:
    """Take a sender that every server can carry, whoever the recipients are."""
    if not address.rpartition("@")[0].isascii():
        raise ValueError("has letters before the @ that not every server carries; take plain ones for the sender")
    return to_ascii(address)


Address = Annotated[str, AfterValidator(_address)]


class MailSettings(_Group):
    """The report by mail, besides the outputs. See docs/mail.md."""

    host: str | None = setting(None, "Mail server (SMTP). Default: no mail is sent.")
    port: int | None = setting(None, "Its port. Default: 587 for starttls, 465 for tls, 25 for none.", gt=0, le=65_535)
    security: Literal["starttls", "tls", "none"] = setting(
        "starttls",
        "starttls: encrypt after the greeting, or stop; tls: encrypt from the first byte; none: in clear, which rules out a password.",
    )
    ca_file: Path | None = setting(None, "CA certificates (PEM) of the server. Default: those of the system.")
    username: str | None = setting(None, "Login. Default: none.")
    password: SecretStr | None = setting(None, "Password of that login.")
    sender: Annotated[Address, AfterValidator(_sender)] | None = setting(None, "Address of the sender. Required with mail.host.")
    recipients: Annotated[tuple[Address, ...], BeforeValidator(_split)] = setting(
        (), "Addresses of the recipients. Required with mail.host."
    )
    when: Literal["always", "warning"] = setting(
        "always", "always: every night; warning: only when a finding is at least a warning, or something of the run failed."
    )
    attach_pdf: bool = setting(default=True, meaning="Attach report.pdf where it fits; else, and where it does not, the mail links to it.")
    message_bytes_max: int = setting(
        20_000_000,
        "Largest message, as encoded; a smaller limit of the server counts. Many servers on the way take 25 MB or less.",
        "bytes",
        gt=0,
    )
    report_url: str | None = setting(
        None, "Address at which the first output can be opened, such as that of a static site; links are made of it instead of presigned."
    )
    link_seconds: float = setting(
        604_800,
        "How long presigned links in the mail are asked to live; credentials that end earlier shorten it, and the mail says when.",
        "seconds",
        gt=0,
        le=604_800,
    )
    timeout_seconds: float = setting(30, "Longest wait for the server's answer.", "seconds", gt=0)
    attempts: int = setting(3, "Tries, where the server or the way to it fails for passing reasons.", "count", ge=1, le=10)


_SELECTOR = r"^\s*([a-zA-Z_][a-zA-Z0-9_]*\s*(=|!=|=~|!~)\s*\"([^\"\\\n]|\\.)*\"\s*(,\s*|$))*$"
"""Label matchers as PromQL has them between its braces."""


class PrometheusSettings(_Group):
    """A Prometheus-compatible API with the usage of the last days: Prometheus, Thanos, Mimir, VictoriaMetrics, and managed ones."""

    url: str | None = setting(
        None,
        "Address of the API, up to but without /api/v1; a path prefix belongs to it (https://metrics.example.com/prometheus). Default: none is asked.",
        pattern=r"^https?://[^\s@?#]+$",
    )
    window_seconds: float = setting(
        604_800, "How far back usage is asked for, from the moment of the snapshot. 7 days: use follows the week.", "seconds", ge=3600
    )
    step_seconds: int = setting(
        300,
        "Time over which CPU is averaged into one sample. Shorter finds shorter peaks and costs the server as many times more.",
        "seconds",
        ge=15,
    )
    instant_seconds: int = setting(
        3600, "Time between the instants at which all pods are looked at together; on large clusters a multiple of it.", "seconds", ge=300
    )
    instant_rows_max: int = setting(
        2_000_000,
        "Most containers times instants that are read; more containers get fewer instants. Each takes 32 bytes of memory.",
        "count",
        ge=1000,
    )
    selector: str = setting(
        "",
        'Label matchers that every query gets (cluster="prod"): required where a store holds several clusters, for figures of two clusters are never mixed.',
        pattern=_SELECTOR,
    )
    parameters: dict[str, str] = setting({}, "Parameters that every request gets, such as dedup or partial_response of Thanos.")
    headers: dict[str, SecretStr] = setting({}, "Headers that every request gets, such as X-Scope-OrgID of Mimir.")
    token_file: Path | None = setting(None, "File with a bearer token; read anew for every request, for tokens are renewed.")
    username: str | None = setting(None, "User name for basic authentication.")
    password: SecretStr | None = setting(None, "Password for basic authentication.")
    ca_file: Path | None = setting(None, "CA certificates (PEM) of the API. Default: those of the system.")
    client_certificate_file: Path | None = setting(None, "Certificate (PEM) to show to the API (mTLS), with its key or with the next one.")
    client_key_file: Path | None = setting(None, "Key (PEM) of that certificate.")
    sigv4_region: str | None = setting(
        None, "Region for which requests are signed (AWS SigV4, for Amazon Managed Service for Prometheus). Default: they are not signed."
    )
    sigv4_service: str = setting("aps", "Service for which requests are signed.")
    timeout_seconds: float = setting(60, "Longest wait for one answer. A query that takes longer is asked again in parts.", "seconds", gt=0)
    retry_seconds: float = setting(
        120, "Longest time spent on repeating queries that fail for passing reasons (429, 5xx, cut connections).", "seconds", ge=0
    )
    budget_seconds: float = setting(900, "Longest time for all queries together; what is not answered by then is a gap.", "seconds", gt=0)
    parallelism: int = setting(
        2, "Queries at the same time. A server runs 20 at once by default, and others ask as well.", "count", ge=1, le=32
    )
    queries_max: int = setting(2000, "Most requests in one run, repetitions included.", "count", ge=1)
    series_per_query: int = setting(
        5000,
        "Most series that one query reads over the whole window: a week of 5,000 in steps of 5 minutes is 10 million samples at once in the server, which takes 50 million by default.",
        "count",
        ge=10,
    )
    points_per_query: int = setting(
        250_000, "Most values that one answer is planned to hold: about 10 MB. Larger ones are asked for in parts.", "count", ge=11_000
    )
    answer_bytes_max: int = setting(256 * MIB, "Largest answer that is read; a larger one is asked for in parts.", "bytes", ge=MIB)


class LogSettings(_Group):
    """Messages on stderr."""

    level: Literal["error", "warning", "info", "debug"] = setting("info", "Least severe message that is written.")
    format: Literal["text", "json"] = setting("text", "json writes one object a line, for log collectors.")


class Settings(_Group):
    """All settings."""

    source: str = setting("cluster", "What is read: cluster, sample, dump:DIR or snapshot:URL.")
    outputs: Strings = setting((), "Where the report goes: folders, file: or s3:// URLs. Required inside a cluster; ./out elsewhere.")
    cluster: ClusterSettings = ClusterSettings()
    run: RunSettings = RunSettings()
    api: ApiSettings = ApiSettings()
    usage: UsageSettings = UsageSettings()
    sampling: SamplingSettings = SamplingSettings()
    pools: PoolSettings = PoolSettings()
    plan: PlanSettings = PlanSettings()
    prices: PriceSettings = PriceSettings()
    rightsizing: RightsizingSettings = RightsizingSettings()
    gpu: GpuSettings = GpuSettings()
    jobs: JobSettings = JobSettings()
    scale: ScaleSettings = ScaleSettings()
    report: ReportSettings = ReportSettings()
    prometheus: PrometheusSettings = PrometheusSettings()
    trends: TrendsSettings = TrendsSettings()
    s3: S3Settings = S3Settings()
    retention: RetentionSettings = RetentionSettings()
    mail: MailSettings = MailSettings()
    log: LogSettings = LogSettings()


def load(options: Mapping[str, object], environment: Mapping[str, str], config: Path | None) -> Settings:
    """Merge options (keys like "cluster.name"), environment and file into one Settings.

    Raises SettingsError for an unreadable file, an unknown key or a value of the wrong type.
    """
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, tree in (
        (f"file {config}", _read_file(config)),
        ("environment", _from_environment(environment)),
        ("option", _from_options(options)),
    ):
        _check_names(tree, Settings, origin, ())
        _merge(merged, tree, origin, origins, ())
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise _wrong_value(error, origins) from error


def environment_name(path: tuple[str, ...]) -> str:
    """Name of the environment variable of a setting."""
    return PREFIX + "__".join(path).upper()


def leaves(model: type[BaseModel] = Settings, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield (path, pydantic field) of every single setting, in order of declaration."""
    for name, info in model.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from leaves(info.annotation, (*path, name))
        else:
            yield (*path, name), info


def items() -> Iterator[tuple[tuple[str, ...], type[BaseModel]]]:
    """Yield (path, model of an item) of every setting that is a list of groups."""
    for path, info in leaves():
        if group := _group_of(info.annotation):
            yield path, group


def _read_file(config: Path | None) -> dict[str, Any]:
    if config is None:
        return {}
    attempted = f"read the settings file {config}"
    try:
        text = config.read_text(encoding="utf-8")
    except OSError as error:
        raise SettingsError(
            "config-unreadable", attempted=attempted, why=error.strerror or str(error), remedy="Check the path given to --config."
        ) from error
    except ValueError as error:
        raise SettingsError("config-not-yaml", attempted=attempted, why=str(error), remedy="Write it in UTF-8.") from error
    tree = _parse(text, attempted)
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise SettingsError(
            "config-not-yaml",
            attempted=attempted,
            why="it is not a mapping of setting names",
            remedy="See docs/settings.md for an example.",
        )
    return tree


def _parse(text: str, attempted: str) -> object:
    try:
        return read_yaml(text)
    except ValueError as error:
        raise SettingsError("config-not-yaml", attempted=attempted, why=str(error), remedy="Correct the YAML at that place.") from error


def read_yaml(text: str) -> object:
    """Read YAML. The ValueError tells the place and the trouble, not the text there: it may be a secret."""
    try:
        tree = yaml.safe_load(text)
    except _NOT_YAML as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        trouble = getattr(error, "problem", None) or (str(error) if type(error) is ValueError else "a value is not what it looks like")
        raise ValueError(f"{place}{trouble}") from error
    if _is_deep(tree, _DEEPEST):
        raise ValueError(f"it has more than {_DEEPEST} levels, or contains itself")
    return tree


def _is_deep(tree: object, levels: int) -> bool:
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return bool(parts) and (levels == 0 or any(_is_deep(part, levels - 1) for part in parts))


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, text in sorted(environment.items()):
        if name.startswith(PREFIX):
            value = _parse(text, f"read {name} from the environment") if text[:1] in ("[", "{") else text
            _put(tree, tuple(name.removeprefix(PREFIX).lower().split("__")), value)
    return tree


def _from_options(options: Mapping[str, object]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, value in options.items():
        if value not in (None, ()):
            _put(tree, tuple(name.split(".")), value)
    return tree


def _put(tree: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    for depth, part in enumerate(path[:-1], start=1):
        tree = tree.setdefault(part, {})
        if not isinstance(tree, dict):
            raise SettingsError(
                "settings-value",
                attempted=f"use {environment_name(path)} from the environment",
                why=f"{environment_name(path[:depth])} is set too, to a value that has no parts",
                remedy="Unset one of the two.",
            )
    tree[path[-1]] = value


def _merge(target: dict[str, Any], tree: Mapping[str, Any], origin: str, origins: dict[str, str], path: tuple[str, ...]) -> None:
    for name, value in tree.items():
        here = (*path, str(name))
        if isinstance(value, dict):
            if not isinstance(target.get(name), dict):
                target[name] = {}
            _merge(target[name], value, origin, origins, here)
        else:
            target[name] = value
        origins[".".join(here)] = origin


def _check_names(tree: object, model: type[BaseModel], origin: str, path: tuple[str, ...], *, in_item: bool = False) -> None:
    """Raise for the first key that `model` does not have, with the nearest one that it has. `in_item`: inside a list of groups."""
    if not isinstance(tree, Mapping):
        dotted = ".".join(path)
        raise SettingsError(
            "settings-value",
            attempted=f"use {dotted} from the {origin}",
            why=f"{dotted} is a group of settings, not a value",
            remedy=f"Known there: {', '.join(sorted(model.model_fields))}.",
        )
    for name, value in tree.items():
        if name not in model.model_fields:
            _refuse_name((*path, str(name)), origin, as_variable=origin == "environment" and not in_item)
        inner = _group_of(model.model_fields[name].annotation)
        if inner is None:
            continue
        for item in value if isinstance(value, list) else [value]:
            _check_names(item, inner, origin, (*path, name), in_item=in_item or isinstance(value, list))


def _refuse_name(path: tuple[str, ...], origin: str, *, as_variable: bool) -> NoReturn:
    """Raise for a name that no setting has; a part of an item is no variable of its own, so it is told by its dotted name."""
    parts = [(*item, *part) for item, model in items() for part, _ in leaves(model)]
    known = {".".join(name): name for name in [*(name for name, _ in leaves()), *parts]}
    near = known[difflib.get_close_matches(".".join(path), known, n=1, cutoff=0.0)[0]]
    shown, nearest = (environment_name(name) if as_variable else ".".join(name) for name in (path, near))
    raise SettingsError(
        "settings-unknown-key",
        attempted=f"use {shown} from the {origin}",
        why="there is no such setting",
        remedy=f"The nearest one is {nearest}; `python -m batch settings` lists all.",
    )


def _group_of(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (tuple, Union, UnionType, Annotated):
        return next((group for arg in get_args(annotation) if (group := _group_of(arg))), None)
    return None


def _wrong_value(error: ValidationError, origins: Mapping[str, str]) -> SettingsError:
    first = error.errors()[0]
    dotted = ".".join(str(part) for part in first["loc"])
    origin = next((where for name, where in origins.items() if dotted.startswith(name)), "settings")
    return SettingsError(
        "settings-value",
        attempted=f"use {dotted} from the {origin}",
        why=first["msg"][:1].lower() + first["msg"][1:],
        remedy="`python -m batch settings` shows its type and unit.",
    )
