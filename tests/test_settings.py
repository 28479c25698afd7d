"""Settings: strongest first, and no unknown key goes unnoticed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from batch.errors import SettingsError
from batch.settings import Settings, environment_name, leaves, load
from batch.settings_page import effective, reference


def test_option_beats_environment_beats_file_beats_default(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("api: {page_size: 1, timeout_seconds: 2, retry_seconds: 3}\n")
    environment = {"NIGHTCAP_API__PAGE_SIZE": "10", "NIGHTCAP_API__TIMEOUT_SECONDS": "20"}
    api = load({"api.page_size": 100}, environment, file).api
    assert (api.page_size, api.timeout_seconds, api.retry_seconds) == (100, 20, 3)
    assert load({}, {}, None) == Settings()


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"NIGHTCAP_CLUSTER__NMAE": "x"}, "NIGHTCAP_CLUSTER__NMAE from the environment.*NIGHTCAP_CLUSTER__NAME"),
        ({"NIGHTCAP_OUTPUT": "x"}, "NIGHTCAP_OUTPUT from.*NIGHTCAP_OUTPUTS"),
        ({"NIGHTCAP_API__PAGE_SIZE": "many"}, "api.page_size from the environment.*valid integer"),
        ({"NIGHTCAP_API__PAGE_SIZE": "0"}, "api.page_size.*greater than 0"),
        ({"NIGHTCAP_API": "x"}, "api is a group of settings"),
        ({"NIGHTCAP_RUN__NOW": "2026-12-01"}, "run.now"),
        (
            {"NIGHTCAP_PLAN__PROFILES": "[{name: a, selektor: b}]"},
            r"plan\.profiles\.selektor from the env.*nearest one is plan\.profiles\.selector;",
        ),
        ({"NIGHTCAP_PLAN__PROFILES": "[{name: a, namespce: b}]"}, r"The nearest one is plan\.profiles\.namespace;"),
        ({"NIGHTCAP_PLAN__FLAVOR": "[{name: a}]"}, "The nearest one is NIGHTCAP_PLAN__FLAVORS;"),
        ({"NIGHTCAP_CLUSTER": "x", "NIGHTCAP_CLUSTER__NAME": "y"}, "use NIGHTCAP_CLUSTER__NAME .*NIGHTCAP_CLUSTER is set too"),
        ({"NIGHTCAP_SOURCE": "x", "NIGHTCAP_SOURCE__A__B": "y"}, "NIGHTCAP_SOURCE is set too"),
        ({"NIGHTCAP_OUTPUTS": "[a"}, r"read NIGHTCAP_OUTPUTS from the environment: line 1, column 3: expected"),
        ({"NIGHTCAP_OUTPUTS": "[2026-13-45]"}, "NIGHTCAP_OUTPUTS.*month"),
        ({"NIGHTCAP_OUTPUTS": "[!!timestamp x]"}, "NIGHTCAP_OUTPUTS.*not what it looks like"),
        ({"NIGHTCAP_OUTPUTS": "[" * 3000}, "NIGHTCAP_OUTPUTS"),
        ({"NIGHTCAP_OUTPUTS": "[&a [*a]]"}, "NIGHTCAP_OUTPUTS"),
        ({"NIGHTCAP_CLUSTER": "{1: 2}"}, "there is no such setting"),
        ({"NIGHTCAP_RUN__DEADLINE_SECONDS": "inf"}, "run.deadline_seconds.*finite"),
        ({"NIGHTCAP_USAGE__MAX_AGE_SECONDS": "1e300"}, "usage.max_age_seconds.*too large"),
        ({"NIGHTCAP_PLAN__MEMORY_LIMIT_BYTES": "9" * 30}, "plan.memory_limit_bytes.*too large"),
        ({"NIGHTCAP_RUN__NOW": "0001-01-01T00:00:00Z"}, "run.now"),
        ({"NIGHTCAP_CLUSTER__NAME": "\udcff"}, "cluster.name"),
    ],
)
def test_a_wrong_variable_is_named_with_the_nearest_right_one(environment: dict[str, str], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        load({}, environment, None)


def test_a_wrong_key_in_the_file_is_named_with_the_file(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("report: {format: [pdf]}\n")
    with pytest.raises(SettingsError, match=r"report\.format from the file .*settings\.yaml.*The nearest one is report\.formats"):
        load({}, {}, file)


def odd_environments() -> Iterator[dict[str, str]]:
    """Give every setting and every group of them in every odd form, alone and beside one of its own parts."""
    forms = [
        "",
        " ",
        "x",
        "-1",
        "1e400",
        "nan",
        "9" * 400,
        "\udcff",
        "[",
        "[]",
        "[[1]]",
        "[~]",
        "[{}]",
        "[.nan]",
        "[{name: [a]}]",
        "[&a [*a]]",
    ]
    forms += ["{", "{}", "{a: b}", "{1: 2}", "{~: 1}", "{[1]: 2}", "{<<: 1}", "{2026-13-45: 1}", "{&a b: {c: *a}}"]
    names = [environment_name(path) for path, _ in leaves()]
    groups = sorted({environment_name(path[:-1]) for path, _ in leaves() if path[:-1]})
    for form in forms:
        yield from ({name: form} for name in [*names, *groups, "NIGHTCAP_", "NIGHTCAP_CLUSTER__", "NIGHTCAP___NAME"])
        yield from ({group: form, name: "1"} for group in groups for name in names if name.startswith(f"{group}__"))
        yield from ({name: form, f"{name}__X": "1"} for name in names)


def test_nothing_in_the_environment_is_worse_than_a_wrong_setting() -> None:
    for environment in odd_environments():
        try:
            effective(load({}, environment, None))
        except SettingsError as error:
            assert str(error)  # noqa: PT017  both are fine: it is taken, or it is refused in words


def test_a_variable_replaces_what_the_file_has_in_another_form(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("prices: {per_hour: x}\n")
    assert load({}, {"NIGHTCAP_PRICES__PER_HOUR": "{a: 1}"}, file).prices.per_hour == {"a": 1}


@pytest.mark.parametrize("text", ["a: [", "- a\n- b\n", "\x00", "cluster: &x {name: *x}", "run: {now: 2026-13-45}"])
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    with pytest.raises(SettingsError, match="read the settings file"):
        load({}, {}, file)


def test_lists_in_a_variable_are_comma_separated_or_yaml() -> None:
    settings = load({}, {"NIGHTCAP_OUTPUTS": "a, s3://b/c", "NIGHTCAP_PLAN__PROFILES": "[{name: web, selector: app=web}]"}, None)
    assert settings.outputs == ("a", "s3://b/c")
    assert settings.plan.profiles[0].selector == "app=web"


def test_secrets_are_masked_and_never_in_an_error() -> None:
    settings = load({}, {"NIGHTCAP_S3__SECRET_ACCESS_KEY": "hunter2"}, None)
    assert "hunter2" not in effective(settings)
    assert "hunter2" not in repr(settings)
    with pytest.raises(SettingsError) as error:
        load({}, {"NIGHTCAP_S3__SECRET_ACCESS_KEY": "[hunter2]"}, None)
    assert "hunter2" not in str(error.value)
    with pytest.raises(SettingsError) as error:
        load({}, {"NIGHTCAP_S3__SECRET_ACCESS_KEY": "[hunter2"}, None)
    assert "hunter2" not in str(error.value)


def test_the_effective_settings_are_a_settings_file(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(effective(Settings()))
    assert load({}, {}, file) == Settings()


def test_every_setting_has_a_meaning_and_stands_in_the_reference() -> None:
    page = reference()
    for path, info in leaves():
        assert info.description
        assert f"**{'.'.join(path)}** · `{environment_name(path)}`" in page
    for item in ("plan.profiles", "plan.flavors", "rightsizing.namespaces"):
        assert f"## An item of {item}" in page
