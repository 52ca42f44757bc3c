"""Preflight of what is dangerous: addresses, accounts, roles, open rules, secrets in `env`.

Must not print a secret: a variable is named, never its value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from windlass.engines.registry import needs_of
from windlass.google.compute import Compute
from windlass.google.projects import Projects
from windlass.governance.network_plan import IAP_RANGE
from windlass.governance.preflight.subject import Subject
from windlass.policy.findings import Finding, bad, note, ok

EVERYBODY = frozenset({"0.0.0.0/0", "::/0"})
EDITOR = "roles/editor"
STRONG = (EDITOR, "roles/owner")
OBJECTS = "roles/storage.objectUser"
DEFAULT_ACCOUNTS = ("", "default")
SECRET_NAME = re.compile(
    r"(?:^|_)(TOKEN|SECRET|PASSWORD|PASSWD|APIKEY|API_KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS)(?:_|$)",
    re.IGNORECASE,
)
SECRET_VALUE = re.compile(
    r"AKIA[0-9A-Z]{16}|AIza[\w-]{35}|gh[pousr]_\w{36,}|hf_\w{30,}|sk-[\w-]{20,}|xox[bp]-[\w-]{10,}|"
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
)


def security(subject: Subject) -> Iterator[Finding]:
    """Everything of it."""
    found = [
        *_engines(subject),
        *_roles(subject),
        *_rules(subject),
        *secrets_in_env(subject.spec.env if subject.spec else {}),
    ]
    yield from found
    if not found:
        yield ok("security", "nothing that should worry you")


def _engines(subject: Subject) -> Iterator[Finding]:
    for engine in subject.engines:
        options = subject.options(engine)
        if options.get("external_address"):
            said = "its machines have external addresses"
            fix = "Remove `external_address`; `windlass network up` gives them a way out."
            is_allowed = subject.policy.external_addresses
            yield note(engine, said, fix) if is_allowed else bad(engine, said, fix)
        if options.get("service_account", "") in DEFAULT_ACCOUNTS:
            yield note(
                engine,
                "its machines run as the default service account",
                f"`windlass account up --on {engine}` makes one that may do no more than it needs.",
            )


def _roles(subject: Subject) -> Iterator[Finding]:
    """Machines whose account is an editor can delete the project's other machines."""
    roles = Projects(subject.session, subject.project).roles()
    for role in STRONG:
        for member in sorted(roles.get(role, ())):
            if member.startswith("serviceAccount:") and not _is_google_agent(member):
                yield bad(
                    "roles",
                    f"{member.partition(':')[2]} has {role}: whatever runs as it may do anything",
                    f"Grant it what it needs first, such as `{OBJECTS}`; then `gcloud projects "
                    f"remove-iam-policy-binding {subject.project} --member={member} "
                    f"--role={role} --condition=None`.",
                )


def _is_google_agent(member: str) -> bool:
    """Google's own, which it grants itself: `NUMBER@cloudservices.gserviceaccount.com`."""
    return member.endswith("@cloudservices.gserviceaccount.com")


def _rules(subject: Subject) -> Iterator[Finding]:
    networked = [name for name in subject.engines if needs_of(name).is_networked]
    networks = {subject.network(name) for name in networked}
    for rule in Compute(subject.session, subject.project).listed("global", "firewalls"):
        is_ours = str(rule.get("network", "")).rpartition("/")[2] in networks
        if is_ours and _is_open(rule):
            ports = ", ".join(_ports(rule))
            yield bad(
                f"firewall {rule['name']}",
                f"lets everybody in: {ports}",
                f"`gcloud compute firewall-rules update {rule['name']} "
                f"--source-ranges={IAP_RANGE} --project={subject.project}`",
            )


def _is_open(rule: Mapping[str, Any]) -> bool:
    """ICMP alone lets nobody in."""
    protocols = {str(one.get("IPProtocol")) for one in rule.get("allowed") or ()}
    return (
        rule.get("direction", "INGRESS") == "INGRESS"
        and not rule.get("disabled")
        and bool(EVERYBODY & set(rule.get("sourceRanges") or ()))
        and bool(protocols - {"icmp"})
    )


def _ports(rule: Mapping[str, Any]) -> Iterator[str]:
    for one in rule.get("allowed") or ():
        ports = ",".join(one.get("ports") or ()) or "all"
        yield f"{one.get('IPProtocol')} {ports}"


def secrets_in_env(env: Mapping[str, str]) -> Iterator[Finding]:
    """Variables that look like secrets: by their names, or by what they hold."""
    for name, value in env.items():
        if value.strip() and (SECRET_NAME.search(name) or SECRET_VALUE.search(value)):
            yield bad(
                f"env {name}",
                "it looks like a secret, and a spec is read by many",
                f'Remove it and write `secrets: [{name}]`; `printf %s "${name}" | gcloud '
                f"secrets create {name} --data-file=-` keeps it.",
            )
