"""BucketStore: blobs below a prefix of a bucket in S3-compatible storage. Nothing else imports boto3."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlencode

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from batch.deliver import s3_errors, s3_links
from batch.deliver.layout import cache_control
from batch.deliver.model import Link, StorageError
from batch.errors import SettingsError
from batch.settings import S3Settings

_ATTEMPTS = 4
"""Of one request, with botocore's exponential back-off between them: at most 7 seconds where the connection is refused."""


_MOST_BYTES = 5 * 1024**3
"""Largest object that one PUT takes (Amazon S3 User Guide, "Uploading objects")."""


def connect(settings: S3Settings) -> Any:
    """Make an S3 client; where the settings are silent boto3's own chain decides. Makes no request.

    Raises SettingsError when no client can be made of the settings.
    """
    if settings.ca_file and not settings.ca_file.is_file():
        raise _unusable(f"there is no file {settings.ca_file}", "Correct s3.ca_file.")
    keys = (settings.access_key_id, settings.secret_access_key)
    if any((*keys, settings.session_token)) and not all(keys):
        raise _unusable("only a part of the credentials is set", "Set both s3.access_key_id and s3.secret_access_key, or neither.")
    try:
        session = boto3.Session(
            aws_access_key_id=settings.access_key_id,
            aws_secret_access_key=settings.secret_access_key and settings.secret_access_key.get_secret_value(),
            aws_session_token=settings.session_token and settings.session_token.get_secret_value(),
            region_name=settings.region,
        )
        verify = str(settings.ca_file) if settings.ca_file else None
        client = session.client("s3", endpoint_url=settings.endpoint_url, verify=verify, config=_config(settings))
    except (BotoCoreError, ValueError) as error:
        raise _unusable(s3_errors.sentence(error), "Check the s3 settings, and AWS_ variables and files where they are silent.") from error
    client.meta.events.register("before-call.s3.HeadBucket", _follow_no_redirect)
    return client


def _follow_no_redirect(context: dict[str, Any], **_: object) -> None:
    """Stop botocore 1.44, which asks by HEAD where a redirected bucket is, from asking that again without end if HEAD is redirected too."""
    context.get("s3_redirect", {})["redirected"] = True


def _config(settings: S3Settings) -> Config:
    return Config(
        signature_version="s3v4",
        s3={"addressing_style": settings.addressing},
        retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
        connect_timeout=settings.timeout_seconds,
        read_timeout=settings.timeout_seconds,
        # boto3's own default sends CRC32 in ways that stores before 2025 refuse or keep as content; Content-MD5 is known to all
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        proxies={"http": settings.proxy_url, "https": settings.proxy_url} if settings.proxy_url else None,
    )


def _upload_options(settings: S3Settings) -> dict[str, str]:
    """Give what the settings add to every upload."""
    wanted = {
        "ServerSideEncryption": settings.sse,
        "SSEKMSKeyId": settings.kms_key_id,
        "StorageClass": settings.storage_class,
        "Tagging": urlencode(settings.tags, quote_via=quote) or None,
    }
    return {name: value for name, value in wanted.items() if value}


