"""Which Job a pod belongs to, and whether anything bounds its time: readings that several checks share."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from batch.snapshot.model import Snapshot
from batch.snapshot.views import TEXT

JOB_UID_LABELS = ("batch.kubernetes.io/controller-uid", "controller-uid")
"""Labels that the Job controller puts on its pods, the current name first (Kubernetes documentation, Well-Known Labels)."""

_FLAG = pd.ArrowDtype(pa.bool_())


def job_uids(snapshot: Snapshot) -> pd.Series:
    """Give the uid of the Job of each row of `pods`, NA for pods of no Job: by owner reference, else by label, never by name."""
    pods, labels = snapshot.table("pods"), snapshot.table("label_sets")
    uids = pods["owner_uid"].where(pods["owner_kind"] == "Job").astype(TEXT)
    orphans = pods["owner_kind"].isna()
    if not orphans.any():
        return uids
    for name in JOB_UID_LABELS:
        values = labels.loc[labels["label"] == name].set_index("label_set")["value"]
        uids = uids.fillna(pods["label_set"].map(values).astype(TEXT).where(orphans))
    return uids


def has_deadline(snapshot: Snapshot) -> pd.Series:
    """Whether the time of each row of `pods` is bounded, by its own activeDeadlineSeconds or by its Job's; NA when its Job is not known."""
    pods, jobs = snapshot.table("pods"), snapshot.table("jobs")
    uids = job_uids(snapshot)
    known = jobs.loc[jobs["uid"].notna()]
    bounded = dict(zip(known["uid"], known["deadline_seconds"].notna(), strict=True))
    of_job = uids.map(bounded).astype(_FLAG)
    found = pods["deadline_seconds"].notna() | of_job.mask(uids.isna(), other=False)
    return found.astype(_FLAG)
