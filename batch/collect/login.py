"""Find out how to reach the cluster: the pod's service account, else a kubeconfig context."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from kubernetes.client.api_client import ApiClient
from kubernetes.client.configuration import Configuration
from kubernetes.config import ConfigException, load_incluster_config, load_kube_config
from kubernetes.config.kube_config import KubeConfigMerger
from yaml import YAMLError

from batch.errors import SettingsError

UNUSABLE = (ConfigException, OSError, ValueError, LookupError, TypeError, AttributeError, YAMLError)
"""What the client raises for a configuration that is missing, unreadable or not of the expected shape."""

_DEFAULT_KUBECONFIG = "~/.kube/config"  # https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/


@dataclass(frozen=True)
class Login:
    """A way into the cluster. `context` is the kubeconfig context, None inside a cluster."""

    context: str | None
    load: Callable[[Configuration], None]

    def open_client(self, user_agent: str) -> ApiClient:
        """Read the credentials anew and give a client that uses them. Raises one of UNUSABLE."""
        configuration = Configuration(retries=False)  # retry.py repeats; the transport's own repetitions would multiply
        self.load(configuration)
        client = ApiClient(configuration)
        client.user_agent = user_agent
        return client


def find_login(context: str | None) -> Login:
    """Try the pod's service account, then kubeconfig; with a `context` only kubeconfig. Raises SettingsError."""
    tried = []
    if context is None:
        try:
            load_incluster_config(Configuration())
            return Login(None, load_incluster_config)
        except UNUSABLE as error:
            tried.append(f"in-cluster: {error}")
    path = os.environ.get("KUBECONFIG") or _DEFAULT_KUBECONFIG
    try:
        name = _choose(context, *_read_contexts(path), path)
        load = partial(load_kube_config, path, name)
        load(Configuration())
        return Login(name, load)
    except UNUSABLE as error:
        tried.append(f"kubeconfig {path}: {error}")
    raise SettingsError(
        "no-cluster",
        attempted="find out how to reach the cluster",
        why="; ".join(tried),
        remedy="In a cluster, give the pod a service account with its token mounted; elsewhere, set KUBECONFIG to a file with which kubectl works.",
    )


def _read_contexts(path: str) -> tuple[list[str], str | None]:
    """Give the names of all contexts and of the current one; `path` may be several paths, as for kubectl."""
    merged = KubeConfigMerger(path).config
    names = [context["name"] for context in merged.value["contexts"]] if merged else []
    if not names:
        raise ConfigException("there is no such file, or no context in it")
    return names, merged.value.get("current-context")


def _choose(context: str | None, known: list[str], current: str | None, path: str) -> str:
    name = context or current
    if name in known:
        return name
    raise SettingsError(
        "context-unknown",
        attempted=f"use the context {name!r} of kubeconfig {path}" if name else f"use the current context of kubeconfig {path}",
        why="there is no such context" if name else "none is set",
        remedy=f"Choose one with --context. Known there: {', '.join(known)}.",
    )
