"""Policies: who has which role on what, as Google's IAM keeps them for every resource.

Must not know what a resource is: policies are kept by its name.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from windlass.twin.access.roles import allows
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud


class Policies:
    """Every resource's policy; one that was never set is empty, but for the project's own."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._policies = cloud.documents("policies")
        self._denied = cloud.documents("policies.denied")
        settings = cloud.settings
        self._first = {
            "bindings": [
                {"role": "roles/owner", "members": [f"user:{settings.account}"]},
                {
                    "role": "roles/editor",
                    "members": [f"serviceAccount:{settings.default_service_account}"],
                },
            ],
        }

    def get(self, resource: str) -> dict[str, Any]:
        """As `getIamPolicy` answers."""
        kept = self._policies.get(resource)
        policy = kept if kept is not None else self._unset(resource)
        bindings = policy.get("bindings", [])
        return {"version": 1, "bindings": bindings, "etag": self._etag(policy)}

    def set(self, resource: str, policy: dict[str, Any]) -> dict[str, Any]:
        """As `setIamPolicy` does it: an etag that is not the present one is refused."""
        etag = policy.get("etag")
        if etag and _raw(etag) != _raw(self.get(resource)["etag"]):
            message = (
                "There were concurrent policy changes. Please retry the whole read-modify-write "
                "with exponential backoff."
            )
            raise Refusal(409, message, status="ABORTED", reason="aborted")
        bindings = [binding for binding in policy.get("bindings", []) if binding.get("members")]
        revision = int((self._policies.get(resource) or {}).get("revision", 0)) + 1
        self._policies.put(resource, {"bindings": bindings, "revision": revision})
        return self.get(resource)

    def forget(self, resource: str) -> None:
        """The resource is gone."""
        self._policies.drop(resource)

    def deny(self, member: str, permission: str) -> None:
        """Take a permission away whatever the roles say; `*` is everybody."""
        self._denied.put(f"{member} {permission}", {})

    def permit(self, member: str, permission: str) -> None:
        """Give back what was taken away."""
        self._denied.drop(f"{member} {permission}")

    def denied(self) -> list[tuple[str, str]]:
        """Members and permissions that were taken away."""
        return [(key.partition(" ")[0], key.partition(" ")[2]) for key, _ in self._denied.items()]

    def allows(self, principal: str, resources: Iterable[str], permission: str) -> bool:
        """Whether somebody may, by the policy of one of the resources (a bucket, its project)."""
        if self.is_denied(principal, permission):
            return False
        members = {f"user:{principal}", f"serviceAccount:{principal}", "allUsers"}
        members.add("allAuthenticatedUsers")
        return any(
            allows(str(binding.get("role")), permission)
            for resource in resources
            for binding in self.get(resource)["bindings"]
            if members.intersection(binding.get("members", ()))
        )

    def is_denied(self, principal: str, permission: str) -> bool:
        """Whether it was taken away from somebody, or from everybody."""
        return any(f"{who} {permission}" in self._denied for who in (principal, "*"))

    def has_role(self, principal: str, resource: str, role: str) -> bool:
        """Whether somebody has that very role there."""
        members = {f"user:{principal}", f"serviceAccount:{principal}"}
        return any(
            binding.get("role") == role and members.intersection(binding.get("members", ()))
            for binding in self.get(resource)["bindings"]
        )

    def allowed(
        self, principal: str, resources: Iterable[str], permissions: Iterable[str]
    ) -> list[str]:
        """As `testIamPermissions` answers: those that the caller has."""
        places = tuple(resources)
        return [one for one in permissions if self.allows(principal, places, one)]

    def _unset(self, resource: str) -> dict[str, Any]:
        return self._first if resource == f"projects/{self._cloud.settings.project}" else {}

    def _etag(self, policy: dict[str, Any]) -> str:
        return base64.b64encode(f"policy-{policy.get('revision', 0)}".encode()).decode()


def _raw(etag: str) -> bytes:
    """Clients send bytes back in either alphabet. What are no such bytes is no etag of ours."""
    try:
        return base64.urlsafe_b64decode(etag.replace("+", "-").replace("/", "_") + "==")
    except ValueError:
        return b""
