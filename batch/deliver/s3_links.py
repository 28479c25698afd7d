"""Presigned links to objects in a bucket, and how long they really live."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from botocore.exceptions import BotoCoreError, ClientError

from batch.deliver.model import Link
from batch.settings import S3Settings

MOST_SECONDS = 604_800
"""Longest life of a link that is signed with version 4 (Amazon S3 API Reference, "Authenticating requests: using query parameters")."""


class Signer:
    """Signs links for one bucket: for its real region and the host name that belongs to it, whatever the client's own are."""

    def __init__(self, client: Any, bucket: str, settings: S3Settings, connect: Callable[[S3Settings], Any]) -> None:
        self._bucket = bucket
        self._client = client if settings.endpoint_url else connect(_of_bucket(client, bucket, settings))

    def link(self, key: str, seconds: float) -> Link:
        """Presign a GET for at most `seconds`, for no longer than S3 takes and than the credentials live that sign it."""
        asked = int(min(seconds, MOST_SECONDS))
        url = self._sign(key, asked)
        signed_at = _signed_at(url)
        ends_at, known = _credentials_end(self._client)
        if ends_at is not None and ends_at < signed_at + timedelta(seconds=asked):
            asked = max(1, int((ends_at - signed_at).total_seconds()))
            url = self._sign(key, asked)
            signed_at = _signed_at(url)
        return Link(url, signed_at + timedelta(seconds=asked), may_end_earlier=not known)

    def _sign(self, key: str, seconds: int) -> str:
        parameters = {"Bucket": self._bucket, "Key": key}
        return str(self._client.generate_presigned_url("get_object", Params=parameters, ExpiresIn=seconds))


def _of_bucket(client: Any, bucket: str, settings: S3Settings) -> S3Settings:
    """Give settings whose links have the bucket's own region in their signature and in their host name.

    Without it botocore writes the host name of no region, which some regions answer with a redirect that breaks the signature.
    """
    try:
        region = client.head_bucket(Bucket=bucket).get("BucketRegion")
    except (ClientError, BotoCoreError):
        region = None
    addressing = "path" if "." in bucket else "virtual"
    return settings.model_copy(update={"region": region or client.meta.region_name, "addressing": addressing})


def _credentials_end(client: Any) -> tuple[datetime | None, bool]:
    """Say when the credentials end, and whether that is known. Keys without a session token do not end."""
    credentials = client._request_signer._credentials  # noqa: SLF001  botocore tells it nowhere else; a test watches over it
    if hasattr(credentials, "_expiry_time"):
        ends_at: datetime = credentials._expiry_time  # noqa: SLF001  as above
        return ends_at.astimezone(UTC), True
    return None, not getattr(credentials, "token", None)


def _signed_at(url: str) -> datetime:
    """Read from the link itself when it was signed: the only clock that counts for it."""
    return datetime.strptime(parse_qs(urlsplit(url).query)["X-Amz-Date"][0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
