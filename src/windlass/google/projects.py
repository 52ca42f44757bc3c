"""The project itself: whether it is there, what its caller may do, who has which role.

Must not change a policy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from windlass.google.session import Missing, Session

BASE = "https://cloudresourcemanager.googleapis.com/v3"
ASKED_AT_ONCE = 100
"""So many permissions may be asked for in one call."""


class Projects:
    """One project, as Resource Manager knows it."""

    def __init__(self, session: Session, project: str) -> None:
        self._session = session
        self.project = project
        self._url = f"{BASE}/projects/{project}"

    def get(self) -> Mapping[str, Any] | None:
        """The project, or None."""
        try:
            return self._session.get(self._url, what=f"looking at the project {self.project}")
        except Missing:
            return None

    def granted(self, permissions: Collection[str]) -> frozenset[str]:
        """Which of these the caller has."""
        wanted = sorted(permissions)
        found: set[str] = set()
        for start in range(0, len(wanted), ASKED_AT_ONCE):
            answer = self._session.call(
                "POST",
                f"{self._url}:testIamPermissions",
                what="asking what is permitted",
                body={"permissions": wanted[start : start + ASKED_AT_ONCE]},
                is_repeatable=True,
            )
            found |= set(answer.get("permissions", ()))
        return frozenset(found)

    def roles(self) -> dict[str, frozenset[str]]:
        """Every role that is granted on the project, with those who have it."""
        policy = self._session.call(
            "POST",
            f"{self._url}:getIamPolicy",
            what="reading who has which role",
            body={"options": {"requestedPolicyVersion": 3}},
            is_repeatable=True,
        )
        return roles_of(policy)


def roles_of(policy: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """The roles of a policy, of a project or of anything else, with those who have them."""
    found: dict[str, set[str]] = {}
    for binding in policy.get("bindings", ()):
        found.setdefault(str(binding["role"]), set()).update(binding.get("members", ()))
    return {role: frozenset(members) for role, members in found.items()}
