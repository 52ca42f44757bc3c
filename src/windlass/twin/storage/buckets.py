"""Buckets of the JSON API: made, shown, changed and removed, and who may use them.

Must not touch objects, but for asking whether there are any.
"""

from __future__ import annotations

import base64
import functools
import json
from collections.abc import Mapping
from typing import Any

from windlass.twin.messages import Response
from windlass.twin.storage import conditions, contents, faults
from windlass.twin.storage.database import Transaction
from windlass.twin.storage.names import bucket_etag, check_bucket_name, stamp
from windlass.twin.storage.policies import first_policy
from windlass.twin.storage.rendering import bucket_response, linked_bucket, response
from windlass.twin.storage.vault import Ask, Vault, dumps
from windlass.twin.storage.versions import bucket_resource

WRITABLE = (
    "acl",
    "autoclass",
    "billing",
    "cors",
    "customPlacementConfig",
    "defaultEventBasedHold",
    "defaultObjectAcl",
    "encryption",
    "hierarchicalNamespace",
    "iamConfiguration",
    "ipFilter",
    "labels",
    "lifecycle",
    "logging",
    "objectRetention",
    "retentionPolicy",
    "rpo",
    "softDeletePolicy",
    "storageClass",
    "versioning",
    "website",
)
MULTI_REGIONS = frozenset({"US", "EU", "ASIA"})
DUAL_REGIONS = frozenset({"NAM4", "EUR4", "EUR5", "EUR7", "EUR8", "ASIA1"})
PAGE_MOST = 1000


def insert(vault: Vault, ask: Ask) -> Response:
    """Make a bucket."""
    project = ask.query.get("project")
    if not project:
        raise faults.required("project")
    return bucket_response(ask, create(vault, ask.document("Bucket"), project=project))


def create(vault: Vault, given: Mapping[str, Any], *, project: str) -> dict[str, Any]:
    """Make a bucket of what a client says about it."""
    name = given.get("name")
    if not isinstance(name, str) or not name:
        raise faults.required("name")
    check_bucket_name(name)
    resource = _new(given, name=name, number=vault.project_number(project), now=vault.clock.now())
    policy = dumps(first_policy(project))

    def work(transaction: Transaction) -> None:
        taken = transaction.one("SELECT project FROM buckets WHERE name = ?", name)
        if taken is not None:
            raise faults.bucket_exists(is_own=taken[0] == project)
        transaction.run(
            "INSERT INTO buckets VALUES (?, ?, ?, ?)", name, project, dumps(resource), policy
        )

    vault.database.write(work)
    return resource


def _new(given: Mapping[str, Any], *, name: str, number: str, now: float) -> dict[str, Any]:
    location = str(given.get("location") or "US").upper()
    at = stamp(now)
    if location in MULTI_REGIONS:
        kind = "multi-region"
    else:
        kind = "dual-region" if location in DUAL_REGIONS else "region"
    resource = {
        "kind": "storage#bucket",
        "id": name,
        "name": name,
        "projectNumber": number,
        "generation": str(int(now * 1_000_000)),
        "metageneration": "1",
        "location": location,
        "locationType": kind,
        "storageClass": "STANDARD",
        "etag": bucket_etag(1),
        "timeCreated": at,
        "updated": at,
        # Google's default is a week; the twin keeps nothing that was deleted.
        "softDeletePolicy": {"retentionDurationSeconds": "0"},
    }
    if kind != "region":
        resource["rpo"] = "DEFAULT"
    resource.update({key: given[key] for key in WRITABLE if given.get(key) is not None})
    _settle(resource, at)
    return resource


def _settle(resource: dict[str, Any], at: str) -> None:
    """Fill in what follows from what the client said."""
    access = resource.setdefault("iamConfiguration", {})
    access.setdefault("publicAccessPrevention", "inherited")
    uniform = access.setdefault("uniformBucketLevelAccess", access.get("bucketPolicyOnly", {}))
    uniform.setdefault("enabled", False)
    access["bucketPolicyOnly"] = {"enabled": uniform["enabled"]}
    policy = resource.get("retentionPolicy")
    if policy:
        policy.setdefault("effectiveTime", at)
    soft = resource["softDeletePolicy"]
    if soft.get("retentionDurationSeconds") not in ("0", 0):
        soft.setdefault("effectiveTime", at)


def get(vault: Vault, ask: Ask) -> Response:
    """Show a bucket."""
    resource = bucket_resource(vault.database, ask.params[0])
    conditions.from_query(ask.query).check_read(0, int(resource["metageneration"]))
    return bucket_response(ask, resource)


