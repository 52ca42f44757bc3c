"""Preflight, check by check: one that cannot be carried out is a finding too.

Must not stop at the first thing that is wrong, unless nothing else can be asked.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from windlass.errors import (
    ApiDisabled,
    CredentialsMissing,
    EngineTransient,
    PermissionMissing,
    WindlassError,
)
from windlass.google.projects import Projects
from windlass.governance.preflight import places, project, room, secrets, security
from windlass.governance.preflight.subject import Subject
from windlass.policy.findings import Finding, bad, ok

Check = Callable[[Subject], Iterator[Finding]]
CHECKS: tuple[tuple[str, Check], ...] = (
    ("apis", project.apis),
    ("permissions", project.permissions),
    ("quota", room.quotas),
    ("places", places.things),
    ("network", places.networks),
    ("GPU networks", places.data_networks),
    ("run folder", places.run_folder),
    ("buckets", places.buckets),
    ("secrets", secrets.secrets),
    ("security", security.security),
)


AT_SUBMIT: tuple[Check, ...] = (places.networks, places.data_networks, places.buckets)
"""What costs money before anybody notices, and takes few calls to see."""


def at_submit(subject: Subject) -> Iterator[Finding]:
    """What a run would soon run into. Nothing depends on it: what cannot be looked at is left.

    Raises ApiDisabled where an API is off without which there can be no run, and
    PermissionMissing where the caller may do nothing of what it takes.
    """
    _refuse_if_off(subject)
    _refuse_if_stranger(subject)
    for check in AT_SUBMIT:
        with contextlib.suppress(WindlassError):
            yield from [one for one in check(subject) if one.verdict != "ok"]


def _refuse_if_off(subject: Subject) -> None:
    try:
        missing = project.missing_apis(subject, project.needed_apis(subject))
    except WindlassError:
        return
    if missing:
        raise ApiDisabled(
            f"APIs that the run needs are off: {', '.join(missing)}",
            remedy=f"Turn them on with {project.enabling(subject, missing)}.",
        )


def _refuse_if_stranger(subject: Subject) -> None:
    """Whoever may do some of it may have the rest where this cannot see it, under a condition."""
    wanted = project.needed_permissions(subject)
    try:
        granted = Projects(subject.session, subject.project).granted(wanted)
    except PermissionMissing:
        granted = frozenset()
    except WindlassError:
        return
    if not granted:
        raise PermissionMissing(
            f"the project {subject.project} is not there, or lets these credentials do nothing "
            "that the run needs",
            remedy="Check `project` in config.yaml; `windlass doctor --on gcp` says what is "
            "missing.",
        )


def examine(subject: Subject) -> Iterator[Finding]:
    """Every finding, in the order to show them."""
    try:
        found = list(project.project(subject))
    except CredentialsMissing as error:
        yield bad("credentials", error.message, error.remedy)
        return
    except EngineTransient as error:
        yield bad("google", error.message, "Try again when Google can be reached from here.")
        return
    except WindlassError as error:
        yield bad("project", error.message, error.remedy)
        return
    yield ok("credentials", "Google accepts them")
    yield from found
    if any(one.verdict == "bad" for one in found):
        return
    for name, check in CHECKS:
        try:
            yield from list(check(subject))
        except WindlassError as error:
            yield bad(name, error.message, error.remedy)
