"""Secret Manager: whether versions of secrets are there.

Must not read a payload: only nodes do, as their own accounts.
"""

from __future__ import annotations

from collections.abc import Mapping

from windlass.errors import PermissionMissing, SecretMissing
from windlass.google.projects import roles_of
from windlass.google.session import Missing, Session

ENABLED = "ENABLED"


class Secrets:
    """The secrets that a caller may see."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def state(self, reference: str) -> str | None:
        """How a version is, such as ENABLED; None when it is not there."""
        url = f"https://{_host(reference)}/v1/{reference}"
        try:
            found = self._session.get(url, what=f"looking for {reference}")
        except Missing:
            return None
        return str(found.get("state", ENABLED))

    def roles(self, reference: str) -> dict[str, frozenset[str]]:
        """Every role that is granted on a version's secret, with those who have it."""
        secret = reference.partition("/versions/")[0]
        url = f"https://{_host(reference)}/v1/{secret}:getIamPolicy"
        return roles_of(self._session.get(url, what=f"reading who may use {secret}"))

    def check(self, references: Mapping[str, str]) -> None:
        """Raises SecretMissing for what no node could read. Whoever may not look is not told: the
        nodes' account may, and says so if not."""
        for name, reference in references.items():
            try:
                state = self.state(reference)
            except PermissionMissing:
                continue
            if state is None:
                raise SecretMissing(
                    f"{name} is not in Secret Manager: there is no {reference}",
                    remedy=f"Put it there: `{create_command(name, reference)}`.",
                )
            if state != ENABLED:
                raise SecretMissing(
                    f"{name} cannot be read: {reference} is {state.lower()}",
                    remedy="Enable it, or name another version.",
                )


def create_command(name: str, reference: str) -> str:
    """What puts a variable of the caller's where the reference leads."""
    secret = reference.partition("/versions/")[0].rpartition("/")[2]
    variable = secret if secret.isidentifier() else name
    project = reference.split("/")[1]
    put = f"gcloud secrets create {secret} --project={project} --data-file=-"
    return f'printf %s "${variable}" | {put}'


def _host(reference: str) -> str:
    words = reference.split("/")
    if words[2] == "locations":
        return f"secretmanager.{words[3]}.rep.googleapis.com"
    return "secretmanager.googleapis.com"
