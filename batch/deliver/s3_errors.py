"""Says in words what S3 storage, or the way to it, refused: what was tried, why it failed, what to do."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from botocore import exceptions

from batch.deliver.model import StorageError

RIGHTS = {
    "write": "s3:PutObject",
    "check": "s3:GetObject",
    "read": "s3:GetObject",
    "list": "s3:ListBucket",
    "delete": "s3:DeleteObject",
    "link to": "s3:GetObject",
}
"""Right that each action of the store needs (Amazon S3 User Guide, "Required permissions for Amazon S3 API operations")."""

_KEYS = "Check s3.access_key_id and s3.secret_access_key, or what boto3's own chain finds (AWS_ variables, role of the service account)."
_WHERE = "Check s3.endpoint_url, DNS, proxies and network policies between here and the store."

_NOT_IMPLEMENTED = "NotImplemented"

_ANSWERS = {
    "NoSuchBucket": ("there is no bucket {bucket} at {endpoint}", "Create the bucket, or correct the output's URL or s3.endpoint_url."),
    "AccessDenied": (
        "access denied: the key may not {action} there",
        "Grant {right} to this key; policies of the bucket and of its KMS key can deny it too.",
    ),
    "InvalidAccessKeyId": ("{endpoint} does not know this access key", _KEYS),
    "SignatureDoesNotMatch": ("the secret key does not belong to the access key", _KEYS),
    "ExpiredToken": ("the credentials have expired", "Renew them. " + _KEYS),
    "InvalidToken": ("the session token is not valid", _KEYS),
    "InvalidBucketName": ("{bucket} is no name for a bucket", "Correct the output's URL."),
    "KMS.NotFoundException": (
        "there is no such KMS key",
        "Correct s3.kms_key_id: a key in the bucket's own region, by its ARN where it is another account's.",
    ),
    "KMS.DisabledException": ("the KMS key is disabled", "Enable the key, or choose another one as s3.kms_key_id."),
    _NOT_IMPLEMENTED: (
        "the store does not know something that was asked for ({asked_for})",
        "Leave unset what it does not know: s3.sse, s3.tags, s3.storage_class.",
    ),
    "InvalidStorageClass": ("the store has no such storage class", "Correct s3.storage_class, or leave it unset."),
    "BadDigest": ("the data were damaged on the way", "Look for a proxy that changes uploads, and try again."),
}
"""Why and what to do by error code (Amazon S3 API Reference, "Error responses", read in 2026)."""

_SAME_AS = {
    "403": "AccessDenied",
    "AllAccessDisabled": "AccessDenied",
    "InvalidDigest": "BadDigest",
    "TokenRefreshRequired": "ExpiredToken",
}
"""Codes that mean the same. 403 is all that the answer to a HEAD request says."""

_REGION = frozenset(
    {
        *("PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"),
        *("301", "302", "307", "308"),
    }
)

_CREDENTIALS = (
    exceptions.NoCredentialsError,
    exceptions.PartialCredentialsError,
    exceptions.CredentialRetrievalError,
    exceptions.TokenRetrievalError,
    exceptions.MetadataRetrievalError,
    exceptions.SSOError,
)


@dataclass(frozen=True)
class Request:
    """What was asked. `region` and `signed_at` are what the request was signed for; `place` is an s3:// URL."""

    action: str
    place: str
    bucket: str
    endpoint: str
    region: str
    signed_at: str
    asked: tuple[str, ...] = ()

    @property
    def right(self) -> str:
        """Name the rights that the action needs."""
        more = ["s3:PutObjectTagging"] if "Tagging" in self.asked else []
        more += ["kms:GenerateDataKey on the KMS key"] if "SSEKMSKeyId" in self.asked else []
        return " and ".join([RIGHTS[self.action], *(more if self.action == "write" else [])])

    @property
    def asked_for(self) -> str:
        """Name what uploads ask for beyond the content."""
        return ", ".join(self.asked)


def explain(error: Exception, request: Request) -> StorageError:
    """Turn an exception of botocore's into a StorageError."""
    why, remedy = _answer(error, request) if isinstance(error, exceptions.ClientError) else _transport(error, request)
    return StorageError(f"could not {request.action} {request.place}: {why}", remedy)


def sentence(error: object) -> str:
    """Give a message of somebody else's on one line and without its full stop."""
    return " ".join(str(error).split()).rstrip(".")


