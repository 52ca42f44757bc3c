"""The bucket of run folders: made so that it is private, near, cheap, and found again.

Must not change a bucket that is there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from windlass.engines.labels import OURS
from windlass.errors import OptionRefused, PermissionMissing
from windlass.google.session import Taken
from windlass.google.storage import Buckets

DAY_S = 86_400
UPLOADS_DAYS = 7
"""Parts of an upload that nobody finished are of no use after so long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A bucket as it is wanted."""

    name: str
    region: str
    runs_prefix: str = "runs/"
    """What the names of everything of runs begin with."""
    delete_after_s: float | None = None
    """Everything of runs that is older is deleted; None: nothing is."""
    kms_key: str = ""


def body_of(wish: Wish) -> dict[str, Any]:
    """The bucket as Cloud Storage takes it."""
    body: dict[str, Any] = {
        "name": wish.name,
        "location": wish.region.upper(),
        "storageClass": "STANDARD",
        "labels": {OURS: "true"},
        "iamConfiguration": {
            "uniformBucketLevelAccess": {"enabled": True},
            "publicAccessPrevention": "enforced",
        },
        # Old checkpoints are deleted all the time, and each would be paid for a week longer.
        "softDeletePolicy": {"retentionDurationSeconds": "0"},
        "lifecycle": {"rule": _rules(wish)},
    }
    if wish.kms_key:
        body["encryption"] = {"defaultKmsKeyName": wish.kms_key}
    return body


def _rules(wish: Wish) -> list[dict[str, Any]]:
    rules = [
        {
            "action": {"type": "AbortIncompleteMultipartUpload"},
            "condition": {"age": UPLOADS_DAYS},
        }
    ]
    if wish.delete_after_s is not None:
        days = math.ceil(wish.delete_after_s / DAY_S)
        condition = {"age": days, "matchesPrefix": [wish.runs_prefix]}
        rules.append({"action": {"type": "Delete"}, "condition": condition})
    return rules


def found(buckets: Buckets, name: str) -> dict[str, Any] | None:
    """The bucket, or None. Raises OptionRefused where somebody else has the name."""
    try:
        return buckets.get(name)
    except PermissionMissing as exc:
        raise _taken(name) from exc


def make(buckets: Buckets, wish: Wish) -> None:
    """Make it. Raises OptionRefused where somebody else has the name."""
    try:
        buckets.create(body_of(wish))
    except Taken as exc:
        if found(buckets, wish.name) is None:
            raise _taken(wish.name) from exc


def _taken(name: str) -> OptionRefused:
    return OptionRefused(
        f"gs://{name} is somebody else's, or you may not look at it",
        remedy="Names of buckets are shared by everybody: choose one with the project's name in "
        "it, and write it into `run_folder`.",
    )
