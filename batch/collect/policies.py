"""Services, quotas and disruption budgets: how many there are, what is left of them, and which pods may not be moved."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pandas as pd

from batch.collect.kept import KeptItems
from batch.collect.objects import Budget, BudgetSpec, BudgetStatus, LabelSelector, Owned, Quota, QuotaSpec, QuotaStatus
from batch.collect.quantity import read_amount
from batch.collect.rejects import Rejects
from batch.snapshot.schemas import BUDGET_REQUIREMENTS, DISRUPTION_BUDGETS, RESOURCE_QUOTAS, SERVICES

_Requirement = tuple[str, str, tuple[str, ...]]

_NO_POD: _Requirement = ("", "In", ())
"""What no pod meets: a budget without a selector is for none (policy/v1, PodDisruptionBudgetSpec, Kubernetes 1.36)."""


class ServiceCollector(KeptItems[Owned]):
    """Turns pages of the Service list into a table of names."""

    item, kind = Owned, "Service"

    def __init__(self, rejects: Rejects, namespaces: Collection[str] = ()) -> None:
        super().__init__(rejects, namespaces)
        self._services = SERVICES.builder()

    def keep(self, key: tuple[str, str], item: Owned) -> None:  # noqa: ARG002  its name is all that counts
        """Keep its name."""
        self._services.add(key)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far."""
        return {"services": self._services.frame()}


class QuotaCollector(KeptItems[Quota]):
    """Turns pages of the ResourceQuota list into a table of what is limited."""

    item, kind = Quota, "ResourceQuota"

    def __init__(self, rejects: Rejects, namespaces: Collection[str] = ()) -> None:
        super().__init__(rejects, namespaces)
        self._quotas = RESOURCE_QUOTAS.builder()

    def keep(self, key: tuple[str, str], item: Quota) -> None:
        """Keep one row for each resource; before a quota was counted for the first time its status is empty."""
        spec, status = item.spec or QuotaSpec(), item.status or QuotaStatus()
        thing = f"resourcequota {key[0]}/{key[1]}"
        hard = self._rejects.amounts(status.hard or spec.hard, thing, "hard", _read_limited)
        used = self._rejects.amounts(status.used, thing, "status.used", _read_limited)
        for resource, amount in sorted(hard.items()):
            self._quotas.add((*key, resource, amount, used.get(resource)))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far."""
        return {"resource_quotas": self._quotas.frame()}


class BudgetCollector(KeptItems[Budget]):
    """Turns pages of the PodDisruptionBudget list into tables."""

    item, kind = Budget, "PodDisruptionBudget"

    def __init__(self, rejects: Rejects, namespaces: Collection[str] = ()) -> None:
        super().__init__(rejects, namespaces)
        self._budgets = DISRUPTION_BUDGETS.builder()
        self._requirements = BUDGET_REQUIREMENTS.builder()

    def keep(self, key: tuple[str, str], item: Budget) -> None:
        """Keep how many pods may go, and which pods it is about."""
        status = item.status or BudgetStatus()
        amounts = (status.disruptions_allowed, status.current_healthy, status.desired_healthy, status.expected_pods)
        self._budgets.add((*key, *amounts))
        for number, (label, operator, values) in enumerate(_requirements((item.spec or BudgetSpec()).selector)):
            for position, value in enumerate(values or (None,)):
                self._requirements.add((*key, number, position, label, operator, value))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far."""
        return {"disruption_budgets": self._budgets.frame(), "budget_requirements": self._requirements.frame()}


def _read_limited(resource: str, value: object) -> int:
    """Read an amount in the unit of the resource behind requests. or limits."""
    return read_amount(resource.removeprefix("requests.").removeprefix("limits."), value)


def _requirements(selector: LabelSelector | None) -> Iterator[_Requirement]:
    if selector is None:
        yield _NO_POD
        return
    for label, value in sorted((selector.match_labels or {}).items()):
        yield label, "In", (value,)
    for one in selector.match_expressions or []:
        yield one.key, one.operator, tuple(one.values or ())
