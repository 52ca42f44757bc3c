"""Secrets: their settings, labels, policies and expiry.

Must not hold payloads: versions do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from windlass.twin.compute.filters import parsed
from windlass.twin.paging import page
from windlass.twin.refusals import Refusal
from windlass.twin.secretmanager.names import (
    already_exists,
    check_id,
    no_secret,
    parent_of,
    secret_of,
    wrong_etag,
)
from windlass.twin.wellknown import duration_s, moment, patched

if TYPE_CHECKING:
    from windlass.twin.access.policies import Policies
    from windlass.twin.call import Call
    from windlass.twin.cloud import Cloud

MOST = 25_000
FIXED = ("name", "createTime", "replication")


class Secrets:
    """All secrets of the project, global and regional ones, by name."""

    def __init__(self, cloud: Cloud, policies: Policies) -> None:
        self._cloud = cloud
        self._policies = policies
        self._secrets = cloud.documents("secretmanager.secrets")
        self.on_removed: list[Callable[[str], None]] = []
        cloud.on("secretmanager.expired", self._expired)

    def find(self, name: str) -> dict[str, Any]:
        """A secret that is there."""
        secret = self._secrets.get(name)
        if secret is None:
            raise no_secret(name)
        return secret

    def create(self, call: Call) -> dict[str, Any]:
        """A secret without versions."""
        secret_id = call.query.get("secretId", "")
        check_id(secret_id)
        parent = parent_of(call)
        name = f"{parent}/secrets/{secret_id}"
        if name in self._secrets:
            raise already_exists(name)
        is_regional = "/locations/" in parent
        if not is_regional and not call.body.get("replication"):
            raise Refusal(400, "Secret.replication must be provided.")
        secret = {**call.body, "name": name, "createTime": self._cloud.stamp()}
        return self._kept(name, self._with_expiry(secret))

    def get(self, call: Call) -> dict[str, Any]:
        """One of them."""
        return self.find(secret_of(call))

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of the project, newest first, or of one of its locations."""
        prefix = f"{parent_of(call)}/secrets/"
        test = parsed(call.query.get("filter", ""))
        found = [one for _, one in self._secrets.under(prefix) if test(one)]
        found.sort(key=lambda one: str(one["createTime"]), reverse=True)
        size, token = call.query.get("pageSize"), call.query.get("pageToken", "")
        shown, following = page(found, size=size, token=token, usual=MOST, most=MOST)
        answer: dict[str, Any] = {"totalSize": len(found)}
        if shown:
            answer["secrets"] = shown
        if following:
            answer["nextPageToken"] = following
        return answer

    def patch(self, call: Call) -> dict[str, Any]:
        """Change what the mask names."""
        name = secret_of(call)
        secret = self.find(name)
        self._check_etag(secret, call.body.get("etag", ""))
        mask = call.query.get("updateMask", "")
        if not mask:
            raise Refusal(400, "update_mask must be specified.")
        changed = patched(secret, call.body, mask, fixed=FIXED)
        return self._kept(name, self._with_expiry(changed))

    def delete(self, call: Call) -> dict[str, Any]:
        """Gone with all of its versions."""
        name = secret_of(call)
        self._check_etag(self.find(name), call.query.get("etag", ""))
        self._remove(name)
        return {}

    def get_policy(self, call: Call) -> dict[str, Any]:
        """Who may do what with a secret."""
        name = secret_of(call)
        self.find(name)
        return self._policies.get(name)

    def set_policy(self, call: Call) -> dict[str, Any]:
        """Replace it."""
        name = secret_of(call)
        self.find(name)
        return self._policies.set(name, call.body.get("policy", {}))

    def test_permissions(self, call: Call) -> dict[str, Any]:
        """Which of these the caller has."""
        name = secret_of(call)
        places = [name, f"projects/{self._cloud.settings.project}"]
        wanted = call.body.get("permissions", [])
        allowed = self._policies.allowed(call.principal, places, wanted)
        return {"permissions": allowed} if allowed else {}

    def _with_expiry(self, secret: dict[str, Any]) -> dict[str, Any]:
        """A time to live is a moment once it is set."""
        ttl = secret.pop("ttl", "")
        if ttl:
            secret["expireTime"] = self._cloud.stamp(self._cloud.clock.now() + duration_s(ttl))
        if secret.get("expireTime"):
            self._cloud.at(moment(secret["expireTime"]), "secretmanager.expired", secret["name"])
        return secret

    def _kept(self, name: str, secret: dict[str, Any]) -> dict[str, Any]:
        secret["etag"] = new_etag(self._cloud)
        self._secrets.put(name, secret)
        return secret

    def _check_etag(self, secret: dict[str, Any], given: str) -> None:
        if given and given != secret["etag"]:
            raise wrong_etag(given, secret["etag"])

    def _expired(self, name: str) -> None:
        secret = self._secrets.get(name)
        expires = secret.get("expireTime") if secret is not None else None
        if expires and moment(expires) <= self._cloud.clock.now():
            self._remove(name)

    def _remove(self, name: str) -> None:
        self._secrets.drop(name)
        self._policies.forget(name)
        for hear in self.on_removed:
            hear(name)


def new_etag(cloud: Cloud) -> str:
    """Secret Manager's are hexadecimal, in quotes of their own."""
    return f'"{int(cloud.new_id()):x}"'
