"""Puts a scenario into a twin: once, into its state, so that a restart finds it there.

Must not read files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from windlass.errors import OptionRefused
from windlass.twin.market import NEVER
from windlass.twin.settings import Delays, Settings

if TYPE_CHECKING:
    from windlass.twin.assembly import Twin
    from windlass.twin.cloud import Cloud
    from windlass.twin.scenario.model import Scenario

KEY = "applied"


class Director:
    """Sees to it that a twin plays its scenario. Made before the twin, whose settings it changes;
    afterwards the rest is put into it."""

    def __init__(self, cloud: Cloud, scenario: Scenario | None) -> None:
        self._cloud = cloud
        self._kept = cloud.documents("scenario")
        self._new = self._to_apply(scenario)
        kept = self._kept.get(KEY)
        settings = kept["settings"] if kept is not None else {}
        if self._new is not None:
            settings = self._new.settings
        cloud.settings = changed(cloud.settings, settings)

    def _to_apply(self, scenario: Scenario | None) -> Scenario | None:
        kept = self._kept.get(KEY)
        if scenario is None or kept is None:
            return scenario
        if kept["digest"] != scenario.digest:
            raise OptionRefused(
                "the twin plays another scenario already",
                remedy="Empty it with `windlass twin reset --yes`, then start it with this one.",
            )
        return None

    def apply(self, twin: Twin) -> bool:
        """Whether there was something to put in. Times count from now."""
        scenario = self._new
        if scenario is None:
            return False
        now = self._cloud.clock.now()
        for service in scenario.apis_off:
            host = service if "." in service else f"{service}.googleapis.com"
            twin.apis.set(host, enabled=False)
        for rule in scenario.market:
            until = rule.until if rule.until == NEVER else now + rule.until
            twin.market.add(rule._replace(since=now + rule.since, until=until))
        for scope, metric, limit in scenario.quotas:
            twin.quotas.set_limit(scope, metric, limit)
        for member, permission in scenario.denied:
            twin.policies.deny(member, permission)
        for one in scenario.rules:
            ends = None if one.until is None else now + one.until
            twin.faults.rules.add(replace(one, since=now + one.since, until=ends))
        for planned in scenario.planned:
            if planned.at is not None:
                twin.faults.incidents.plan(planned.incident, at=now + planned.at)
            elif planned.after is not None:
                twin.faults.incidents.plan_after(planned.incident, seconds=planned.after)
        self._kept.put(KEY, {"digest": scenario.digest, "settings": dict(scenario.settings)})
        self._new = None
        return True


def changed(settings: Settings, given: Mapping[str, Any]) -> Settings:
    """The settings with what a scenario says about them."""
    found = dict(given)
    if "delays" in found:
        usual = {name: getattr(settings.delays, name) for name in Delays.__slots__}
        found["delays"] = Delays(**{**usual, **found["delays"]})
    return replace(settings, **found)
