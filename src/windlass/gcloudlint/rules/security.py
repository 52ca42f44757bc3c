"""Hints about what a command opens: addresses, scopes, roles, keys, firewalls.

Must not be more than hints: all of these are sometimes wanted.
"""

from __future__ import annotations

from collections.abc import Iterator

from windlass.gcloudlint.command import Command, added
from windlass.gcloudlint.facts import Facts
from windlass.gcloudlint.finding import Found, Rule, Severity
from windlass.gcloudlint.rules.compute import CREATES

PUBLIC_ADDRESS = Rule(
    id="public-address", severity=Severity.HINT, summary="The VM gets a public address"
)
BROAD_SCOPE = Rule(
    id="broad-scope",
    severity=Severity.HINT,
    summary="`cloud-platform` scope with the default service account, often a project editor",
)
BROAD_ROLE = Rule(
    id="broad-role", severity=Severity.HINT, summary="`roles/owner` or `roles/editor` is granted"
)
PUBLIC_MEMBER = Rule(
    id="public-member", severity=Severity.HINT, summary="Something is granted to everybody"
)
KEY_FILE = Rule(
    id="service-account-key",
    severity=Severity.HINT,
    summary="A key file that never expires is made",
)
OPEN_FIREWALL = Rule(
    id="open-firewall", severity=Severity.HINT, summary="A firewall rule for the whole Internet"
)
RULES = (PUBLIC_ADDRESS, BROAD_SCOPE, BROAD_ROLE, PUBLIC_MEMBER, KEY_FILE, OPEN_FIREWALL)


def check(command: Command, facts: Facts) -> Iterator[Found]:
    """What a command opens."""
    if command.path in CREATES:
        yield from _machine(command)
    if command.path.endswith(("add-iam-policy-binding", "set-iam-policy")):
        yield from _grant(command)
    if command.path == "iam service-accounts keys create":
        message = "a key file never expires: impersonation or workload identity needs none"
        yield Found(rule=KEY_FILE, message=message)
    ranges = command.flag("--source-ranges")
    is_firewall = command.path in ("compute firewall-rules create", "compute firewall-rules update")
    if is_firewall and ranges and "0.0.0.0/0" in ranges.value.split(","):
        message = "everybody may connect; for SSH, 35.235.240.0/20 lets only IAP in"
        yield Found(rule=OPEN_FIREWALL, message=message, at=ranges.at)


def _machine(command: Command) -> Iterator[Found]:
    if not command.flag("--no-address", "--address", "--network-interface"):
        message = "it gets a public address; with --no-address, SSH goes through IAP"
        yield Found(rule=PUBLIC_ADDRESS, message=message, edits=(added("--no-address"),))
    scopes = command.flag("--scopes")
    if scopes and "cloud-platform" in scopes.value and not command.flag("--service-account"):
        message = "whoever is on the VM may do what the default service account may"
        edit = added("--service-account=NAME@PROJECT_ID.iam.gserviceaccount.com")
        yield Found(rule=BROAD_SCOPE, message=message, at=scopes.at, edits=(edit,))


def _grant(command: Command) -> Iterator[Found]:
    role, member = command.flag("--role"), command.flag("--member")
    if role and role.value in ("roles/owner", "roles/editor"):
        message = f"{role.value} is far more than a training run needs"
        yield Found(rule=BROAD_ROLE, message=message, at=role.at)
    if member and member.value in ("allUsers", "allAuthenticatedUsers"):
        message = f"{member.value} is everybody with an Internet connection"
        yield Found(rule=PUBLIC_MEMBER, message=message, at=member.at)
