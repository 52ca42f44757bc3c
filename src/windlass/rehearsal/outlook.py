"""What a planner may know of a rehearsal's world beforehand: its hazards and its delays.

Must not tell of what the scenario lets happen on purpose: that is the surprise. Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from windlass.planner.ask import Circumstances
from windlass.planner.priors import Priors, load_priors
from windlass.twin.settings import DELAYS, Delays, Settings

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog
    from windlass.twin.scenario.model import Scenario

START_S = 20.0
"""From a machine that runs to the first step: the agent, the source, imports, compiling."""
HOUR_S = 3600.0
NEVER_PER_H = 1e-9
HAZARD = "hazard/spot"
SOURCE = "the rehearsal's scenario"


def outlook(scenario: Scenario, *, delays: str, catalog: Catalog) -> Circumstances:
    """What plans of this rehearsal go by, in place of what is believed of Google."""
    said = scenario.settings.get("delays")
    waits = Delays(**said) if said is not None else DELAYS[delays]
    known = {**_times(waits), **_hazards(scenario, catalog)}
    entries = {
        key: prior
        for key, prior in load_priors().entries.items()
        if not key.startswith(f"{HAZARD}/")
    }
    for key, value in known.items():
        like = entries.get(key) or entries[HAZARD]
        entries[key] = like._replace(key=key, value=value, source=SOURCE)
    return replace(Circumstances(), priors=Priors(entries))


def _times(waits: Delays) -> dict[str, float]:
    found = {"start/gpu": START_S, "start/cpu": START_S, "start/tpu": START_S}
    for key in load_priors().entries:
        kind, _, way = key.partition("/")
        if kind in ("first_wait", "wait"):
            queue = waits.queue if way.startswith("flex-start") else 0.0
            found[key] = waits.operation + max(waits.boot, 1.0) + queue
    found["start/tpu"] += waits.tpu
    return found


def _hazards(scenario: Scenario, catalog: Catalog) -> dict[str, float]:
    """By chip; of several rules the highest counts, as in the twin. A plan's hazard is per hour
    that a machine is held, the notice with it, in which it is not told again."""
    notice_h = scenario.settings.get("notice_s", Settings().notice_s) / HOUR_S
    names = {chip.google_name: chip.name for chip in catalog.chips.values()}
    found = {HAZARD: NEVER_PER_H}
    for rule in scenario.market:
        if not rule.hazard_per_h:
            continue
        key = f"{HAZARD}/{names[rule.what]}" if rule.what in names else HAZARD
        found[key] = max(found.get(key, 0.0), 1.0 / (1.0 / rule.hazard_per_h + notice_h))
    return found
