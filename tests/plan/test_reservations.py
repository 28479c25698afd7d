from __future__ import annotations

import pytest

from batch.plan.reservations import RESERVATIONS, Machine, allocatable, minor_version
from tests.builders import CORE, GIB, MIB

KIB = 1024


def machine(name: str, cores: int, gib: float, **more: int | bool) -> Machine:
    return Machine(name, cores * CORE, int(gib * GIB), **more)  # type: ignore[arg-type]  # each of its own type


def reserved(provider: str, of: Machine, capacity: int) -> tuple[int, int]:
    formula = RESERVATIONS[provider]
    memory = formula.memory(of, capacity)
    assert memory is not None
    return formula.cpu(of), memory


# What nodes report: 2i2c-org/infrastructure#2121 (GKE 1.25); the n1-highmem-8 is made up in tests/data/mybinder, its capacity whole 52 GiB.
@pytest.mark.parametrize(
    ("name", "cores", "gib", "capacity_kib", "allocatable_kib", "millicores", "off_mib"),
    [
        ("n2-highmem-4", 4, 32, 32880872, 29085928, 3920, 1),
        ("n2-highmem-16", 16, 128, 131919220, 122210676, 15890, 30),
        ("n2-highmem-64", 64, 512, 528365196, 510603916, 63770, 5),
        ("n1-highmem-8", 8, 52, 54525952, 49429504, 7910, 2),
    ],
)
def test_gke_reserves_what_its_nodes_report(
    name: str, cores: int, gib: int, capacity_kib: int, allocatable_kib: int, millicores: int, off_mib: int
) -> None:
    cpu, memory = reserved("google", machine(name, cores, gib), capacity_kib * KIB)
    assert cpu == cores * CORE - millicores * 10**6
    assert abs(capacity_kib * KIB - memory - allocatable_kib * KIB) <= off_mib * MIB


# t2.micro and t3.large as their nodes report them: the difference is 11 MiB for each of 4 and 29 pods, 255 MiB and 100 MiB
@pytest.mark.parametrize(("gib", "pods", "capacity_kib", "allocatable_kib"), [(1, 4, 938840, 530264), (8, 29, 8003260, 7313084)])
def test_eks_reserves_exactly_what_its_nodes_report(gib: int, pods: int, capacity_kib: int, allocatable_kib: int) -> None:
    cpu, memory = reserved("aws", machine("t", 2, gib, pod_limit=pods), capacity_kib * KIB)
    assert (cpu, memory) == (70 * 10**6, (capacity_kib - allocatable_kib) * KIB)


# Azure/AKS#3525 (Standard_F2s_v2) and #1216, both before 1.29: 25 % of 4 GiB, and of 16 GiB 1024 + 819.2 + 819.2 MiB, with 750 MiB
@pytest.mark.parametrize(("gib", "capacity_kib", "allocatable_kib", "off_mib"), [(4, 4025836, 2209260, 0), (16, 16403296, 12909408, 1)])
def test_aks_reserved_by_size_before_1_29(gib: int, capacity_kib: int, allocatable_kib: int, off_mib: int) -> None:
    _, memory = reserved("azure", machine("s", 2, gib, minor_version=28), capacity_kib * KIB)
    assert abs(memory - (capacity_kib - allocatable_kib) * KIB) <= off_mib * MIB


def test_aks_reserves_by_pods_since_1_29() -> None:
    # kubelets of 8 cores and 110 pods run with --kube-reserved=cpu=180m,memory=2250Mi and memory.available<100Mi
    for version in (29, None):
        of = Machine("s", 8 * CORE, 32 * GIB, pod_limit=110, minor_version=version)
        assert reserved("azure", of, 0) == (180 * 10**6, 2350 * MIB)
    # a quarter of 4 GiB is less than 20 MiB for each of 70 pods and 50 MiB
    assert reserved("azure", machine("s", 1, 4, pod_limit=70), 0) == (60 * 10**6, 1124 * MIB)


@pytest.mark.parametrize(("cores", "millicores"), [(1, 60), (2, 100), (4, 140), (8, 180), (16, 260), (32, 420), (64, 740)])
def test_aks_reserves_cpu_by_the_published_table(cores: int, millicores: int) -> None:
    assert RESERVATIONS["azure"].cpu(machine("s", cores, 8)) == millicores * 10**6


def test_small_and_crowded_gke_nodes() -> None:
    assert reserved("google", machine("e2-micro", 2, 1), GIB - 1) == (1060 * 10**6, 355 * MIB)
    assert RESERVATIONS["google"].cpu(machine("n2-standard-2", 2, 8, pod_limit=256)) == 470 * 10**6


# Karpenter's reference of instance types (AL2023), which takes off 7.5 % first: 8192 - 615 - 674 MiB = 6903 MiB
@pytest.mark.parametrize(
    ("name", "cores", "gib", "pods", "mib", "millicores"),
    [
        ("m5.large", 2, 8, 29, 6903, 1930),
        ("m5.4xlarge", 16, 64, 234, 57691, 15890),
        ("m7g.2xlarge", 8, 32, 58, 29258, 7910),
        ("p4d.24xlarge", 96, 1152, 737, 1082712, 95690),
    ],
)
def test_what_is_bought_leaves_what_karpenter_reckons(name: str, cores: int, gib: int, pods: int, mib: int, millicores: int) -> None:
    found = allocatable("aws", machine(name, cores, gib, arm=name.startswith("m7g"), pod_limit=pods))
    assert found == (millicores * 10**6, mib * MIB)


def test_the_estimated_capacity_of_gke_nodes_is_near_what_they_report() -> None:
    # 32 GiB: the kernel takes 512 + 16 + 64 + 57.3 MiB; n2-highmem-4 reports 32880872 KiB
    capacity = RESERVATIONS["google"].capacity(machine("n2-highmem-4", 4, 32))
    assert capacity == 32 * GIB - 592 * MIB - 60129543  # 0.00175 * 32 GiB = 60129542.1 bytes, rounded up
    assert abs(capacity - 32880872 * KIB) < 10 * MIB


def test_what_a_formula_needs_and_nobody_knows_leaves_the_size_unknown() -> None:
    assert allocatable("aws", machine("m", 4, 16)) is None
    assert allocatable("azure", machine("s", 4, 16)) is None
    assert allocatable("on-prem", machine("x", 4, 16, pod_limit=110)) is None
    assert allocatable(None, machine("x", 4, 16, pod_limit=110)) is None


@pytest.mark.parametrize(("text", "minor"), [("v1.28.3", 28), ("1.31+", 31), ("v1.30.6-gke.1125000", 30), ("v2.0", None), (None, None)])
def test_the_minor_version_is_read_from_what_providers_write(text: str | None, minor: int | None) -> None:
    assert minor_version(text) == minor
