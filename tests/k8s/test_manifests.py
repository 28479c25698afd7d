import re
import shutil
import subprocess
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

import batch
from batch import pipeline, preflight
from batch.collect.source import FILE_NAMES, OF_AUTOSCALERS
from batch.errors import CollectError, DeliverError, RenderError, SettingsError
from batch.plan.flavors import check_names
from batch.plan.profiles import given_profiles
from batch.settings import Settings, load
from tests.kube.fake import FakeKube, rules_from_manifests, write_kubeconfig
from tests.worlds import world

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sysconfig.get_path("scripts"))
INSTALLATIONS = ("base", "overlays/s3", "overlays/mail", "overlays/namespaced", "overlays/preflight", "overlays/prometheus")
READ = [kind for kind in FILE_NAMES if kind not in OF_AUTOSCALERS.values()]

# What the contract lists as kinds of a dump, and the metrics API.
NAMESPACED = {
    ("", "pods"),
    ("", "resourcequotas"),
    ("", "services"),
    ("apps", "daemonsets"),
    ("apps", "deployments"),
    ("apps", "replicasets"),
    ("apps", "statefulsets"),
    ("autoscaling", "horizontalpodautoscalers"),
    ("batch", "cronjobs"),
    ("batch", "jobs"),
    ("metrics.k8s.io", "pods"),
    ("policy", "poddisruptionbudgets"),
    ("resource.k8s.io", "resourceclaims"),
}
CLUSTER_WIDE = {
    ("", "namespaces"),
    ("", "nodes"),
    ("metrics.k8s.io", "nodes"),
    ("resource.k8s.io", "deviceclasses"),
    ("resource.k8s.io", "resourceslices"),
}


@cache
def objects(name: str) -> tuple[dict[str, Any], ...]:
    built = subprocess.run([PROGRAMS / "kubectl", "kustomize", ROOT / "k8s" / name], capture_output=True, text=True, check=True)
    return tuple(yaml.safe_load_all(built.stdout))


def of_kind(name: str, kind: str) -> list[dict[str, Any]]:
    return [thing for thing in objects(name) if thing["kind"] == kind]


def job(name: str) -> dict[str, Any]:
    (cronjob,) = of_kind(name, "CronJob")
    return dict(cronjob["spec"]["jobTemplate"]["spec"])


def pod(name: str) -> dict[str, Any]:
    if name == "reading-pod":
        return dict(yaml.safe_load((ROOT / "k8s/reading-pod.yaml").read_text())["spec"])
    return dict(job(name)["template"]["spec"])


def settings(name: str, folder: Path, change: Any = None) -> Settings:
    """Load what the container would: the mounted file and its environment. An unknown name in either raises."""
    (container,) = pod(name)["containers"]
    (config_map,) = of_kind(name, "ConfigMap")
    text = config_map["data"]["config.yaml"]
    file = folder / "config.yaml"
    file.write_text(change(text) if change else text)
    return load({}, {variable["name"]: variable.get("value", "given") for variable in container["env"]}, file)


