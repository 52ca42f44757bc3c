"""The metadata tree of a machine, and how a part of it is written.

A part is a value, a list of names, or everything below as JSON.

Must not know where the values come from.
"""

from __future__ import annotations

import json
import re
from typing import Any

from windlass.twin.metadata.guest import Description

Tree = dict[str, Any]
"""Text, numbers, lists and further trees by name."""
# Names below these are the user's own, and stay as they are.
OWN_NAMES = frozenset({"attributes", "service-accounts", "guest-attributes"})


def tree_of(found: Description, *, project: str, number: str, domain: str) -> Tree:
    """Everything a machine may read without side effects; tokens are made when they are asked
    for."""
    zone = f"projects/{number}/zones/{found.zone}"
    accounts: Tree = {}
    if found.service_account:
        account = {
            "aliases": ["default"],
            "email": found.service_account,
            "scopes": list(found.scopes),
        }
        accounts = {"default": account, found.service_account: account}
    interface = {
        "ip": found.address,
        "network": f"projects/{number}/networks/{found.network}",
        "mac": "42:01:0a:80:00:02",
        "mtu": 1460,
        "gateway": "10.128.0.1",
        "subnetmask": "255.255.240.0",
        "dns-servers": ["169.254.169.254"],
        "access-configs": [{"external-ip": found.external_address, "type": "ONE_TO_ONE_NAT"}]
        if found.external_address
        else [],
    }
    return {
        "instance": {
            "attributes": dict(found.attributes),
            "cpu-platform": "Intel",
            "description": "",
            "disks": [dict(disk) for disk in found.disks],
            "hostname": f"{found.name}.{found.zone}.c.{project}.internal",
            "id": int(found.number),
            "image": found.image,
            "machine-type": f"projects/{number}/machineTypes/{found.machine_type}",
            "maintenance-event": found.maintenance,
            "name": found.name,
            "network-interfaces": [interface],
            "preempted": "TRUE" if found.is_preempted else "FALSE",
            "scheduling": dict(found.scheduling),
            "service-accounts": accounts,
            "tags": list(found.tags),
            "virtual-clock": {"drift-token": "0"},
            "zone": zone,
        },
        "project": {
            "attributes": dict(found.project_attributes),
            "numeric-project-id": int(number),
            "project-id": project,
        },
        "universe": {"universe-domain": domain},
    }


def at(tree: Tree, path: list[str]) -> Any:
    """What is at a path; None where there is nothing."""
    value: Any = tree
    for word in path:
        if isinstance(value, dict):
            value = value.get(word)
        elif isinstance(value, list) and word.isdecimal() and int(word) < len(value):
            value = value[int(word)]
        else:
            return None
    return value


def is_folder(value: Any) -> bool:
    """Whether there is more below. A list of plain values is a value."""
    if isinstance(value, list):
        return not value or isinstance(value[0], dict)
    return isinstance(value, dict)


def listing(value: Any) -> str:
    """The names below, folders with a slash."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    return "".join(f"{name}/\n" if is_folder(one) else f"{name}\n" for name, one in pairs)


def plain(value: Any) -> str:
    """A single value."""
    if isinstance(value, list):
        return "".join(f"{one}\n" for one in value)
    return str(value)


def as_json(value: Any, *, inside: str = "") -> str:
    """Everything below, with Google's names for JSON."""
    return json.dumps(_camel(value, inside=inside), separators=(",", ":"))


def as_lines(value: Any, *, path: str = "") -> str:
    """Everything below, a line for each value."""
    if is_folder(value):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return "".join(as_lines(one, path=f"{path}/{name}") for name, one in pairs)
    return f"{path.lstrip('/')} {plain(value).rstrip()}\n"


def _camel(value: Any, *, inside: str) -> Any:
    if isinstance(value, list):
        return [_camel(one, inside=inside) for one in value]
    if not isinstance(value, dict):
        return value
    keep = inside in OWN_NAMES
    return {
        name if keep else re.sub(r"-(\w)", lambda found: found[1].upper(), name): _camel(
            one, inside=name
        )
        for name, one in value.items()
    }
