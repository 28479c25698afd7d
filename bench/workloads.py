"""Workloads: what a cluster of many teams runs, drawn at random: controllers, containers, sizes, owners."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from bench.amounts import GIB, GPU, MIB, STORAGE, Amounts, Container, effective_limits, effective_requests
from bench.dice import Dice

_NAMES = ("api", "web", "worker", "sync", "index", "search", "store", "queue", "feed", "mail")
_MILLICORES = (10, 25, 50, 50, 100, 100, 100, 200, 250, 250, 300, 500, 500, 750, 1000, 1000, 1500, 2000)
_MEBIBYTES_A_CORE = (1024, 2048, 2048, 4096)
_LARGEST_JOB = 200
_DEPLOYMENT_SIZES = (5,) * 100 + (30,) * 8 + (250,)
"""Half of the pods in Deployments of 5, a quarter each of 30 and of 250: the load of Kubernetes' own scalability tests
(kubernetes/perf-tests, clusterloader2/testing/load)."""
_TEAMS = 40
_TIME_OF_RUN = "-29671200"
"""What a CronJob appends to its name for a Job: the scheduled minute since 1970."""

KINDS = (("Deployment", 0.55), ("StatefulSet", 0.15), ("Job", 0.18), ("CronJob", 0.12))
"""Controllers and their shares of the workloads. CronJob is a Job that a CronJob owns."""

NODE_AGENTS = (("node-proxy", 100, 64), ("cni-agent", 100, 128), ("node-exporter", 50, 64), ("log-agent", 100, 256))
"""DaemonSets on every node: name, millicores, MiB."""


@dataclass(frozen=True)
class Workload:
    """One controller and the template of its pods. `state` is what its pods are in, unless there is no room for them."""

    kind: str
    namespace: str
    name: str
    uid: str
    template_hash: str
    replicas: int
    state: str
    containers: tuple[Container, ...]
    inits: tuple[Container, ...] = ()
    overhead: Amounts = field(default_factory=dict)
    pod_level: Amounts = field(default_factory=dict)
    load: float = 0.3
    selects_nodes: bool = False
    requests: Amounts = field(init=False)
    limits: Amounts = field(init=False)

    def __post_init__(self) -> None:
        """Work out once what every pod of it holds."""
        requests = effective_requests(self.containers, self.inits, self.overhead, self.pod_level)
        object.__setattr__(self, "requests", requests)
        object.__setattr__(self, "limits", effective_limits(self.containers, self.inits, self.overhead))

    @property
    def running(self) -> tuple[Container, ...]:
        """The containers that run side by side."""
        return (*self.containers, *(c for c in self.inits if c.sidecar))

    @property
    def owner_kind(self) -> str:
        """Kind of what owns the pods."""
        return {"Deployment": "ReplicaSet", "CronJob": "Job"}.get(self.kind, self.kind)

    @property
    def owner_name(self) -> str:
        """Name of what owns the pods."""
        return f"{self.name}-{self.template_hash}" if self.kind == "Deployment" else self.name


def draw_workload(dice: Dice, number: int) -> Workload:
    """Draw the workload of that number."""
    kind = _draw_kind(dice)
    share = max(dice.share(), 1e-6)
    job_size = min(_LARGEST_JOB, int(share**-0.9))
    sizes = {"Deployment": dice.pick(_DEPLOYMENT_SIZES), "StatefulSet": 1 + int(8 * share * share), "Job": job_size, "CronJob": 1}
    workload = Workload(
        kind=kind,
        namespace=f"team-{1 + int(_TEAMS * dice.share() ** 1.7):02}",
        name=f"{dice.pick(_NAMES)}-{number:05}{_TIME_OF_RUN if kind == 'CronJob' else ''}",
        uid=dice.uid(),
        template_hash=dice.suffix(10),
        replicas=sizes[kind],
        state=_draw_state(dice, kind),
        containers=_draw_containers(dice),
        load=0.02 + dice.share() ** 2,
        selects_nodes=dice.chance(0.1),
    )
    return _vary(dice, workload)


def node_agent(dice: Dice, name: str, millicores: int, mebibytes: int, replicas: int) -> Workload:
    """Give a DaemonSet."""
    requests = {"cpu": millicores, "memory": mebibytes * MIB}
    main = Container("main", _draw_image(dice), requests, {"memory": 2 * mebibytes * MIB})
    return Workload("DaemonSet", "kube-system", name, dice.uid(), dice.suffix(10), replicas, "Running", (main,))


def _draw_kind(dice: Dice) -> str:
    share = dice.share()
    for kind, probability in KINDS:
        share -= probability
        if share < 0:
            return kind
    return KINDS[-1][0]


def _draw_state(dice: Dice, kind: str) -> str:
    if kind in ("Job", "CronJob"):
        return dice.pick(("Succeeded", "Succeeded", "Succeeded", "Failed", "Running", "Running"))
    return "Crashing" if dice.chance(0.01) else "Starting" if dice.chance(0.01) else "Running"


def _draw_containers(dice: Dice) -> tuple[Container, ...]:
    containers = [Container("main", _draw_image(dice), *_draw_amounts(dice))]
    if dice.chance(0.2):
        proxy = {"cpu": 100, "memory": 128 * MIB}, {"cpu": 2000, "memory": GIB}
        containers.append(Container("proxy", _draw_image(dice), *proxy))
    if dice.chance(0.12):
        containers.append(Container("exporter", _draw_image(dice)))
    return tuple(containers)


def _draw_amounts(dice: Dice) -> tuple[Amounts, Amounts]:
    """Draw requests and limits: Guaranteed, Burstable of several kinds, or BestEffort."""
    cpu = dice.pick(_MILLICORES)
    memory = cpu * dice.pick(_MEBIBYTES_A_CORE) // 1000 * MIB if dice.chance(0.9) else (50 + cpu) * 10**6
    requests = {"cpu": cpu, "memory": memory}
    if dice.chance(0.15):
        requests[STORAGE] = (1 + dice.below(4)) * GIB
    if dice.chance(0.06):
        return {}, {}
    if dice.chance(0.25):
        return requests, dict(requests)
    if dice.chance(0.1):
        return requests, {}
    limits = {"memory": memory * (1 + dice.below(3))}
    return requests, limits | ({"cpu": cpu * dice.pick((1, 2, 2, 4))} if dice.chance(0.5) else {})


def _vary(dice: Dice, workload: Workload) -> Workload:
    """Add what makes the scheduler's rule more than a sum."""
    main, *others = workload.containers
    if workload.kind in ("Job", "Deployment") and dice.chance(0.01):
        count = dice.pick((1, 1, 1, 2, 4, 8))
        requests = {"cpu": 4000 * count, "memory": 32 * GIB * count, GPU: count}
        main, workload = replace(main, requests=requests, limits=requests), replace(workload, replicas=min(8, workload.replicas))
    elif dice.chance(0.002):  # larger than any node, so that it waits
        main, workload = replace(main, requests={"cpu": 200_000, "memory": 512 * GIB}, limits={}), replace(workload, replicas=2)
    elif workload.state == "Running" and not others and main.requests and dice.chance(0.01):
        main = replace(main, allocated=main.requests | {"cpu": 2 * main.requests["cpu"]})
    inits = []
    if dice.chance(0.2):
        ask = {"cpu": 2000, "memory": 4 * GIB} if dice.chance(0.3) else {"cpu": 50, "memory": 64 * MIB}
        inits.append(Container("prepare", _draw_image(dice), ask, dict(ask)))
    if dice.chance(0.1):
        agent = Container("agent", _draw_image(dice), {"cpu": 50, "memory": 64 * MIB}, {"memory": 256 * MIB}, sidecar=True)
        inits.insert(dice.below(len(inits) + 1), agent)
    overhead = {"cpu": 250, "memory": 160 * MIB} if dice.chance(0.03) else {}
    varied = replace(workload, containers=(main, *others), inits=tuple(inits), overhead=overhead)
    if not varied.requests.get(GPU) and not main.allocated and dice.chance(0.02):
        sums = effective_requests(varied.containers, varied.inits, {}, {})
        return replace(varied, pod_level={"cpu": sums.get("cpu", 0) + 100, "memory": sums.get("memory", 0) + 64 * MIB})
    return varied


def _draw_image(dice: Dice) -> str:
    return f"registry.example/team-{1 + dice.below(_TEAMS):02}/{dice.suffix(6)}:v1.{dice.below(40)}.{dice.below(10)}"
