"""Service accounts, and who is granted which role: on a project, and on a bucket.

Must not take away what others were granted: a policy is read, changed and written back under its
etag, and whoever changes it meanwhile makes us begin again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from windlass.errors import EngineTransient
from windlass.google.projects import BASE as PROJECTS
from windlass.google.session import Missing, Session, Taken, Unmet
from windlass.google.storage import BASE as BUCKETS

BASE = "https://iam.googleapis.com/v1"
VERSION = 3
"""Of policies: the first whose bindings may have conditions."""
TRIES = 4

Policy = dict[str, Any]
Condition = Mapping[str, str]


class Accounts:
    """The service accounts of one project."""

    def __init__(self, session: Session, project: str) -> None:
        self._session = session
        self.project = project
        self._root = f"{BASE}/projects/{project}/serviceAccounts"

    def email(self, name: str) -> str:
        """The address of an account of this project."""
        return f"{name}@{self.project}.iam.gserviceaccount.com"

    def get(self, name: str) -> dict[str, Any] | None:
        """An account, or None."""
        email = self.email(name)
        try:
            return self._session.get(f"{self._root}/{email}", what=f"looking at {email}")
        except Missing:
            return None

    def create(self, name: str, *, title: str, description: str) -> None:
        """Make an account; nothing where there is one."""
        body = {
            "accountId": name,
            "serviceAccount": {"displayName": title, "description": description},
        }
        try:
            self._session.call(
                "POST", self._root, what=f"making the account {name}", body=body, is_repeatable=True
            )
        except Taken:
            return

    def delete(self, name: str) -> None:
        """Delete an account; nothing where there is none."""
        email = self.email(name)
        try:
            self._session.call("DELETE", f"{self._root}/{email}", what=f"deleting {email}")
        except Missing:
            return


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One role for one member, perhaps under a condition."""

    role: str
    member: str
    condition: Condition = field(default_factory=dict, hash=False)


def has(policy: Mapping[str, Any], grant: Grant) -> bool:
    """Whether a policy grants it."""
    return any(
        _is_of(binding, grant) and grant.member in binding.get("members", ())
        for binding in policy.get("bindings", ())
    )


class Grants:
    """The policy of one thing."""

    def __init__(self, read: Callable[[], Policy], write: Callable[[Policy], None]) -> None:
        self._read = read
        self._write = write

    def policy(self) -> Policy:
        """As it is now."""
        return self._read()

    def add(self, grant: Grant) -> None:
        """Grant it, unless it is."""
        self._change(lambda policy: None if has(policy, grant) else _with(policy, grant))

    def remove(self, grant: Grant) -> None:
        """Take it back, if it is granted."""
        self._change(lambda policy: _without(policy, grant) if has(policy, grant) else None)

    def _change(self, change: Callable[[Policy], Policy | None]) -> None:
        for _ in range(TRIES):
            changed = change(self._read())
            if changed is None:
                return
            try:
                self._write(changed)
            except (Taken, Unmet):
                continue  # Somebody has changed it meanwhile.
            return
        raise EngineTransient("others change the same policy all the time; nothing was changed")


def of_project(session: Session, project: str) -> Grants:
    """The policy of a project."""
    url = f"{PROJECTS}/projects/{project}"

    def read() -> Policy:
        return session.call(
            "POST",
            f"{url}:getIamPolicy",
            what="reading who has which role",
            body={"options": {"requestedPolicyVersion": VERSION}},
            is_repeatable=True,
        )

    def write(policy: Policy) -> None:
        session.call("POST", f"{url}:setIamPolicy", what="granting roles", body={"policy": policy})

    return Grants(read, write)


def of_bucket(session: Session, bucket: str) -> Grants:
    """The policy of a bucket. Missing when it is not there."""
    url = f"{BUCKETS}/{bucket}/iam"
    query = {"optionsRequestedPolicyVersion": str(VERSION)}
    what = f"who may use the bucket {bucket}"
    return Grants(
        lambda: session.get(url, what=f"reading {what}", query=query),
        lambda policy: _discard(session.call("PUT", url, what=f"changing {what}", body=policy)),
    )


def _with(policy: Policy, grant: Grant) -> Policy:
    bindings = [dict(one) for one in policy.get("bindings", ())]
    for binding in bindings:
        if _is_of(binding, grant):
            binding["members"] = [*binding.get("members", ()), grant.member]
            return {**policy, "bindings": bindings, "version": VERSION}
    new: dict[str, Any] = {"role": grant.role, "members": [grant.member]}
    if grant.condition:
        new["condition"] = dict(grant.condition)
    return {**policy, "bindings": [*bindings, new], "version": VERSION}


def _without(policy: Policy, grant: Grant) -> Policy:
    bindings = []
    for binding in policy.get("bindings", ()):
        members = list(binding.get("members", ()))
        if _is_of(binding, grant) and grant.member in members:
            members.remove(grant.member)
        if members:
            bindings.append({**binding, "members": members})
    return {**policy, "bindings": bindings, "version": VERSION}


def _is_of(binding: Mapping[str, Any], grant: Grant) -> bool:
    expression = (binding.get("condition") or {}).get("expression", "")
    is_same_condition = expression == grant.condition.get("expression", "")
    return binding.get("role") == grant.role and is_same_condition


def _discard(answer: Mapping[str, Any]) -> None:
    pass
