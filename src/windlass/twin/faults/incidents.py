"""What befalls machines and the project, now or later: preemptions, stockouts, dead hosts.

Must not strike single calls: the rules at the door do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from windlass.twin.fleet import Fleet
from windlass.twin.machine import Machine, State
from windlass.twin.market import Market, Model, Rule
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.access.apis import EnabledApis
    from windlass.twin.access.policies import Policies
    from windlass.twin.cloud import Cloud
    from windlass.twin.compute.instances import Instances
    from windlass.twin.compute.maintenance import Maintenance
    from windlass.twin.compute.resize_requests import ResizeRequests
    from windlass.twin.quotas import Quotas

MAINTENANCE_NOTICE_S = 60.0
RESIZE_CODE = "INTERNAL_ERROR"
RESIZE_MESSAGE = "Internal error. Please try again or contact Google Support."
LASTING = ("api-off", "deny", "quota")
"""What stays as it is until somebody changes it back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What incidents act on."""

    fleet: Fleet
    market: Market
    quotas: Quotas
    apis: EnabledApis
    policies: Policies
    instances: Instances
    maintenance: Maintenance
    resizes: ResizeRequests


class Incidents:
    """Lets things happen. An incident is a document: `what` names it, the rest is its own."""

    def __init__(self, cloud: Cloud, stage: Stage) -> None:
        self._cloud = cloud
        self._stage = stage
        self._kept = cloud.documents("faults.incidents")
        self._acts: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "preempt": self._preempt,
            "fail": self._fail,
            "maintenance": self._maintain,
            "stockout": self._stock_out,
            "api-off": self._api_off,
            "api-on": self._api_on,
            "deny": self._deny,
            "permit": self._permit,
            "quota": self._quota,
            "fail-resize": self._fail_resize,
        }
        cloud.on("faults.incident", self._due)
        cloud.on("faults.incident.machine", self._due_for)
        stage.fleet.on_running.append(self._heard)

    def fire(self, incident: Mapping[str, Any]) -> str:
        """Let it happen now; what came of it. A Refusal says why it cannot."""
        act = self._acts.get(str(incident.get("what")))
        if act is None:
            known = ", ".join(self._acts)
            raise Refusal(400, f"There is no incident {incident.get('what')!r}; there is {known}.")
        came = act(incident)
        key = f"incident-{self._cloud.new_id()[-6:]}"
        self._kept.put(key, {**incident, "at": self._cloud.clock.now(), **came})
        return str(came["outcome"])

    def plan(self, incident: Mapping[str, Any], *, at: float) -> None:
        """Let it happen at a moment of the twin's clock."""
        key = f"incident-{self._cloud.new_id()[-6:]}"
        self._kept.put(key, {**incident, "at": at})
        self._cloud.at(at, "faults.incident", key)

    def plan_after(self, incident: Mapping[str, Any], *, seconds: float) -> None:
        """Let it happen so long after the machine that it names runs; once."""
        key = f"incident-{self._cloud.new_id()[-6:]}"
        self._kept.put(key, {**incident, "after": seconds})

    def documents(self) -> list[dict[str, Any]]:
        """All incidents: those to come, and what came of those that happened."""
        return [{"id": key, **kept} for key, kept in self._kept.items()]

    def clear(self) -> int:
        """Nothing more happens, and what lasts is undone; how many incidents that were."""
        open_ones = [(key, one) for key, one in self._kept.items() if self._is_open(one)]
        for key, kept in open_ones:
            self._undo(kept)
            self._kept.drop(key)
        return len(open_ones)

    def _undo(self, kept: Mapping[str, Any]) -> None:
        if "outcome" in kept:
            if "market" in kept:
                self._stage.market.remove(kept["market"])
            if kept["what"] == "api-off":
                self._api_on(kept)
            if kept["what"] == "deny":
                self._permit(kept)
            if kept["what"] == "quota":
                self._stage.quotas.unset_limit(str(kept.get("where", "*")), kept["metric"])

    def _is_open(self, kept: Mapping[str, Any]) -> bool:
        if "outcome" not in kept or kept["what"] in LASTING:
            return True
        return "market" in kept and kept.get("until", 0.0) > self._cloud.clock.now()

    def _due(self, key: str) -> None:
        self._happen(key, self._kept.get(key))

    def _due_for(self, appointment: str) -> None:
        key, _, machine_id = appointment.partition(" ")
        kept = self._kept.get(key)
        if kept is not None and self._stage.fleet.get(machine_id) is not None:
            self._happen(key, {**kept, "machine": machine_id})

    def _happen(self, key: str, kept: dict[str, Any] | None) -> None:
        if kept is None or "outcome" in kept:
            return
        try:
            came = self._acts[kept["what"]](kept)
        except Refusal as refusal:
            came = {"outcome": f"nothing: {refusal.message}"}
        self._kept.put(key, {**kept, **came})

    def _heard(self, machine: Machine) -> None:
        if not len(self._kept):
            return  # Most twins have none, and a hundred thousand machines.
        for key, kept in list(self._kept.items()):
            waits = "after" in kept and "outcome" not in kept and "machine" not in kept
            if waits and _is_named(machine, str(kept.get("name", ""))):
                self._kept.put(key, {**kept, "machine": machine.id})
                seconds = float(kept["after"])
                self._cloud.later(seconds, "faults.incident.machine", f"{key} {machine.id}")

    def _machines(self, incident: Mapping[str, Any]) -> list[Machine]:
        """Those that it means, which run."""
        name = str(incident.get("name", ""))
        fleet = self._stage.fleet
        if "machine" in incident:
            chosen = fleet.get(str(incident["machine"]))
            found = [chosen] if chosen is not None else []
        else:
            found = [machine for machine in fleet.all() if _is_named(machine, name)]
        running = [machine for machine in found if machine.state is State.RUNNING]
        if not running:
            raise Refusal(404, f"No machine that runs is called {name!r}.")
        return running

    def _preempt(self, incident: Mapping[str, Any]) -> dict[str, Any]:
        machines = self._machines(incident)
        spot = [machine for machine in machines if machine.wanted.model is Model.SPOT]
        if not spot:
            raise Refusal(400, f"{incident['name']} is not a spot machine: Google keeps it.")
        for machine in spot:
            self._stage.fleet.preempt(machine)
        return {"outcome": f"warned {_names(spot)}"}

    def _fail(self, incident: Mapping[str, Any]) -> dict[str, Any]:
        machines = self._machines(incident)
        for machine in machines:
            self._stage.fleet.fail(machine)
        return {"outcome": f"ended {_names(machines)}"}

    def _maintain(self, incident: Mapping[str, Any]) -> dict[str, Any]:
        machines = self._machines(incident)
        notice_s = float(incident.get("notice", MAINTENANCE_NOTICE_S))
        for machine in machines:
            instance = self._stage.instances.find(machine.owner)
            if instance is None:
                self._stage.fleet.fail(machine)
            else:
                self._stage.maintenance.announce(instance, in_s=notice_s)
        return {"outcome": f"announced to {_names(machines)}"}

    def _stock_out(self, incident: Mapping[str, Any]) -> dict[str, Any]:
        zone, kind = str(incident.get("zone", "*")), str(incident.get("kind", "*"))
        until = self._cloud.clock.now() + float(incident["for"])
        rule = Rule(
            zone=zone,
            what=kind,
            model=str(incident.get("model", "*")),
            since=self._cloud.clock.now(),
            until=until,
            is_closed=True,
        )
        rule_id = self._stage.market.add(rule)
        return {"outcome": f"no {kind} in {zone}", "market": rule_id, "until": until}

    def _api_off(self, incident: Mapping[str, Any]) -> dict[str, Any]:
        self._stage.apis.set(_host(incident), enabled=False)
        return {"outcome": f"{_host(incident)} is off"}

    def _api_on(self, incident: Mapping[str, Any]) -> dict[str, Any]:
        self._stage.apis.set(_host(incident), enabled=True)
        return {"outcome": f"{_host(incident)} is on"}

    def _deny(self, incident: Mapping[str, Any]) -> dict[str, Any]:
        member, permission = str(incident.get("member", "*")), str(incident["permission"])
        self._stage.policies.deny(member, permission)
        return {"outcome": f"{member} lacks {permission}"}

    def _permit(self, incident: Mapping[str, Any]) -> dict[str, Any]:
        member, permission = str(incident.get("member", "*")), str(incident["permission"])
        self._stage.policies.permit(member, permission)
        return {"outcome": f"{member} has {permission} as the roles say"}

    def _fail_resize(self, incident: Mapping[str, Any]) -> dict[str, Any]:
        name = str(incident["name"])
        keys = self._stage.resizes.named(name)
        if not keys:
            raise Refusal(404, f"No resize request is called {name!r}.")
        for key in keys:
            self._stage.resizes.fail(key, code=RESIZE_CODE, message=RESIZE_MESSAGE)
        return {"outcome": f"gave up {name}"}

    def _quota(self, incident: Mapping[str, Any]) -> dict[str, Any]:
        where, metric = str(incident.get("where", "*")), str(incident["metric"])
        self._stage.quotas.set_limit(where, metric, float(incident["limit"]))
        return {"outcome": f"{metric} in {where} is {float(incident['limit']):g}"}


def _is_named(machine: Machine, name: str) -> bool:
    """By the name of its resource (a pattern), by `label=value`, or by its id."""
    if "=" in name:
        label, _, value = name.partition("=")
        return machine.labels.get(label) == value
    return bool(name) and (
        fnmatchcase(machine.owner.rpartition("/")[2], name) or machine.id == name
    )


def _names(machines: list[Machine]) -> str:
    return ", ".join(sorted({machine.owner.rpartition("/")[2] for machine in machines}))


def _host(incident: Mapping[str, Any]) -> str:
    service = str(incident["service"])
    return service if "." in service else f"{service}.googleapis.com"