def list_(vault: Vault, ask: Ask) -> Response:
    """A page of a project's buckets."""
    project = ask.query.get("project")
    if not project:
        raise faults.required("project")
    most = min(ask.number("maxResults") or PAGE_MOST, PAGE_MOST)
    prefix = ask.query.get("prefix", "")
    after = _after(ask.query.get("pageToken", ""))
    rows = vault.database.all(
        "SELECT name, document FROM buckets WHERE project = ? AND name > ? ORDER BY name",
        project,
        after,
    )
    found = [row for row in rows if row[0].startswith(prefix)]
    page: dict[str, Any] = {"kind": "storage#buckets"}
    if found:
        page["items"] = [linked_bucket(ask, json.loads(row[1])) for row in found[:most]]
    if len(found) > most:
        page["nextPageToken"] = base64.urlsafe_b64encode(found[most - 1][0].encode()).decode()
    return response(ask, page)


def _after(token: str) -> str:
    try:
        return base64.urlsafe_b64decode(token).decode()
    except ValueError as exc:
        raise faults.invalid("Invalid argument.", location="pageToken") from exc


def patch(vault: Vault, ask: Ask) -> Response:
    """Change some fields; null removes one."""
    return _change(vault, ask, is_whole=False)


def update(vault: Vault, ask: Ask) -> Response:
    """Replace every field that a client may write."""
    return _change(vault, ask, is_whole=True)


def _change(vault: Vault, ask: Ask, *, is_whole: bool) -> Response:
    given = ask.document("Bucket")
    wanted = conditions.from_query(ask.query)
    now = vault.clock.now()

    def work(transaction: Transaction) -> dict[str, Any]:
        resource: dict[str, Any] = json.loads(dumps(bucket_resource(transaction, ask.params[0])))
        metageneration = int(resource["metageneration"])
        wanted.check_write(0, metageneration)
        for key in WRITABLE:
            if is_whole and key not in given and key not in ("storageClass", "softDeletePolicy"):
                resource.pop(key, None)
            elif key in given:
                merge(resource, key, given[key])
        _settle(resource, stamp(now))
        resource["metageneration"] = str(metageneration + 1)
        resource["etag"] = bucket_etag(metageneration + 1)
        resource["updated"] = stamp(now)
        transaction.run(
            "UPDATE buckets SET document = ? WHERE name = ?", dumps(resource), ask.params[0]
        )
        return resource

    return bucket_response(ask, vault.database.write(work))


def merge(resource: dict[str, Any], key: str, value: Any) -> None:
    """Merge one field as PATCH does: objects field by field, null removes."""
    if value is None:
        resource.pop(key, None)
    elif isinstance(value, dict):
        if not isinstance(resource.get(key), dict):
            resource[key] = {}
        for inner, wanted in value.items():
            merge(resource[key], inner, wanted)
    else:
        resource[key] = value


def delete(vault: Vault, ask: Ask) -> Response:
    """Remove an empty bucket."""
    wanted = conditions.from_query(ask.query)
    remove(vault, ask.params[0], wanted=wanted)
    return Response(status=204)


def remove(vault: Vault, name: str, *, wanted: conditions.Conditions = conditions.NONE) -> None:
    """Remove an empty bucket, with the uploads to it that never ended."""

    def work(transaction: Transaction) -> None:
        resource = bucket_resource(transaction, name)
        wanted.check_write(0, int(resource["metageneration"]))
        if transaction.one("SELECT 1 FROM objects WHERE bucket = ? LIMIT 1", name) is not None:
            raise faults.bucket_not_empty()
        for (file,) in transaction.all(
            "SELECT file FROM sessions WHERE bucket = ? AND file IS NOT NULL", name
        ):
            transaction.afterwards.append(functools.partial(vault.blobs.condemn, file))
        transaction.run("DELETE FROM sessions WHERE bucket = ?", name)
        for upload, content in transaction.all(
            "SELECT upload, content FROM parts JOIN multiparts ON upload = id WHERE bucket = ?",
            name,
        ):
            transaction.run("DELETE FROM parts WHERE upload = ?", upload)
            contents.drop(transaction, content, blobs=vault.blobs)
        transaction.run("DELETE FROM multiparts WHERE bucket = ?", name)
        transaction.run("DELETE FROM buckets WHERE name = ?", name)

    vault.database.write(work)


def layout(vault: Vault, ask: Ask) -> Response:
    """How a bucket's objects are laid out."""
    resource = bucket_resource(vault.database, ask.params[0])
    return response(
        ask,
        {
            "kind": "storage#storageLayout",
            "bucket": resource["name"],
            "location": resource["location"],
            "locationType": resource["locationType"],
            "hierarchicalNamespace": {
                "enabled": bool(resource.get("hierarchicalNamespace", {}).get("enabled"))
            },
        },
    )


def managed_folders(vault: Vault, ask: Ask) -> Response:
    """There are none: the twin has no managed folders."""
    bucket_resource(vault.database, ask.params[0])
    return response(ask, {"kind": "storage#managedFolders"})
