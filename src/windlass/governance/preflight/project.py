"""Preflight of the project: who asks, whether it is there, its APIs, and what the caller may do.

Must not change anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from windlass.engines.needs import SECRETS_API
from windlass.engines.registry import needs_of
from windlass.google.projects import Projects
from windlass.google.services import Services
from windlass.governance.preflight.subject import Subject
from windlass.policy.findings import Finding, bad, ok

ALWAYS = ("cloudquotas.googleapis.com", "cloudresourcemanager.googleapis.com")
"""What preflight itself asks."""


def project(subject: Subject) -> Iterator[Finding]:
    """Whether it is there, for whoever asks."""
    found = Projects(subject.session, subject.project).get()
    if found is None or found.get("state", "ACTIVE") != "ACTIVE":
        yield bad(
            "project",
            f"{subject.project} is not there, or not for these credentials",
            "`gcloud projects list` shows those that are; write one into config.yaml.",
        )
        return
    yield ok("project", subject.project)


def apis(subject: Subject) -> Iterator[Finding]:
    """Whether everything that engines call is turned on."""
    wanted = {*ALWAYS, *needed_apis(subject)}
    missing = missing_apis(subject, wanted)
    if missing:
        yield bad("apis", f"off: {', '.join(missing)}", enabling(subject, missing))
    else:
        yield ok("apis", f"{len(wanted)} are on")


def needed_permissions(subject: Subject) -> dict[str, str]:
    """What engines need to be allowed, each with a role that has it."""
    return {
        permission: role
        for name in subject.engines
        for permission, role in needs_of(name).permissions.items()
    }


def needed_apis(subject: Subject) -> frozenset[str]:
    """What engines and nodes of the run call."""
    own = (SECRETS_API,) if subject.spec and subject.spec.secrets else ()
    return frozenset({*own, *(api for name in subject.engines for api in needs_of(name).apis)})


def missing_apis(subject: Subject, wanted: Collection[str]) -> list[str]:
    """Those that are off."""
    enabled = Services(subject.session, subject.project).enabled()
    return sorted(api for api in wanted if api not in enabled)


def enabling(subject: Subject, apis: Collection[str]) -> str:
    """The command that turns them on."""
    return f"`gcloud services enable {' '.join(apis)} --project={subject.project}`"


def permissions(subject: Subject) -> Iterator[Finding]:
    """Whether the caller may do what engines do, by the roles that would mend it."""
    wanted = needed_permissions(subject)
    granted = Projects(subject.session, subject.project).granted(wanted)
    missing: dict[str, list[str]] = {}
    for permission in sorted(set(wanted) - granted):
        missing.setdefault(wanted[permission], []).append(permission)
    for role, those in sorted(missing.items()):
        yield bad(
            "permissions",
            f"missing: {', '.join(those)}",
            f"`gcloud projects add-iam-policy-binding {subject.project} "
            f"--member={subject.session.member} --role={role} --condition=None`",
        )
    if not missing:
        yield ok("permissions", f"all {len(wanted)} that are needed")
