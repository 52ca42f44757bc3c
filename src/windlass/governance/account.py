"""The service account that machines of runs act as: made with what nodes need, and no more.

Must not touch an account that somebody else made, nor what others were granted.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from windlass.engines.descriptions import described, pairs_of
from windlass.engines.needs import NodeRole
from windlass.engines.registry import needs_of
from windlass.errors import EngineRejected, OptionRefused, PermissionMissing
from windlass.google.iam import Accounts, Grant, Grants, has, of_bucket, of_project
from windlass.google.session import Missing, Session

NAME = "windlass-runs"
TITLE = "Runs of Windlass"
PIECE = "account"
OBJECTS = NodeRole("roles/storage.objectUser", "read and write run folders")
LOGS = NodeRole("roles/logging.logWriter", "write logs")


class Step(NamedTuple):
    """What was, or would be, done about the account or one of its roles."""

    done: str
    """`made`, `there`, `missing` or `removed`."""
    what: str
    where: str
    """The project, or `gs://BUCKET`."""
    why: str = ""


Tell = Callable[[Step], None]


class Account:
    """One account, of one project."""

    def __init__(
        self, session: Session, project: str, name: str, *, engines: Sequence[str], bucket: str
    ) -> None:
        """`bucket` has the run folders; empty for none."""
        self._session = session
        self._accounts = Accounts(session, project)
        self._name = name
        self._engines = engines
        self._bucket = bucket
        self.email = self._accounts.email(name)

    def planned(self) -> list[Step]:
        """What `up` would do."""
        account = self._accounts.get(self._name)
        if account is not None and not pairs_of(str(account.get("description", ""))):
            raise OptionRefused(
                f"{self.email} is not of Windlass's making",
                remedy="Name it in `engine: {…: {service_account: …}}`, or choose another name.",
            )
        state = "missing" if account is None else "there"
        return [
            Step(state, f"account {self.email}", self._accounts.project),
            *(
                Step("there" if has(grants.policy(), grant) else "missing", grant.role, where, why)
                for where, grants, grant, why in self._grants()
            ),
        ]

    def up(self, tell: Tell) -> None:
        """Make what is missing. What may not be granted is told at the end, all at once."""
        for step in self.planned():
            if step.done == "missing" and step.what.startswith("account "):
                description = described({"piece": PIECE})
                self._accounts.create(self._name, title=TITLE, description=description)
                tell(step._replace(done="made"))
        refused: list[str] = []
        for where, grants, grant, why in self._grants():
            if has(grants.policy(), grant):
                continue
            try:
                grants.add(grant)
            except PermissionMissing:
                refused.append(command_of(grant, where))
                continue
            tell(Step("made", grant.role, where, why))
        if refused:
            raise PermissionMissing(
                f"these credentials may not grant {len(refused)} of its roles",
                remedy="Ask whoever may to run the commands above; `windlass doctor --on gcp` then "
                "looks again.",
                context="\n".join(refused),
            )

    def down(self, tell: Tell) -> None:
        """Take its roles back, and delete it."""
        if self.planned()[0].done != "there":
            return
        for where, grants, grant, _ in self._grants():
            if has(grants.policy(), grant):
                grants.remove(grant)
                tell(Step("removed", grant.role, where))
        self._accounts.delete(self._name)
        tell(Step("removed", f"account {self.email}", self._accounts.project))

    def _grants(self) -> Iterator[tuple[str, Grants, Grant, str]]:
        """Everything that nodes of the engines need: where, and what for."""
        member = f"serviceAccount:{self.email}"
        project = self._accounts.project
        wanted = [LOGS, *(role for name in self._engines for role in needs_of(name).node_roles)]
        for role in wanted:
            grant = Grant(role=role.role, member=member, condition=role.condition)
            yield project, of_project(self._session, project), grant, role.why
        if self._bucket:
            grants = of_bucket(self._session, self._bucket)
            self._check_bucket(grants)
            grant = Grant(role=OBJECTS.role, member=member)
            yield f"gs://{self._bucket}", grants, grant, OBJECTS.why

    def _check_bucket(self, grants: Grants) -> None:
        try:
            grants.policy()
        except Missing as exc:
            raise EngineRejected(
                f"there is no bucket gs://{self._bucket}",
                remedy="Make it first: `windlass bucket up`.",
            ) from exc


def command_of(grant: Grant, where: str) -> str:
    """The same with gcloud; `where` is a project or a bucket."""
    thing = "storage buckets" if where.startswith("gs://") else "projects"
    condition = ",".join(f"{key}={text}" for key, text in grant.condition.items()) or "None"
    words = f"gcloud {thing} add-iam-policy-binding".split()
    flags = [f"--member={grant.member}", f"--role={grant.role}", f"--condition={condition}"]
    return shlex.join([*words, where, *flags])
