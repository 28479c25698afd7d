"""Keys that nobody sets: web identity, pod identity and instance role, and what they mean for links. A stub plays the cloud's services."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from batch.deliver import s3
from batch.deliver.model import Link, StorageError
from batch.deliver.s3 import BucketStore
from batch.settings import S3Settings
from tests.s3.test_answers import Answer, answering, error

pytestmark = pytest.mark.usefixtures("impatient")

IN_50_MINUTES = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=50)

_STS = """<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>WEBID</AccessKeyId>
<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>{ends:%Y-%m-%dT%H:%M:%SZ}</Expiration></Credentials>
</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"""


def keys(name: str) -> Answer:
    fields = {
        "AccessKeyId": name,
        "SecretAccessKey": "s",
        "Token": "t",
        "Expiration": f"{IN_50_MINUTES:%Y-%m-%dT%H:%M:%SZ}",
        "Code": "Success",
    }
    return Answer(200, json.dumps(fields))


@contextmanager
def cloud(seen: list[str]) -> Iterator[str]:
    """Answer as STS, as the agent of pod identity, as an instance's metadata service and as S3, all at one address."""

    def answer(request: BaseHTTPRequestHandler) -> Answer:
        seen.append(f"{request.command} {request.path} {request.headers.get('Authorization', '')}")
        answers: dict[str, Callable[[], Answer]] = {
            "/sts": lambda: Answer(200, _STS.format(ends=IN_50_MINUTES), {"Content-Type": "text/xml"}),
            "/pod": lambda: keys("PODID"),
            "/latest/api/token": lambda: Answer(200, "metadata-token"),
            "/latest/meta-data/iam/security-credentials/": lambda: Answer(200, "role"),
            "/latest/meta-data/iam/security-credentials/role": lambda: keys("INSTANCE"),
        }
        path = urlsplit(request.path).path
        if request.command == "POST":
            path = "/sts"
        return answers.get(path, lambda: Answer(200, "", {"Content-Length": "1"} if request.command == "HEAD" else {}))()

    with answering(answer) as url:
        yield url


def web_identity(patch: pytest.MonkeyPatch, url: str, folder: Path) -> str:
    (folder / "token").write_text("projected")
    patch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(folder / "token"))
    patch.setenv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/nightcap")
    patch.setenv("AWS_ENDPOINT_URL_STS", url)
    return "WEBID"


def pod_identity(patch: pytest.MonkeyPatch, url: str, folder: Path) -> str:
    (folder / "token").write_text("projected")
    patch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{url}/pod")
    patch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", str(folder / "token"))
    return "PODID"


def instance_role(patch: pytest.MonkeyPatch, url: str, folder: Path) -> str:
    assert folder
    patch.delenv("AWS_EC2_METADATA_DISABLED")
    patch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", url)
    return "INSTANCE"


Identity = Callable[[pytest.MonkeyPatch, str, Path], str]


