"""One managed instance group: what it is to have, what it has, and how the API shows it.

Must not make or delete instances: groups.py does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from windlass.twin.compute.asks import Ask
from windlass.twin.compute.fingerprints import fingerprint
from windlass.twin.compute.instance import Instance
from windlass.twin.compute.links import last, parts
from windlass.twin.compute.scopes import Scope

ACTIONS = (
    "abandoning",
    "creating",
    "creatingWithoutRetries",
    "deleting",
    "none",
    "recreating",
    "refreshing",
    "restarting",
    "resuming",
    "starting",
    "stopping",
    "suspending",
    "verifying",
)
MOST_ERRORS = 500
Finding = Callable[[str], Instance | None]


class Plan(NamedTuple):
    """How an instance of a group is made in a zone."""

    scope: Scope
    ask: Ask


class Missing(NamedTuple):
    """An instance that could not be made yet."""

    zone: str
    error: Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class Group:
    """A managed instance group."""

    key: str
    scope: Scope
    resource: dict[str, Any]
    """As it was asked for, with Google's defaults; `targetSize` is kept up to date."""
    zones: tuple[str, ...]
    """Where its instances may be."""
    members: dict[str, str] = field(default_factory=dict)
    """The instances that it has: their zone by name, in the order in which they came."""
    missing: dict[str, Missing] = field(default_factory=dict)
    plans: dict[str, Plan] = field(default_factory=dict)
    """By zone; made anew when the template changes."""
    errors: list[dict[str, Any]] = field(default_factory=list)
    is_retrying: bool = False

    @property
    def target(self) -> int:
        """How many it is to have."""
        return int(self.resource["targetSize"])

    @property
    def has_enough(self) -> bool:
        """Whether nothing more has to be made."""
        return len(self.members) + len(self.missing) >= self.target

    @property
    def repairs(self) -> bool:
        """Whether an instance that fails is made anew."""
        policy = self.resource.get("instanceLifecyclePolicy") or {}
        return policy.get("defaultActionOnFailure") != "DO_NOTHING"

    @property
    def template(self) -> str:
        """What its instances are like: a URL."""
        return str(self.resource["instanceTemplate"])

    def emptiest_zone(self) -> str:
        """Where the next instance goes."""
        if len(self.zones) == 1:
            return self.zones[0]
        counts = Counter(self.members.values())
        counts.update(one.zone for one in self.missing.values())
        return min(self.zones, key=lambda zone: (counts[zone], zone))

    def key_of(self, name: str) -> str:
        """A member's key among instances."""
        return f"{self.scope.project}/zones/{self.members[name]}/{name}"

    def failed(self, name: str, zone: str, error: dict[str, Any], *, stamp: str) -> None:
        """An attempt to make an instance failed."""
        link = Scope(self.scope.project, "zones", zone).link("instances", name)
        del self.errors[: len(self.errors) - MOST_ERRORS + 1]
        self.errors.append(
            {
                "timestamp": stamp,
                "error": {"code": error["code"], "message": error["message"]},
                "instanceActionDetails": {
                    "instance": link,
                    "action": "CREATING",
                    "version": {"instanceTemplate": self.template},
                },
            }
        )


def made_with(instance: Instance) -> str:
    """The name of the template that a member was made from."""
    return last(instance.metadata.get("instance-template", ""))


def shown(group: Group, find: Finding) -> dict[str, Any]:
    """The resource as the API gives it."""
    present = [find(group.key_of(name)) for name in group.members]
    running = sum(1 for one in present if one is not None and one.status == "RUNNING")
    wanted = last(group.template)
    is_current = all(made_with(one) == wanted for one in present if one is not None)
    actions = dict.fromkeys(ACTIONS, 0)
    actions["creating"] = len(group.missing) + len(present) - running
    actions["none"] = running
    return {
        **group.resource,
        "versions": [
            {**one, "targetSize": {**one.get("targetSize", {}), "calculated": group.target}}
            for one in group.resource["versions"]
        ],
        "currentActions": actions,
        "fingerprint": fingerprint((group.template, group.target)),
        "status": {
            "isStable": running == group.target and is_current,
            "versionTarget": {"isReached": is_current},
            "stateful": {
                "hasStatefulConfig": False,
                "perInstanceConfigs": {"allEffective": True},
            },
            "allInstancesConfig": {"effective": True},
        },
    }


def shown_members(group: Group, find: Finding) -> list[dict[str, Any]]:
    """Its instances as `listManagedInstances` gives them."""
    rows: list[dict[str, Any]] = []
    version = {"instanceTemplate": group.template}
    for name in group.members:
        instance = find(group.key_of(name))
        if instance is None:
            continue
        rows.append(
            {
                "id": instance.id,
                "name": name,
                "instance": instance.link,
                "instanceStatus": instance.status,
                "currentAction": "NONE" if instance.status == "RUNNING" else "CREATING",
                "version": version,
            }
        )
    for name, missing in group.missing.items():
        scope = Scope(group.scope.project, "zones", missing.zone)
        rows.append(
            {
                "name": name,
                "instance": scope.link("instances", name),
                "currentAction": "CREATING",
                "lastAttempt": {"errors": {"errors": [missing.error]}},
                "version": version,
            }
        )
    return sorted(rows, key=lambda row: str(row["name"]))


def zones_of(resource: dict[str, Any], scope: Scope, every: list[str]) -> tuple[str, ...]:
    """Where a group's instances may be: the zone, those that it names, or three of the region."""
    if scope.kind == "zones":
        return (scope.place,)
    named = (resource.get("distributionPolicy") or {}).get("zones") or []
    chosen = [parts(one["zone"]).get("zones") or last(one["zone"]) for one in named]
    return tuple(chosen or every[:3])
