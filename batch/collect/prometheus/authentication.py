"""Show who is asking: bearer token from a file, basic authentication, extra headers, AWS signatures."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from batch.collect.prometheus.errors import PrometheusError
from batch.settings import PrometheusSettings

Sign = Callable[[str, str, bytes | None, Mapping[str, str]], dict[str, str]]
"""Gives the headers of a request from its method, address, body and plain headers."""


def signer(settings: PrometheusSettings) -> Sign:
    """Choose how requests are authenticated. Raises PrometheusError when AWS credentials are wanted and there are none."""
    if settings.sigv4_region:
        return _SigV4(settings)
    return lambda _method, _url, _body, headers: {**headers, **_extra(settings), **_authorization(settings)}


def _extra(settings: PrometheusSettings) -> dict[str, str]:
    return {name: value.get_secret_value() for name, value in settings.headers.items()}


def _authorization(settings: PrometheusSettings) -> dict[str, str]:
    if settings.token_file is not None:
        try:
            token = settings.token_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise PrometheusError(
                f"the bearer token in {settings.token_file} could not be read: {getattr(error, 'strerror', None) or error}",
                "Mount it there, or correct prometheus.token_file.",
            ) from error
        return {"Authorization": f"Bearer {token}"}
    if settings.username is not None:
        password = settings.password.get_secret_value() if settings.password else ""
        return {"Authorization": "Basic " + base64.b64encode(f"{settings.username}:{password}".encode()).decode()}
    return {}


class _SigV4:
    """Signs as AWS wants it (Signature Version 4), with credentials from botocore's own chain, which renews them by itself."""

    def __init__(self, settings: PrometheusSettings) -> None:
        import botocore.session  # noqa: PLC0415  takes half a second, which nobody else needs to wait for

        self._settings = settings
        self._credentials: Any = botocore.session.get_session().get_credentials()
        if self._credentials is None:
            raise PrometheusError(
                "requests are to be signed for AWS, and there are no credentials",
                "Annotate the service account with a role, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
            )

    def __call__(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> dict[str, str]:
        from botocore.auth import SigV4Auth  # noqa: PLC0415  as above
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415  as above

        request = AWSRequest(method, url, {**headers, **_extra(self._settings)}, body or b"")
        SigV4Auth(self._credentials, self._settings.sigv4_service, self._settings.sigv4_region).add_auth(request)
        return dict(request.headers.items())
