"""IAM: service accounts, their keys and policies, and tokens in their name.

Must not hand out a key twice: only its public half is kept.
"""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any, Protocol

from windlass.twin.call import Call, Route, locked
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.access.policies import Policies
    from windlass.twin.cloud import Cloud
    from windlass.twin.tokens import Tokens

ACCOUNT_ID = re.compile(r"[a-z][a-z0-9-]{4,28}[a-z0-9]")
OF_PROJECT = frozenset({"iam.projects.serviceAccounts.list", "iam.projects.serviceAccounts.create"})
LONGEST_S = 3600.0
LIFETIME = re.compile(r"(\d+(?:\.\d+)?)s")


class Rsa(Protocol):
    """Makes keys and checks signatures."""

    def new_key(self) -> tuple[str, str]:
        """The private and the public half, as PEM."""

    def is_signed(self, public_pem: str, *, message: bytes, signature: bytes) -> bool:
        """Whether the private half has signed it (RS256)."""


class ServiceAccounts:
    """The accounts of the project; the default one is always there."""

    def __init__(self, cloud: Cloud, *, policies: Policies, rsa: Rsa) -> None:
        self._cloud = cloud
        self._policies = policies
        self._rsa = rsa
        self._accounts = cloud.documents("serviceAccounts")
        self._keys = cloud.documents("serviceAccounts.keys")
        default = cloud.settings.default_service_account
        if default not in self._accounts:
            name = "Compute Engine default service account"
            self._accounts.put(default, self._account(default, {"displayName": name}))

    def routes(self, tokens: Tokens) -> dict[str, Route]:
        """The methods that are modelled."""
        accounts = "iam.projects.serviceAccounts"

        def access_token(call: Call) -> dict[str, Any]:
            return self.access_token(call, tokens)

        routes = locked(
            {
                f"{accounts}.list": self.list_all,
                f"{accounts}.get": self.get,
                f"{accounts}.create": self.create,
                f"{accounts}.delete": self.delete,
                f"{accounts}.patch": self.patch,
                f"{accounts}.getIamPolicy": self.get_policy,
                f"{accounts}.setIamPolicy": self.set_policy,
                f"{accounts}.testIamPermissions": self.test_permissions,
                f"{accounts}.keys.create": self.create_key,
                f"{accounts}.keys.list": self.list_keys,
                f"{accounts}.keys.delete": self.delete_key,
                "iamcredentials.projects.serviceAccounts.generateAccessToken": access_token,
            }
        )
        return {
            method: route._replace(resources=None if method in OF_PROJECT else self._own)
            for method, route in routes.items()
        }

    def exists(self, email: str) -> bool:
        """Whether there is such an account."""
        return email in self._accounts

    def add_key(self, email: str, *, key_id: str, public_pem: str) -> None:
        """Trust a key from now on."""
        if email not in self._accounts:
            self._accounts.put(email, self._account(email, {}))
        self._keys.put(f"{email}/{key_id}", {"public": public_pem, "made": self._cloud.stamp()})

    def is_signed(self, email: str, *, key_id: str, message: bytes, signature: bytes) -> bool:
        """See tokens.Keys."""
        key = self._keys.get(f"{email}/{key_id}")
        if key is None:
            return False
        return self._rsa.is_signed(key["public"], message=message, signature=signature)

    def list_all(self, call: Call) -> dict[str, Any]:
        """All of them."""
        return {"accounts": [account for _, account in self._accounts.items()]}

    def get(self, call: Call) -> dict[str, Any]:
        """One of them."""
        return self._found(call)[1]

    def create(self, call: Call) -> dict[str, Any]:
        """Make one."""
        account_id = call.body.get("accountId", "")
        if not ACCOUNT_ID.fullmatch(account_id):
            message = (
                f'The account ID "{account_id}" does not have a length between 6 and 30 or does '
                "not match [a-z]([-a-z0-9]*[a-z0-9])."
            )
            raise Refusal(400, message)
        email = f"{account_id}@{self._cloud.settings.project}.iam.gserviceaccount.com"
        if email in self._accounts:
            place = f"projects/{self._cloud.settings.project}/serviceAccounts/{email}"
            message = f"Service account {account_id} already exists within project {place}."
            raise Refusal(409, message)
        account = self._account(email, call.body.get("serviceAccount", {}))
        self._accounts.put(email, account)
        return account

    def delete(self, call: Call) -> dict[str, Any]:
        """It is gone, with its keys."""
        email, _ = self._found(call)
        self._accounts.drop(email)
        for key, _ in list(self._keys.under(f"{email}/")):
            self._keys.drop(key)
        self._policies.forget(self._place(email))
        return {}

    def patch(self, call: Call) -> dict[str, Any]:
        """Name it otherwise."""
        email, account = self._found(call)
        given = call.body.get("serviceAccount", {})
        account |= {name: given[name] for name in ("displayName", "description") if name in given}
        self._accounts.put(email, account)
        return account

    def get_policy(self, call: Call) -> dict[str, Any]:
        """Who may use it."""
        return self._policies.get(self._place(self._found(call)[0]))

    def set_policy(self, call: Call) -> dict[str, Any]:
        """Replace that."""
        return self._policies.set(self._place(self._found(call)[0]), call.body.get("policy", {}))

    def test_permissions(self, call: Call) -> dict[str, Any]:
        """Which of these the caller has."""
        places = [self._place(self._found(call)[0]), f"projects/{self._cloud.settings.project}"]
        wanted = call.body.get("permissions", [])
        return {"permissions": self._policies.allowed(call.principal, places, wanted)}

    def create_key(self, call: Call) -> dict[str, Any]:
        """A new key; the answer is the only place where its private half ever is."""
        email, _ = self._found(call)
        private, public = self._rsa.new_key()
        key_id = f"{int(self._cloud.new_id()):040x}"
        self.add_key(email, key_id=key_id, public_pem=public)
        credentials = credentials_file(
            email, key_id=key_id, private_pem=private, project=self._cloud.settings.project
        )
        data = base64.b64encode(json.dumps(credentials, indent=2).encode()).decode()
        return {**self._key(email, key_id), "privateKeyData": data}

    def list_keys(self, call: Call) -> dict[str, Any]:
        """What is known of them: not the keys."""
        email, _ = self._found(call)
        keys = self._keys.under(f"{email}/")
        return {"keys": [self._key(email, key.rpartition("/")[2]) for key, _ in keys]}

    def delete_key(self, call: Call) -> dict[str, Any]:
        """It no longer opens anything."""
        email, _ = self._found(call)
        key_id = call.params["name"].rpartition("/")[2]
        if self._keys.drop(f"{email}/{key_id}") is None:
            raise Refusal(404, f"Service account key {key_id} does not exist.")
        return {}

    def access_token(self, call: Call, tokens: Tokens) -> dict[str, Any]:
        """Act as this account for a while (impersonation)."""
        email, _ = self._found(call)
        given = LIFETIME.fullmatch(call.body.get("lifetime") or "3600s")
        seconds = float(given[1]) if given else 0.0
        if not 0.0 < seconds <= LONGEST_S:
            message = (
                "The access token lifetime cannot exceed 3600 seconds (1 hour). If a lifetime "
                "greater than 1 hour is required, see the organization policy constraint "
                "constraints/iam.allowServiceAccountCredentialLifetimeExtension."
            )
            raise Refusal(400, message)
        token = tokens.mint(email, seconds=seconds)
        # In whole seconds, as Google says it: google-auth reads nothing else.
        until = self._cloud.stamp(self._cloud.clock.now() + seconds).partition(".")[0]
        return {"accessToken": token, "expireTime": f"{until}Z"}

    def _own(self, call: Call) -> list[str]:
        """What may allow a call besides the project: the account's own policy."""
        try:
            return [self._place(self._found(call)[0])]
        except Refusal:
            return []

    def _found(self, call: Call) -> tuple[str, dict[str, Any]]:
        name = call.params.get("name") or call.params["resource"]
        project, email = name.split("/")[1], name.split("/")[3]
        settings = self._cloud.settings
        if project not in ("-", settings.project, settings.project_number):
            raise Refusal(404, f"Unknown service account: {email}")
        for account in (self._accounts.get(email), *self._by_number(email)):
            if account is not None:
                return account["email"], account
        raise Refusal(404, f"Unknown service account: {email}")

    def _by_number(self, unique_id: str) -> list[dict[str, Any]]:
        return [one for _, one in self._accounts.items() if one["uniqueId"] == unique_id]

    def _place(self, email: str) -> str:
        return f"projects/{self._cloud.settings.project}/serviceAccounts/{email}"

    def _account(self, email: str, given: dict[str, Any]) -> dict[str, Any]:
        unique_id = self._cloud.new_id()
        return {
            "name": self._place(email),
            "projectId": self._cloud.settings.project,
            "uniqueId": unique_id,
            "email": email,
            "oauth2ClientId": unique_id,
            "etag": base64.b64encode(unique_id[-8:].encode()).decode(),
            **{name: given[name] for name in ("displayName", "description") if name in given},
        }

    def _key(self, email: str, key_id: str) -> dict[str, Any]:
        record = self._keys.get(f"{email}/{key_id}") or {}
        return {
            "name": f"{self._place(email)}/keys/{key_id}",
            "keyAlgorithm": "KEY_ALG_RSA_2048",
            "keyOrigin": "GOOGLE_PROVIDED",
            "keyType": "USER_MANAGED",
            "privateKeyType": "TYPE_GOOGLE_CREDENTIALS_FILE",
            "validAfterTime": record.get("made", self._cloud.stamp()),
            "validBeforeTime": "9999-12-31T23:59:59Z",
        }


def credentials_file(email: str, *, key_id: str, private_pem: str, project: str) -> dict[str, str]:
    """What Google's clients read from GOOGLE_APPLICATION_CREDENTIALS."""
    return {
        "type": "service_account",
        "project_id": project,
        "private_key_id": key_id,
        "private_key": private_pem,
        "client_email": email,
        "client_id": "100000000000000000000",
        "auth_uri": "https://accounts.google.com/o/oauth2/auth",
        "token_uri": "https://oauth2.googleapis.com/token",
        "universe_domain": "googleapis.com",
    }
