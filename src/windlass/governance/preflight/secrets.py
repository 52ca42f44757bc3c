"""Preflight of secrets: whether they are in Secret Manager, and whether machines may read them.

Must not read one.
"""

from __future__ import annotations

from collections.abc import Iterator

from windlass.engines.registry import needs_of
from windlass.engines.secret_names import references
from windlass.errors import PermissionMissing
from windlass.google.projects import Projects
from windlass.google.secrets import ENABLED, Secrets, create_command
from windlass.governance.preflight.subject import Subject
from windlass.policy.findings import Finding, bad, note, ok

ACCESSOR = "roles/secretmanager.secretAccessor"
READERS = (ACCESSOR, "roles/secretmanager.admin", "roles/owner")


def secrets(subject: Subject) -> Iterator[Finding]:
    """Each of the spec's."""
    named = references(subject.spec.secrets, subject.project) if subject.spec else {}
    if not named:
        return
    kept = Secrets(subject.session)
    accounts = _accounts(subject)
    project_wide = _readers(Projects(subject.session, subject.project).roles())
    for name, reference in named.items():
        try:
            state = kept.state(reference)
            readers = _readers(kept.roles(reference)) if state else frozenset()
        except PermissionMissing as error:
            yield note(f"secret {name}", error.message, error.remedy)
            continue
        yield _found(name, reference, state)
        if state == ENABLED:
            lacking = [one for one in accounts if one not in project_wide | readers]
            yield from (_unread(name, reference, one) for one in lacking)


def _found(name: str, reference: str, state: str | None) -> Finding:
    if state == ENABLED:
        return ok(f"secret {name}", f"{reference} is there")
    if state is not None:
        return bad(
            f"secret {name}",
            f"{reference} is {state.lower()}",
            "Enable it, or name another version.",
        )
    command = create_command(name, reference)
    return bad(f"secret {name}", f"there is no {reference}", f"`{command}`")


def _unread(name: str, reference: str, account: str) -> Finding:
    """It may yet be allowed to by a group or a folder, which cannot be seen from here."""
    secret = reference.partition("/versions/")[0]
    return note(
        f"secret {name}",
        f"{account} is not seen to be allowed to read it",
        f"`gcloud secrets add-iam-policy-binding {secret} --member=serviceAccount:{account} "
        f"--role={ACCESSOR}`",
    )


def _accounts(subject: Subject) -> list[str]:
    """Whom the engines' machines run as."""
    project = Projects(subject.session, subject.project).get() or {}
    number = str(project.get("name", "")).rpartition("/")[2]
    found = []
    for engine in subject.engines:
        chosen = str(subject.options(engine).get("service_account", ""))
        usual = needs_of(engine).usual_account.format(number=number)
        found.append(chosen if "@" in chosen else usual)
    return list(dict.fromkeys(found))


def _readers(roles: dict[str, frozenset[str]]) -> frozenset[str]:
    members = [member for role in READERS for member in roles.get(role, ())]
    return frozenset(member.partition(":")[2] for member in members)