def rights(role: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def reading(kinds: set[tuple[str, str]]) -> set[tuple[str, str, str]]:
    return {(group, resource, verb) for group, resource in kinds for verb in ("get", "list")}


@pytest.mark.parametrize("name", INSTALLATIONS)
def test_kubernetes_accepts_every_object(name: str) -> None:
    for thing in objects(name):
        kubernetes_validate.validate(thing, "1.37", strict=True)


def test_kubernetes_accepts_the_reading_pod() -> None:
    kubernetes_validate.validate(yaml.safe_load((ROOT / "k8s/reading-pod.yaml").read_text()), "1.37", strict=True)


@pytest.mark.parametrize(
    ("component", "kind", "rule"),
    [
        ("karpenter", "ClusterRole", {"apiGroups": ["karpenter.sh"], "resources": ["nodepools"]}),
        ("cluster-autoscaler", "Role", {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["cluster-autoscaler-status"]}),
    ],
)
@pytest.mark.parametrize("name", INSTALLATIONS)
def test_a_component_adds_one_right_to_any_installation(name: str, component: str, kind: str, rule: dict[str, Any], tmp_path: Path) -> None:
    shutil.copytree(ROOT / "k8s", tmp_path / "k8s")
    site = tmp_path / "site"
    site.mkdir()
    parts = {"resources": [f"../k8s/{name}"], "components": [f"../k8s/components/{component}"]}
    (site / "kustomization.yaml").write_text(yaml.safe_dump({"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", **parts}))
    built = subprocess.run([PROGRAMS / "kubectl", "kustomize", site], capture_output=True, text=True, check=True)
    added = [thing for thing in yaml.safe_load_all(built.stdout) if thing["metadata"]["name"] == f"nightcap-{component}"]
    assert [thing["kind"] for thing in added] == [kind, f"{kind}Binding"]
    assert added[0]["rules"] == [{**rule, "verbs": ["get", "list"]}]
    assert added[1]["subjects"] == [{"kind": "ServiceAccount", "name": "nightcap", "namespace": "nightcap"}]
    for thing in added:
        kubernetes_validate.validate(thing, "1.37", strict=True)


@pytest.mark.parametrize("name", ["base", "overlays/s3"])
def test_the_cluster_role_reads_what_a_report_needs_and_nothing_else(name: str) -> None:
    (role,) = of_kind(name, "ClusterRole")
    (binding,) = of_kind(name, "ClusterRoleBinding")
    assert rights(role) == reading(NAMESPACED | CLUSTER_WIDE)
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert not [thing for thing in objects(name) if thing["kind"] in {"Role", "RoleBinding"}]


def test_without_cluster_rights_each_namespace_that_is_read_has_its_role(tmp_path: Path) -> None:
    name = "overlays/namespaced"
    roles = {role["metadata"]["namespace"]: rights(role) for role in of_kind(name, "Role")}
    bound = {binding["metadata"]["namespace"]: binding for binding in of_kind(name, "RoleBinding")}
    assert roles.pop("nightcap") == {("batch", "jobs", "get")}
    assert set(roles) == set(settings(name, tmp_path).cluster.namespaces)
    assert all(granted == reading(NAMESPACED) for granted in roles.values())
    assert set(bound) == {*roles, "nightcap"}
    assert all(binding["subjects"][0]["namespace"] == "nightcap" for binding in bound.values())


def test_without_cluster_rights_nothing_is_created_outside_of_namespaces() -> None:
    assert all("namespace" in thing["metadata"] for thing in objects("overlays/namespaced"))


def test_the_page_explains_each_right_that_is_used_and_each_that_is_not_yet() -> None:
    page = (ROOT / "docs/kubernetes.md").read_text().partition("## What each right is for")[2].partition("\n## ")[0]
    used, to_come = ({*re.findall(r"`([a-z0-9.]+)`", " ".join(first_cells(table)))} for table in page.split("The role has these as well."))
    read = {f"{kind.name}.{kind.group}".strip(".") for kind in READ}
    assert used == read
    assert used | to_come == {f"{name}.{group}".strip(".") for group, name in NAMESPACED | CLUSTER_WIDE}
    assert not used & to_come


def test_the_page_says_how_to_save_each_file_of_a_dump() -> None:
    page = (ROOT / "docs/kubernetes.md").read_text().partition("## Without access: a dump")[2].partition("\n## ")[0]
    looped = re.findall(r"for kind in (.+); do", page)[0].split()
    assert {*looped, *re.findall(r">(\w+)\.json", page)} == {*FILE_NAMES.values(), "version"}


def first_cells(text: str) -> list[str]:
    return re.findall(r"^\| (`[^|]*) \|", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", INSTALLATIONS)
def test_a_run_with_these_rights_may_read_all_that_it_reads(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = settings(name, tmp_path).cluster.namespaces
    with FakeKube(rules_from_manifests(objects(name))) as kube:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "kubeconfig", kube)))
        given = load({"cluster.namespaces": chosen, "report.formats": "json", "outputs": str(tmp_path / "out")}, {}, None)
        lacking = {line.what for line in preflight.check(given, world()) if line.what.startswith(("list ", "get ")) and line.state != "ok"}
        refused = {gap.source for gap in pipeline.take_snapshot(given, world()).gaps if "(403)" in gap.reason}
    cluster_wide = {kind for kind in READ if not kind.namespaced} if chosen else set()
    assert lacking == {f"list {kind.name}.{kind.group}".strip(".") for kind in cluster_wide}
    assert refused == {FILE_NAMES[kind] for kind in cluster_wide}


@pytest.mark.parametrize("name", INSTALLATIONS)
def test_the_job_has_time_for_every_try(name: str, tmp_path: Path) -> None:
    run = settings(name, tmp_path).run
    starting_seconds = 300
    assert run.deadline_seconds is not None
    assert run.reserve_seconds < run.deadline_seconds
    tries = job(name)["backoffLimit"] + 1
    assert tries * (run.deadline_seconds + starting_seconds) <= job(name)["activeDeadlineSeconds"]


