"""OS Login: a person's account on Linux machines, and the SSH keys that open it.

Must not let anybody into a machine: the machines read keys where they find them.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from windlass.twin.call import ANYBODY, Call, Route
from windlass.twin.refusals import Refusal
from windlass.twin.wellknown import patched

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud

FIRST_ID = 1_000_000_000
SPAN = 1_000_000_000
LONGEST_USERNAME = 32
_OTHERS = re.compile(r"[^a-z0-9_]")


class Profiles:
    """Everybody's login profile. People see and change their own only."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._keys = cloud.documents("oslogin.keys")
        self._accounts = cloud.documents("oslogin.accounts")

    def profile(self, call: Call) -> dict[str, Any]:
        """Account and keys. Whoever has no account is given one, as for a first login."""
        user = self._user(call, "name")
        self._provision(user)
        return self._shown(user)

    def import_key(self, call: Call) -> dict[str, Any]:
        """Add a key, and answer the whole profile."""
        user = self._user(call, "parent")
        self._provision(user)
        self._add(user, call.body)
        return {"loginProfile": self._shown(user)}

    def create_key(self, call: Call) -> dict[str, Any]:
        """Add a key."""
        return self._add(self._user(call, "parent"), call.body)

    def get_key(self, call: Call) -> dict[str, Any]:
        """One of them."""
        return self._find(call)

    def patch_key(self, call: Call) -> dict[str, Any]:
        """Change when it ends; the key itself makes its name, and stays."""
        key = self._find(call)
        fixed = ("name", "fingerprint", "key")
        changed = patched(key, call.body, call.query.get("updateMask", ""), fixed=fixed)
        self._keys.put(changed["name"], changed)
        return changed

    def delete_key(self, call: Call) -> dict[str, Any]:
        """It opens nothing any more."""
        self._keys.drop(self._find(call)["name"])
        return {}

    def provision(self, call: Call) -> dict[str, Any]:
        """An account in the project."""
        return self._provision(self._user(call, "name"))

    def delete_account(self, call: Call) -> dict[str, Any]:
        """The account of a project is gone; keys stay."""
        user = self._user(call, "name")
        if self._accounts.drop(user) is None:
            raise Refusal(404, f"No POSIX account found for {call.params['name']}.")
        return {}

    def _user(self, call: Call, param: str) -> str:
        user = call.params[param].split("/")[1]
        if user != call.principal:
            raise Refusal(403, f"The caller does not have permission to act on users/{user}.")
        return user

    def _provision(self, user: str) -> dict[str, Any]:
        project = self._cloud.settings.project
        account = self._accounts.get(user)
        if account is None:
            number = str(FIRST_ID + _number(user) % SPAN)
            username = username_of(user)
            account = {
                "primary": True,
                "username": username,
                "uid": number,
                "gid": number,
                "homeDirectory": f"/home/{username}",
                "operatingSystemType": "LINUX",
                "accountId": project,
                "name": f"users/{user}/projects/{project}",
            }
            self._accounts.put(user, account)
        return account

    def _add(self, user: str, body: dict[str, Any]) -> dict[str, Any]:
        text = body.get("key", "").strip()
        if len(text.split()) < 2:
            raise Refusal(400, "Invalid SSH public key.")
        fingerprint = hashlib.sha256(text.encode()).hexdigest()
        name = f"users/{user}/sshPublicKeys/{fingerprint}"
        key = {"key": text, "fingerprint": fingerprint, "name": name}
        if body.get("expirationTimeUsec"):
            key["expirationTimeUsec"] = body["expirationTimeUsec"]
        self._keys.put(name, key)
        return key

    def _find(self, call: Call) -> dict[str, Any]:
        self._user(call, "name")
        key = self._keys.get(call.params["name"])
        if key is None or self._is_over(key):
            raise Refusal(404, f"SSH public key {call.params['name']} was not found.")
        return key

    def _is_over(self, key: dict[str, Any]) -> bool:
        ends = int(key.get("expirationTimeUsec", 0))
        return 0 < ends <= self._cloud.clock.now() * 1e6

    def _shown(self, user: str) -> dict[str, Any]:
        account = self._accounts.get(user)
        keys = {
            key["fingerprint"]: key
            for _, key in self._keys.under(f"users/{user}/")
            if not self._is_over(key)
        }
        shown: dict[str, Any] = {"name": str(_number(user))}
        if account is not None:
            shown["posixAccounts"] = [account]
        if keys:
            shown["sshPublicKeys"] = keys
        return shown


def username_of(user: str) -> str:
    """As Google makes it of an address: `you@example.com` is `you_example_com`; a service account
    is `sa_` and its number."""
    if user.endswith(".gserviceaccount.com"):
        return f"sa_{_number(user)}"
    return _OTHERS.sub("_", user.lower())[:LONGEST_USERNAME]


def _number(user: str) -> int:
    """A number of 21 digits, as people have."""
    digest = hashlib.sha256(user.encode()).digest()
    return 10**20 + int.from_bytes(digest[:8], "big")


def routes(cloud: Cloud) -> dict[str, Route]:
    """The methods that are modelled. Who somebody is decides, not which role they have."""
    profiles = Profiles(cloud)
    handlers = {
        "getLoginProfile": profiles.profile,
        "importSshPublicKey": profiles.import_key,
        "projects.provisionPosixAccount": profiles.provision,
        "projects.delete": profiles.delete_account,
        "sshPublicKeys.create": profiles.create_key,
        "sshPublicKeys.get": profiles.get_key,
        "sshPublicKeys.patch": profiles.patch_key,
        "sshPublicKeys.delete": profiles.delete_key,
    }
    return {
        f"oslogin.users.{name}": Route(handler, permission=ANYBODY)
        for name, handler in handlers.items()
    }
