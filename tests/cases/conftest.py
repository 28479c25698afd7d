"""The fake API server and the clusters connected to it, as in tests/collect."""

from __future__ import annotations

from tests.collect.conftest import certificate, clock, connect, kube, no_surroundings, secure_kube

__all__ = ["certificate", "clock", "connect", "kube", "no_surroundings", "secure_kube"]