@pytest.mark.parametrize("name", INSTALLATIONS)
def test_the_examples_in_the_configuration_are_settings(name: str, tmp_path: Path) -> None:
    def uncomment(text: str) -> str:
        return re.sub(r"^#(?! \S)", "", text, flags=re.MULTILINE)

    examples = settings(name, tmp_path, uncomment)
    assert examples != settings(name, tmp_path)
    check_names(examples.plan, lambda _: False)
    given_profiles(examples.plan)


@pytest.mark.parametrize("name", INSTALLATIONS)
def test_folders_that_are_written_to_are_on_a_volume(name: str, tmp_path: Path) -> None:
    chosen = settings(name, tmp_path)
    (container,) = pod(name)["containers"]
    writable = [Path(mount["mountPath"]) for mount in container["volumeMounts"] if not mount.get("readOnly")]
    folders = [Path(output) for output in chosen.outputs if not output.startswith("s3://")]
    for folder in (*folders, chosen.run.spool_directory):
        assert any(folder.is_relative_to(mount) for mount in writable)


def test_only_failures_that_may_pass_are_tried_again() -> None:
    ignore, fail = job("base")["podFailurePolicy"]["rules"]
    assert ignore["onPodConditions"] == [{"type": "DisruptionTarget", "status": "True"}]
    assert fail["action"] == "FailJob"
    assert {1, SettingsError.exit_code, RenderError.exit_code} == set(fail["onExitCodes"]["values"])
    assert {CollectError.exit_code, DeliverError.exit_code}.isdisjoint(fail["onExitCodes"]["values"])


@pytest.mark.parametrize("name", [*INSTALLATIONS, "reading-pod"])
def test_pods_meet_the_restricted_standard(name: str) -> None:
    spec = pod(name)
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["securityContext"]["runAsUser"] == 10001
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in [*spec.get("initContainers", []), *spec["containers"]]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    allowed = {"name", "configMap", "emptyDir", "persistentVolumeClaim", "secret"}
    assert all(set(volume) <= allowed for volume in spec["volumes"])


def test_the_preflight_sees_what_the_run_sees() -> None:
    spec = pod("overlays/preflight")
    (check,), (run,) = spec["initContainers"], spec["containers"]
    assert check["args"] == ["check", *run["args"][1:]]
    for field in ("image", "env", "resources", "securityContext", "volumeMounts"):
        assert check[field] == run[field]
    *_, of_run, of_check = job("overlays/preflight")["podFailurePolicy"]["rules"]
    assert of_check == {"action": "FailJob", "onExitCodes": {**of_run["onExitCodes"], "containerName": "check"}}


def test_the_token_of_prometheus_is_mounted_where_it_is_read(tmp_path: Path) -> None:
    chosen = settings("overlays/prometheus", tmp_path).prometheus
    (container,) = pod("overlays/prometheus")["containers"]
    (mount,) = (mount for mount in container["volumeMounts"] if mount["name"] == "prometheus-token")
    (volume,) = (volume for volume in pod("overlays/prometheus")["volumes"] if volume["name"] == "prometheus-token")
    assert chosen.url is not None
    assert chosen.token_file == Path(mount["mountPath"]) / volume["secret"]["items"][0]["path"]
    assert mount["readOnly"]
    assert chosen.budget_seconds < (settings("overlays/prometheus", tmp_path).run.deadline_seconds or 0)


@pytest.mark.parametrize("name", INSTALLATIONS)
def test_a_service_named_nightcap_sets_no_setting(name: str) -> None:
    assert pod(name)["enableServiceLinks"] is False


@pytest.mark.parametrize("name", [*INSTALLATIONS, "reading-pod"])
def test_the_image_has_the_version_of_the_code(name: str) -> None:
    assert [container["image"] for container in pod(name)["containers"]] == [f"nightcap:{batch.__version__}"]


@pytest.mark.parametrize("command", [("hadolint", "--no-color", "Dockerfile"), ("yamllint", "--strict", "k8s")])
def test_dockerfile_and_manifests_have_no_lint(command: tuple[str, ...]) -> None:
    found = subprocess.run([PROGRAMS / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (found.stdout, found.returncode) == ("", 0)


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_locked_requirements_name_no_index_and_have_hashes(name: str) -> None:
    text = (ROOT / name).read_text()
    assert not re.search(r"://|^--?\w*index|find-links", text, flags=re.MULTILINE)
    packages = re.findall(r"^\S+==.*(?:\n +--hash=sha256:[0-9a-f]{64}(?: \\)?)+", text, flags=re.MULTILINE)
    assert len(packages) == len(re.findall(r"^[A-Za-z0-9]", text, flags=re.MULTILINE)) > 0
