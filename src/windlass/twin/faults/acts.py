"""The owner's acts: let a fault happen, see them, end them; what runs and what it cost.

Must not be reachable by clients: the admin surface sees to that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from windlass.errors import SpecInvalid
from windlass.twin.faults.rules import FaultRule
from windlass.twin.refusals import Refusal
from windlass.twin.scenario.load import load_fault

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog
    from windlass.twin.admin import Act
    from windlass.twin.billing import Billing
    from windlass.twin.cloud import Cloud
    from windlass.twin.faults.incidents import Incidents
    from windlass.twin.faults.rules import FaultRules
    from windlass.twin.fleet import Fleet
    from windlass.twin.machine import Machine


class FaultActs:
    """Under /twin/v1/faults."""

    def __init__(
        self, cloud: Cloud, *, catalog: Catalog, rules: FaultRules, incidents: Incidents
    ) -> None:
        self._cloud = cloud
        self._catalog = catalog
        self._rules = rules
        self._incidents = incidents

    def acts(self) -> dict[str, Act]:
        """By the last part of their path."""
        return {"faults": self.fire_or_list, "faults/clear": self.clear}

    def fire_or_list(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """An entry as in a scenario, without its time, happens now. Without one: all there are."""
        if not given:
            return {"rules": self._rules.documents(), "incidents": self._incidents.documents()}
        try:
            found = load_fault(given, catalog=self._catalog)
        except SpecInvalid as invalid:
            lines = [f"{one.message}. {one.remedy}" for one in invalid.problems]
            raise Refusal(400, "\n".join(lines), reason="invalid") from invalid
        if not isinstance(found, FaultRule):
            return {"outcome": self._incidents.fire(found.incident)}
        now = self._cloud.clock.now()
        until = None if found.until is None else now + found.until
        rule_id = self._rules.add(replace(found, since=now + found.since, until=until))
        return {"outcome": f"{found.method} is struck from now on", "rule": rule_id}

    def clear(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All rules and everything that is still to happen end."""
        return {"rules": self._rules.clear(), "incidents": self._incidents.clear()}


class BookActs:
    """Under /twin/v1/bill and /twin/v1/machines."""

    def __init__(self, *, billing: Billing, fleet: Fleet) -> None:
        self._billing = billing
        self._fleet = fleet

    def acts(self) -> dict[str, Act]:
        """By the last part of their path."""
        return {"bill": self.bill, "machines": self.machines}

    def bill(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What machines that have ended have cost."""
        return {"usd": self._billing.total_usd(), "lines": self._billing.lines()}

    def machines(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Every machine."""
        return {"machines": [_shown(machine) for machine in self._fleet.all()]}


def _shown(machine: Machine) -> dict[str, Any]:
    return {
        "id": machine.id,
        "service": machine.service,
        "name": machine.owner.rpartition("/")[2],
        "resource": machine.owner,
        "zone": machine.wanted.zone,
        "type": machine.wanted.type,
        "model": machine.wanted.model.value,
        "state": machine.state.value,
        "is_live": machine.is_live,
        "labels": dict(machine.labels),
    }
