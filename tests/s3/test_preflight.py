"""`check` tries out a bucket as a run would use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from batch import preflight
from batch.settings import ReportSettings, RunSettings, Settings
from tests.s3 import seaweed
from tests.worlds import world

MYBINDER = Path(__file__).parents[1] / "data" / "mybinder"


def check(server: seaweed.Server, url: str, keys: tuple[str, str], spool: Path) -> tuple[preflight.Line, int]:
    settings = Settings(
        source=f"dump:{MYBINDER}",
        outputs=(url,),
        report=ReportSettings(formats=("json",)),
        run=RunSettings(spool_directory=spool),
        s3=server.settings(keys),
    )
    lines = preflight.check(settings, world())
    (line,) = (line for line in lines if line.what == f"output {url}")
    return line, preflight.exit_code(lines)


def test_a_bucket_that_can_be_written_is_found_good_again_and_again(server: seaweed.Server, bucket: str, tmp_path: Path) -> None:
    for _ in range(2):
        line, code = check(server, f"s3://{bucket}/nightly", seaweed.WRITER, tmp_path)
        assert (line.state, code) == ("ok", 0)
    listed = server.client().list_objects_v2(Bucket=bucket)["Contents"]
    assert [thing["Key"] for thing in listed] == ["nightly/.nightcap-check"]


@pytest.mark.parametrize(("name", "words"), [("", "access denied: the key may not write there"), ("absent", "there is no bucket absent")])
def test_a_bucket_that_cannot_be_written_ends_as_a_run_would(
    server: seaweed.Server, bucket: str, tmp_path: Path, name: str, words: str
) -> None:
    line, code = check(server, f"s3://{name or bucket}", seaweed.READER if not name else seaweed.WRITER, tmp_path)
    assert (line.state, code) == ("missing", 5)
    assert words in line.why
    assert line.remedy
