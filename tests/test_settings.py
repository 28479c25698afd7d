"""Settings: strongest first, and no unknown key goes unnoticed."""

from __future__ import annotations

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
        ({"NIGHTCAP_PLAN__PROFILES": "[{name: a, selektor: b}]"}, "PROFILES__SELEKTOR"),
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


@pytest.mark.parametrize("text", ["a: [", "- a\n- b\n", "\x00"])
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


def test_the_effective_settings_are_a_settings_file(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(effective(Settings()))
    assert load({}, {}, file) == Settings()


def test_every_setting_has_a_meaning_and_stands_in_the_reference() -> None:
    page = reference()
    for path, info in leaves():
        assert info.description
        assert f"**{'.'.join(path)}** · `{environment_name(path)}`" in page