@pytest.mark.parametrize("identity", [web_identity, pod_identity, instance_role])
def test_keys_of_a_role_are_found_and_a_link_says_that_it_ends_with_them(
    identity: Identity, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[str] = []
    with cloud(seen) as url:
        name = identity(monkeypatch, url, tmp_path)
        settings = S3Settings(endpoint_url=url, region="us-east-1")
        there = BucketStore("rpt", "", s3.connect(settings), settings)
        there.write("a", b"1", "text/plain")
        link = there.link("a", 604_800)
    assert any(line.startswith("PUT /rpt/a") and f"Credential={name}/" in line for line in seen)
    assert IN_50_MINUTES - timedelta(seconds=2) <= link.until <= IN_50_MINUTES
    assert not link.may_end_earlier
    lifetime = int(parse_qs(urlsplit(link.url).query)["X-Amz-Expires"][0])
    assert 0 < lifetime < 3000 + 1


def link_with(**fields: object) -> Link:
    settings = S3Settings.model_validate({"endpoint_url": "http://127.0.0.1:9", "region": "eu-west-3", **fields})
    return BucketStore("rpt", "", s3.connect(settings), settings).link("a", 604_800)


def test_keys_with_a_session_token_may_end_earlier_and_it_is_said() -> None:
    fixed = {"access_key_id": "AK", "secret_access_key": "SK"}
    assert not link_with(**fixed).may_end_earlier
    assert link_with(**fixed, session_token="T").may_end_earlier


def test_on_aws_a_link_has_the_buckets_own_region_in_signature_and_host(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = S3Settings.model_validate({"region": "us-east-1", "access_key_id": "AK", "secret_access_key": "SK"})
    client = s3.connect(settings)
    monkeypatch.setattr(client, "head_bucket", lambda **_: {"BucketRegion": "eu-central-1"})
    link = BucketStore("rpt", "p", client, settings).link("a b", 60)
    assert link.url.startswith("https://rpt.s3.eu-central-1.amazonaws.com/p/a%20b?")
    assert "%2Feu-central-1%2Fs3%2Faws4_request" in link.url
    dotted = BucketStore("rpt.dotted.name", "p", client, settings).link("a", 60)
    assert dotted.url.startswith("https://s3.eu-central-1.amazonaws.com/rpt.dotted.name/p/a?")


def put(answer: Answer, **changes: object) -> str:
    """Upload to a store that answers so; give what it is refused with."""
    fields = {"region": "us-east-1", "access_key_id": "AK", "secret_access_key": "SK", **changes}
    with answering(lambda _: answer) as url:
        settings = S3Settings.model_validate({"endpoint_url": url, **fields})
        there = BucketStore("rpt", "", s3.connect(settings), settings)
        with pytest.raises(StorageError) as caught:
            there.write("a", b"1", "text/plain")
    return str(caught.value)


def test_a_store_that_ignores_the_encryption_asked_for_is_caught() -> None:
    words = put(Answer(200), sse="AES256")
    assert "could not write s3://rpt/a encrypted: AES256 was asked for and the store confirms nothing" in words


@pytest.mark.parametrize(
    ("answer", "changes", "words"),
    [
        (error(400, "KMS.NotFoundException"), {"sse": "aws:kms", "kms_key_id": "k"}, "there is no such KMS key"),
        (error(400, "KMS.DisabledException"), {"sse": "aws:kms"}, "the KMS key is disabled"),
        (error(501, "NotImplemented"), {"sse": "aws:kms", "tags": {"a": "b"}}, "(ServerSideEncryption, Tagging)"),
        (error(400, "InvalidStorageClass"), {"storage_class": "COLD"}, "Correct s3.storage_class"),
        (error(403, "AccessDenied"), {"tags": {"a": "b"}}, "Grant s3:PutObject and s3:PutObjectTagging to this key"),
        (error(403, "AccessDenied"), {"sse": "aws:kms", "kms_key_id": "k"}, "Grant s3:PutObject and kms:GenerateDataKey on the KMS key"),
    ],
)
def test_refusals_of_what_was_asked_for_say_so(answer: Answer, changes: dict[str, object], words: str) -> None:
    assert words in put(answer, **changes)


def test_uploads_go_through_a_proxy_that_is_set() -> None:
    seen: list[str] = []

    def answer(request: BaseHTTPRequestHandler) -> Answer:
        seen.append(request.path)
        return Answer(200, headers={"Content-Length": "1"} if request.command == "HEAD" else {})

    with answering(answer) as proxy:
        fields = {
            "endpoint_url": "http://store.invalid:9000",
            "proxy_url": proxy,
            "region": "r",
            "access_key_id": "A",
            "secret_access_key": "S",
        }
        settings = S3Settings.model_validate(fields)
        BucketStore("rpt", "", s3.connect(settings), settings).write("a", b"1", "text/plain")
    assert seen == ["http://store.invalid:9000/rpt/a"] * 2
