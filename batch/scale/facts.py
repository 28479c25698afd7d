"""Facts: what several checks read of a snapshot, looked up once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from batch.findings import Message, message
from batch.scale.model import Check, Rule, unknown
from batch.settings import Settings
from batch.snapshot import views
from batch.snapshot.model import Snapshot

_NO_RIGHT = "no right"
"""How the reason of a gap begins where a right is missing."""


@dataclass(frozen=True)
class Facts:
    """A snapshot with the settings by which it is judged."""

    snapshot: Snapshot
    settings: Settings

    @cached_property
    def nodes(self) -> pd.DataFrame:
        """Rows of `nodes` that are machines: virtual ones have no limits of their own."""
        nodes = self.snapshot.table("nodes")
        return nodes.loc[~nodes["virtual"]].reset_index(drop=True)

    @cached_property
    def living(self) -> pd.DataFrame:
        """Rows of `pods` that have not finished."""
        pods = self.snapshot.table("pods")
        return pods.loc[~pods["phase"].isin(views.FINISHED)]

    @cached_property
    def bound(self) -> pd.DataFrame:
        """Rows of `pods` that hold room on a machine."""
        bound = views.bound_pods(self.snapshot)
        return bound.loc[bound["node"].isin(self.nodes["node"])]

    @cached_property
    def on_nodes(self) -> pd.Series:
        """Bound pods on each machine, by name; 0 where there is none."""
        return self.bound.groupby("node").size().reindex(self.nodes["node"], fill_value=0)

    @cached_property
    def pools(self) -> pd.Series:
        """Node pool of each node, by name."""
        return views.pools(self.snapshot, self.settings.pools.label)

    def without_nodes(self, rule: Rule) -> Check | None:
        """Give the check where machines could not be read; None where they were."""
        return self.without(rule, "nodes")

    def in_part(self, rule: Rule) -> Check | None:
        """Give the check where only some namespaces were read; None where all were."""
        if self.snapshot.namespaces is None:
            return None
        return unknown(rule, message("Only some namespaces were read"), message("A run over all namespaces"))

    def not_kept(self, rule: Rule, column: str) -> Check | None:
        """Give the check where an older snapshot does not have that column of `pods`; None where it has."""
        if not len(self.living) or self.living[column].notna().any():
            return None
        return unknown(rule, message("This snapshot was taken before it was read"), message("A snapshot taken by this version"))

    def without(self, rule: Rule, *sources: str) -> Check | None:
        """Give the check where one of these lists could not be read; None where all were."""
        return next((unread(rule, source, self._reason(source)) for source in sources if not self.snapshot.has(source)), None)

    def _reason(self, source: str) -> str:
        """Give why a source is missing, as its gap has it; "" where nothing was noted."""
        return next((gap.reason for gap in self.snapshot.gaps if gap.source == source), "")


def unread(rule: Rule, source: str, reason: str) -> Check:
    """Say that a list could not be read, and what it lacked."""
    return unknown(rule, message("The list of {source:text} could not be read", source=source), _lacked(source, reason))


def _lacked(source: str, reason: str) -> Message:
    """Name the right that is missing, or what else went wrong; a reason of more than one part is shortened to its first."""
    if not reason or reason.startswith(_NO_RIGHT):
        return message("The right to list {source:text}", source=source)
    return message("That list: {reason:text}", reason=reason.partition(": ")[0])


def most_first(counts: pd.Series) -> pd.Series:
    """Order counts by size, equal ones by name."""
    named = pd.DataFrame({"count": counts.to_numpy(), "name": counts.index.to_numpy()})
    ordered = named.sort_values(["count", "name"], ascending=[False, True])
    return pd.Series(ordered["count"].to_numpy(), index=ordered["name"].to_numpy())