def _answer(error: exceptions.ClientError, request: Request) -> tuple[str, str]:
    """Explain an answer that the store gave."""
    details = error.response.get("Error", {})
    metadata = error.response.get("ResponseMetadata", {})
    status = metadata.get("HTTPStatusCode", 0)
    code = str(details.get("Code") or status)  # a web server's own error page has no code
    said = sentence(f"{code}: {details['Message']}" if details.get("Message") else code)
    if code in _REGION:
        why, remedy = _region(details, metadata.get("HTTPHeaders", {}), request)
    elif code == "RequestTimeTooSkewed":
        why, remedy = _clock(details, metadata.get("HTTPHeaders", {}), request)
    elif (known := _ANSWERS.get(_SAME_AS.get(code, code))) and (code != _NOT_IMPLEMENTED or request.asked):
        why, remedy = (text.format(right=request.right, asked_for=request.asked_for, **vars(request)) for text in known)
    else:
        theirs = status >= HTTPStatus.INTERNAL_SERVER_ERROR
        why = f"{request.endpoint} answered with HTTP status {status}"
        remedy = "Try again later; ask the store's operators if it stays so." if theirs else "Look the code up in the store's manual."
        if theirs and request.action == "write" and request.asked:
            remedy += " Some stores answer so to what they do not know: try with s3.sse, s3.tags and s3.storage_class unset."
    return f"{why} ({said})", remedy


def _region(details: Mapping[str, Any], headers: Mapping[str, str], request: Request) -> tuple[str, str]:
    """Name the region that the request was signed for, and the one expected where the store tells it."""
    told = re.search(r"expecting '([^']+)'", str(details.get("Message", "")))
    expected = headers.get("x-amz-bucket-region") or details.get("Region") or (told.group(1) if told else None)
    why = f"wrong region: the request was made for {request.region}"
    if expected:
        return f"{why}, the store expects {expected}", f"Set s3.region to {expected}."
    if location := headers.get("location"):
        return f"{request.endpoint} redirects to {location}", "Set s3.endpoint_url to where the store is, and s3.region to its region."
    return why, "Set s3.region (and s3.endpoint_url, if it is set) to those of the bucket."


def _clock(details: Mapping[str, Any], headers: Mapping[str, str], request: Request) -> tuple[str, str]:
    """Say by how much the clocks differ: the store's time, against the time that was signed."""
    theirs = _instant(str(details.get("ServerTime") or headers.get("date") or ""))
    ours = _instant(str(details.get("RequestTime") or request.signed_at))
    if theirs is None or ours is None:
        why = "this machine's clock and the store's differ too much"
    else:
        off = theirs - ours
        why = f"this machine's clock is {_duration(abs(off))} {'behind' if off > timedelta(0) else 'ahead of'} the store's"
    return why, "Set the clock (NTP) of this node, or of the store."


def _instant(text: str) -> datetime | None:
    """Read a time as S3 writes it in bodies (ISO 8601, with or without separators) or headers (RFC 9110)."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text)
        except ValueError:
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def _duration(duration: timedelta) -> str:
    minutes = round(duration.total_seconds() / 60)
    return f"{minutes} minutes" if minutes < 120 else f"{minutes // 60} hours"  # noqa: PLR2004  two hours


def _transport(error: Exception, request: Request) -> tuple[str, str]:
    """Explain why there was no usable answer at all."""
    if isinstance(error, _CREDENTIALS):
        return f"there are no usable credentials ({sentence(error)})", _KEYS
    url = str(getattr(error, "kwargs", {}).get("endpoint_url") or request.endpoint)
    host = urlsplit(url).netloc.rpartition("@")[2] or url
    cause = sentence(getattr(error, "kwargs", {}).get("error") or error)
    if isinstance(error, exceptions.EndpointConnectionError):
        return _unreached(error, host, request)
    if isinstance(error, exceptions.SSLError):
        return f"no TLS connection to {host}: {cause}", _tls_remedy(cause, host, request)
    if isinstance(error, exceptions.ProxyConnectionError):
        return (
            f"the proxy does not let through to {host}: {cause}",
            "Check s3.proxy_url; where it is not set HTTPS_PROXY, HTTP_PROXY and NO_PROXY.",
        )
    if isinstance(error, exceptions.ConnectTimeoutError | exceptions.ReadTimeoutError):
        return f"{host} did not answer in time", f"{_WHERE} If the store is only slow, raise s3.timeout_seconds."
    return f"no usable answer from {host}: {cause}", _WHERE


def _unreached(error: exceptions.EndpointConnectionError, host: str, request: Request) -> tuple[str, str]:
    """Tell a name that does not exist from a server that is down."""
    cause = error.kwargs.get("error")
    reason = getattr(cause, "__cause__", None) or cause
    if not isinstance(reason, socket.gaierror):
        return f"nothing answers at {host}: {sentence(getattr(reason, 'strerror', None) or reason)}", f"Start the store. {_WHERE}"
    name = host.partition(":")[0]
    if name.startswith(f"{request.bucket}."):
        return f"the host name {name} does not exist", "The store has no host name for each bucket: set s3.addressing to path."
    return f"the host name {name} does not exist", _WHERE


def _tls_remedy(cause: str, host: str, request: Request) -> str:
    if "WRONG_VERSION_NUMBER" in cause:
        return "The store seems to speak plain HTTP there: begin s3.endpoint_url with http://, or give its TLS port."
    if "ostname mismatch" in cause or "doesn't match" in cause:
        if host.startswith(f"{request.bucket}."):
            return "The certificate does not cover a host name with this bucket: set s3.addressing to path."
        return "Use a host name that the certificate has in s3.endpoint_url."
    return "Give the CA that signed the store's certificate as s3.ca_file."
