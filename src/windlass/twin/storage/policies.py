"""Who may use a bucket: its IAM policy, kept and shown.

Must not decide whether somebody may: whoever asks owns every bucket of the twin.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

from windlass.twin.messages import Response
from windlass.twin.storage import faults
from windlass.twin.storage.database import Reads, Transaction
from windlass.twin.storage.names import bucket_etag
from windlass.twin.storage.rendering import response
from windlass.twin.storage.vault import Ask, Vault, dumps
from windlass.twin.storage.versions import bucket_resource


def get_policy(vault: Vault, ask: Ask) -> Response:
    """Who may do what with a bucket."""
    name = ask.params[0]
    return response(ask, _policy(name, _text(vault.database, name)))


def set_policy(vault: Vault, ask: Ask) -> Response:
    """Replace a bucket's policy; an ETag, where one is sent, must be the present one."""
    name = ask.params[0]
    given = ask.document("Policy")
    kept = dumps({key: given[key] for key in ("version", "bindings") if key in given})

    def work(transaction: Transaction) -> None:
        present = _policy(name, _text(transaction, name))
        if given.get("etag") not in (None, "", present["etag"]):
            raise faults.condition_failed()
        count = int(json.loads(_text(transaction, name)).get("count", 0)) + 1
        text = kept[:-1] + ("," if len(kept) > 2 else "") + f'"count":{count}}}'
        transaction.run("UPDATE buckets SET policy = ? WHERE name = ?", text, name)

    vault.database.write(work)
    return get_policy(vault, ask)


def test_permissions(vault: Vault, ask: Ask) -> Response:
    """The caller owns every bucket of the twin: it may do all that it asks about."""
    bucket_resource(vault.database, ask.params[0])
    asked = [value for key, value in parse_qsl(ask.request.query) if key == "permissions"]
    page: dict[str, Any] = {"kind": "storage#testIamPermissionsResponse"}
    if asked:
        page["permissions"] = asked
    return response(ask, page)


def _text(reads: Reads, name: str) -> str:
    row = reads.one("SELECT policy FROM buckets WHERE name = ?", name)
    if row is None:
        raise faults.no_such_bucket()
    text: str = row[0]
    return text


def _policy(name: str, text: str) -> dict[str, Any]:
    stored = json.loads(text)
    return {
        "kind": "storage#policy",
        "resourceId": f"projects/_/buckets/{name}",
        "version": stored.get("version", 1),
        "etag": bucket_etag(int(stored.get("count", 0)) + 1),
        "bindings": stored.get("bindings", []),
    }


def first_policy(project: str) -> dict[str, Any]:
    """What a new bucket's policy is."""
    owners = [f"projectEditor:{project}", f"projectOwner:{project}"]
    return {
        "version": 1,
        "bindings": [
            {"role": "roles/storage.legacyBucketOwner", "members": owners},
            {
                "role": "roles/storage.legacyBucketReader",
                "members": [f"projectViewer:{project}"],
            },
        ],
    }