class BucketStore:
    """A BlobStore in a bucket. The key needs s3:PutObject and s3:GetObject on the prefix and s3:ListBucket on the bucket."""

    def __init__(self, bucket: str, prefix: str, client: Any, settings: S3Settings | None = None) -> None:
        self._bucket = bucket
        self._prefix = f"{prefix}/" if prefix else ""
        self._client = client
        self._settings = settings or S3Settings()
        self._options = _upload_options(self._settings)
        self._signer: s3_links.Signer | None = None
        self._signed_at = ""
        client.meta.events.register("before-send.s3", self._remember_time)

    def read(self, key: str) -> bytes:
        """Download an object; KeyError when there is none."""
        with self._in_words("read", key):
            try:
                body: bytes = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key)["Body"].read()
            except self._client.exceptions.NoSuchKey as error:
                raise KeyError(key) from error
        return body

    def write(self, key: str, data: bytes, media_type: str) -> None:
        """Upload an object with one PUT, whole or not at all, and make sure that the store holds just that.

        One PUT (up to 5 GB) rather than parts: parts need more rights and leave litter when they fail.
        """
        if len(data) > _MOST_BYTES:
            raise StorageError(
                f"could not write {self._place(key)}: it has {len(data):,} bytes, and one PUT takes {_MOST_BYTES:,}",
                "Read fewer namespaces in one run, or make fewer formats.",
            )
        name, md5 = key.rpartition("/")[2], hashlib.md5(data, usedforsecurity=False).digest()
        with self._in_words("write", key):
            answer = self._client.put_object(
                Bucket=self._bucket,
                Key=self._prefix + key,
                Body=data,
                ContentType=media_type,
                ContentDisposition=f'inline; filename="{name}"',
                CacheControl=cache_control(key),
                ContentMD5=base64.b64encode(md5).decode(),
                **self._options,
            )
        self._check_encryption(key, answer.get("ServerSideEncryption"))
        if answer.get("ETag", "").strip('"') != md5.hex():
            self._check_size(key, len(data))

    def _check_size(self, key: str, sent: int) -> None:
        """Ask how much the store holds, where its answer did not prove it: an ETag is the MD5 of the content as a rule, but not with KMS."""
        with self._in_words("check", key):
            held = self._client.head_object(Bucket=self._bucket, Key=self._prefix + key)["ContentLength"]
        if held != sent:
            raise StorageError(
                f"could not write {self._place(key)}: {sent:,} bytes were sent and the store says that it holds {held:,}",
                "A proxy or a store that changes uploads is in between (often aws-chunked encoding that is kept as content): update or bypass it.",
            )

    def keys(self, prefix: str = "") -> list[str]:
        """List the keys below the store's prefix that start with `prefix`."""
        with self._in_words("list", prefix):
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=self._prefix + prefix)
            return sorted(item["Key"].removeprefix(self._prefix) for page in pages for item in page.get("Contents", ()))

    def delete(self, key: str) -> None:
        """Delete an object; the key needs s3:DeleteObject. One by one: the request for many at once needs a checksum that differs by store."""
        with self._in_words("delete", key):
            self._client.delete_object(Bucket=self._bucket, Key=self._prefix + key)

    def link(self, key: str, seconds: float) -> Link:
        """Presign a link to an object. Makes at most one request, to learn the region of a bucket on AWS."""
        with self._in_words("link to", key):
            self._signer = self._signer or s3_links.Signer(self._client, self._bucket, self._settings, connect)
            return self._signer.link(self._prefix + key, seconds)

    def _check_encryption(self, key: str, confirmed: str | None) -> None:
        """Let no store pass that ignores the encryption that was asked for, as some do."""
        if self._settings.sse and confirmed != self._settings.sse:
            raise StorageError(
                f"could not write {self._place(key)} encrypted: {self._settings.sse} was asked for and the store confirms {confirmed or 'nothing'}",
                "Leave s3.sse unset if the store encrypts by itself, and delete what was written if it must not be there in clear.",
            )

    def _remember_time(self, request: Any, **_: object) -> None:
        """Keep the time that was signed: when a store finds it too far off, this tells by how much."""
        signed_at = request.headers.get("X-Amz-Date", "")
        self._signed_at = signed_at.decode() if isinstance(signed_at, bytes) else signed_at

    def _place(self, key: str) -> str:
        return f"s3://{self._bucket}/{self._prefix}{key}"

    @contextmanager
    def _in_words(self, action: str, key: str) -> Iterator[None]:
        """Let no exception of boto3's pass: each becomes a StorageError in words. ValueError is what it makes of a number or date that is none."""
        try:
            yield
        except (ClientError, BotoCoreError, ResponseParserError, ValueError) as error:
            request = s3_errors.Request(
                action=action,
                place=self._place(key),
                bucket=self._bucket,
                endpoint=self._client.meta.endpoint_url,
                region=self._client.meta.region_name,
                signed_at=self._signed_at,
                asked=tuple(self._options),
            )
            raise s3_errors.explain(error, request) from error


def _unusable(why: str, remedy: str) -> SettingsError:
    return SettingsError("s3-settings", attempted="set up access to S3 storage", why=why, remedy=remedy)
