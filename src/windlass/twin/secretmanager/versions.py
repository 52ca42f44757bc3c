"""Versions of secrets: the payloads, and whether they may be had.

Must not show a payload except to whoever asks for it by `access`.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import google_crc32c

from windlass.twin.compute.filters import parsed
from windlass.twin.paging import page
from windlass.twin.refusals import Refusal
from windlass.twin.secretmanager.names import (
    LATEST,
    no_version,
    secret_of,
    version_of,
    wrong_etag,
    wrong_state,
)
from windlass.twin.secretmanager.secrets import new_etag
from windlass.twin.wellknown import duration_s, moment

if TYPE_CHECKING:
    from windlass.twin.call import Call
    from windlass.twin.cloud import Cloud
    from windlass.twin.secretmanager.secrets import Secrets

MOST = 25_000
MOST_BYTES = 65_536


class Versions:
    """The versions of all secrets. Keys have numbers of one length, so that they sort."""

    def __init__(self, cloud: Cloud, secrets: Secrets) -> None:
        self._cloud = cloud
        self._secrets = secrets
        self._versions = cloud.documents("secretmanager.versions")
        secrets.on_removed.append(self._forget)
        cloud.on("secretmanager.destroy", self._destroy_due)

    def add(self, call: Call) -> dict[str, Any]:
        """A new version, which is `latest` from now on."""
        name = secret_of(call)
        secret = self._secrets.find(name)
        payload = call.body.get("payload") or {}
        raw = _decoded(payload.get("data", ""))
        checksum = google_crc32c.value(raw)
        given = payload.get("dataCrc32c")
        if given is not None and int(given) != checksum:
            message = f"Payload checksum mismatch: got {given}, the data has {checksum}."
            raise Refusal(400, message)
        numbers = self._numbers(name)
        number = (numbers[-1] if numbers else 0) + 1
        shown: dict[str, Any] = {
            "name": f"{name}/versions/{number}",
            "createTime": self._cloud.stamp(),
            "state": "ENABLED",
            "etag": new_etag(self._cloud),
        }
        if given is not None:
            shown["clientSpecifiedPayloadChecksum"] = True
        if replicated := _replication_status(secret):
            shown["replicationStatus"] = replicated
        data = base64.b64encode(raw).decode()
        self._versions.put(_key(name, number), {"shown": shown, "data": data})
        return shown

    def get(self, call: Call) -> dict[str, Any]:
        """One of them, without its payload."""
        return self._shown(self._named(call)[1])

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of a secret, newest first."""
        name = secret_of(call)
        self._secrets.find(name)
        test = parsed(call.query.get("filter", ""))
        every = (self._shown(one) for _, one in self._versions.under(_prefix(name)))
        found = [one for one in every if test(one)][::-1]
        size, token = call.query.get("pageSize"), call.query.get("pageToken", "")
        shown, following = page(found, size=size, token=token, usual=MOST, most=MOST)
        answer: dict[str, Any] = {"totalSize": len(found)}
        if shown:
            answer["versions"] = shown
        if following:
            answer["nextPageToken"] = following
        return answer

    def access(self, call: Call) -> dict[str, Any]:
        """The payload."""
        _, record = self._named(call)
        shown = record["shown"]
        if shown["state"] != "ENABLED":
            raise wrong_state(shown["name"], shown["state"])
        checksum = google_crc32c.value(base64.b64decode(record["data"]))
        payload = {"data": record["data"], "dataCrc32c": str(checksum)}
        return {"name": shown["name"], "payload": payload}

    def enable(self, call: Call) -> dict[str, Any]:
        """It may be had again."""
        return self._set(call, "ENABLED")

    def disable(self, call: Call) -> dict[str, Any]:
        """It may not be had until it is enabled."""
        return self._set(call, "DISABLED")

    def destroy(self, call: Call) -> dict[str, Any]:
        """Its payload is gone for ever; later, where the secret says so."""
        key, record = self._checked(call)
        delay = self._secrets.find(secret_of(call)).get("versionDestroyTtl")
        if not delay:
            return self._destroy(key, record)
        due = self._cloud.clock.now() + duration_s(delay)
        record["shown"] |= {"state": "DISABLED", "scheduledDestroyTime": self._cloud.stamp(due)}
        self._cloud.at(moment(record["shown"]["scheduledDestroyTime"]), *_appointment(key))
        return self._kept(key, record)

    def _set(self, call: Call, state: str) -> dict[str, Any]:
        key, record = self._checked(call)
        record["shown"]["state"] = state
        record["shown"].pop("scheduledDestroyTime", None)
        return self._kept(key, record)

    def _checked(self, call: Call) -> tuple[str, dict[str, Any]]:
        """A version that may still be changed."""
        key, record = self._named(call)
        shown, given = record["shown"], call.body.get("etag", "")
        if shown["state"] == "DESTROYED":
            raise wrong_state(shown["name"], "DESTROYED")
        if given and given != shown["etag"]:
            raise wrong_etag(given, shown["etag"])
        return key, record

    def _destroy(self, key: str, record: dict[str, Any]) -> dict[str, Any]:
        record["data"] = ""
        record["shown"] |= {"state": "DESTROYED", "destroyTime": self._cloud.stamp()}
        record["shown"].pop("scheduledDestroyTime", None)
        return self._kept(key, record)

    def _destroy_due(self, key: str) -> None:
        record = self._versions.get(key)
        due = record["shown"].get("scheduledDestroyTime") if record is not None else None
        if record is not None and due and moment(due) <= self._cloud.clock.now():
            self._destroy(key, record)

    def _kept(self, key: str, record: dict[str, Any]) -> dict[str, Any]:
        record["shown"]["etag"] = new_etag(self._cloud)
        self._versions.put(key, record)
        return self._shown(record)

    def _named(self, call: Call) -> tuple[str, dict[str, Any]]:
        name, version = secret_of(call), version_of(call)
        secret = self._secrets.find(name)
        numbers = self._numbers(name)
        if version == LATEST:
            number = numbers[-1] if numbers else 0
        else:
            alias = secret.get("versionAliases", {}).get(version, version)
            number = int(alias) if alias.isdecimal() else 0
        key = _key(name, number)
        record = self._versions.get(key)
        if record is None:
            raise no_version(name, version)
        return key, record

    def _numbers(self, name: str) -> list[int]:
        return [int(key.rpartition("/")[2]) for key, _ in self._versions.under(_prefix(name))]

    def _shown(self, record: dict[str, Any]) -> dict[str, Any]:
        return dict(record["shown"])

    def _forget(self, name: str) -> None:
        for key, _ in list(self._versions.under(_prefix(name))):
            self._versions.drop(key)


def _prefix(name: str) -> str:
    return f"{name}/versions/"


def _key(name: str, number: int) -> str:
    return f"{_prefix(name)}{number:09d}"


def _appointment(key: str) -> tuple[str, str]:
    return "secretmanager.destroy", key


def _decoded(data: str) -> bytes:
    """Clients send either alphabet, with or without padding."""
    plain = data.replace("-", "+").replace("_", "/").rstrip("=")
    raw = base64.b64decode(plain + "=" * (-len(plain) % 4))
    if len(raw) > MOST_BYTES:
        message = f"The payload is too large: {len(raw)} bytes, and at most {MOST_BYTES} fit."
        raise Refusal(400, message)
    return raw


def _replication_status(secret: dict[str, Any]) -> dict[str, Any]:
    replication = secret.get("replication", {})
    if "userManaged" in replication:
        places = [
            {"location": one["location"]} for one in replication["userManaged"].get("replicas", [])
        ]
        return {"userManaged": {"replicas": places}}
    return {"automatic": {}} if "automatic" in replication else {}
