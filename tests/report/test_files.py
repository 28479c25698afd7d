import dataclasses

import pytest

from batch.deliver.layout import run_files
from batch.report.files import profile_file
from batch.report.model import Artifact
from tests.builders import snapshot
from tests.report.clusters import report_of


@pytest.mark.parametrize("name", ["all-pods", "team a/b", "Größe", "100%", "..", "x" * 300, "ö" * 253])
def test_a_file_is_delivered_under_the_name_that_the_report_links_to(name: str) -> None:
    file = profile_file(name, "pods")
    made = dataclasses.replace(report_of(snapshot(), report={"formats": ["html"]}), artifacts=(Artifact(file, "text/csv", b""),))
    key = next(iter(run_files(made))).name
    assert key.endswith(f"/{file}")


def test_different_names_have_different_files() -> None:
    names = ["a/b", "a%2Fb", "a b", "x" * 300, "x" * 301]
    assert len({profile_file(name, "pods") for name in names}) == len(names)
    assert profile_file("all-pods", "odds") == "tables/profile-all-pods-odds.csv"
