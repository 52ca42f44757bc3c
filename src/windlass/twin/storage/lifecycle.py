"""Lifecycle rules: what a bucket does to its objects as they grow old.

Must not run by itself: somebody who knows the time asks for it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from windlass.twin.storage import faults, versions
from windlass.twin.storage.database import Transaction
from windlass.twin.storage.names import moment, stamp
from windlass.twin.storage.vault import Vault
from windlass.twin.storage.versions import FIELDS, Version

DAY_S = 86400.0


def sweep(vault: Vault, *, now: float) -> int:
    """Apply every bucket's rules once; how many objects were deleted or changed class."""
    count = 0
    for (name,) in vault.database.all("SELECT name FROM buckets"):
        bucket = versions.bucket_resource(vault.database, name)
        rules = (bucket.get("lifecycle") or {}).get("rule") or []
        if rules:
            rule = functools.partial(_apply, vault=vault, bucket=bucket, rules=rules, now=now)
            count += vault.database.write(rule)
    return count


def _apply(
    transaction: Transaction,
    *,
    vault: Vault,
    bucket: Mapping[str, Any],
    rules: list[Mapping[str, Any]],
    now: float,
) -> int:
    rows = transaction.all(
        f"SELECT {FIELDS} FROM objects WHERE bucket = ? ORDER BY name, generation DESC",
        bucket["name"],
    )
    count = 0
    newer = 0
    before = ""
    for row in rows:
        version = Version(*row)
        newer = newer + 1 if version.name == before else 0
        before = version.name
        action = _action(rules, version, newer=newer, now=now)
        if action is not None and _act(transaction, vault, version, action, bucket, now):
            count += 1
    return count


def _action(
    rules: list[Mapping[str, Any]], version: Version, *, newer: int, now: float
) -> Mapping[str, Any] | None:
    """What is to be done: a deletion before any change of class."""
    resource = version.resource
    due = [
        rule["action"]
        for rule in rules
        if is_due(rule.get("condition") or {}, version, resource, newer=newer, now=now)
    ]
    due.sort(key=lambda action: action.get("type") != "Delete")
    return due[0] if due else None


def is_due(
    condition: Mapping[str, Any],
    version: Version,
    resource: Mapping[str, Any],
    *,
    newer: int,
    now: float,
) -> bool:
    """Whether every condition of a rule holds. A rule without any never applies."""
    if not condition:
        return False
    name = version.name
    created = moment(resource["timeCreated"])
    gone = moment(resource["timeDeleted"]) if "timeDeleted" in resource else None
    custom = moment(resource["customTime"]) if "customTime" in resource else None

    def older(than: float | None, days: Any) -> bool:
        return than is not None and now - than >= float(days) * DAY_S

    checks = {
        "age": lambda value: older(created, value),
        "createdBefore": lambda value: created < moment(value),
        "customTimeBefore": lambda value: custom is not None and custom < moment(value),
        "daysSinceCustomTime": lambda value: older(custom, value),
        "daysSinceNoncurrentTime": lambda value: older(gone, value),
        "noncurrentTimeBefore": lambda value: gone is not None and gone < moment(value),
        "isLive": lambda value: bool(version.is_live) is value,
        "numNewerVersions": lambda value: newer >= int(value),
        "matchesPrefix": lambda value: not value or name.startswith(tuple(value)),
        "matchesSuffix": lambda value: not value or name.endswith(tuple(value)),
        "matchesStorageClass": lambda value: not value or resource["storageClass"] in value,
    }
    return all(checks[key](value) for key, value in condition.items() if key in checks)


def _act(
    transaction: Transaction,
    vault: Vault,
    version: Version,
    action: Mapping[str, Any],
    bucket: Mapping[str, Any],
    now: float,
) -> bool:
    try:
        if action.get("type") == "Delete" and version.is_live:
            versions.retire(transaction, version, bucket=bucket, blobs=vault.blobs, now=now)
            return True
        if action.get("type") == "Delete":
            versions.remove(transaction, version, blobs=vault.blobs, now=now)
            return True
    except faults.StorageRefusal:
        # A hold is stronger than a rule.
        return False
    resource = version.resource
    wanted = action.get("storageClass")
    if action.get("type") != "SetStorageClass" or wanted in (None, resource["storageClass"]):
        return False
    resource["storageClass"] = wanted
    resource["timeStorageClassUpdated"] = stamp(now)
    versions.describe(transaction, version, resource, now=now)
    return True
