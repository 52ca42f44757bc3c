"""Plans against what happens: modelled runs on a twin whose hazards and delays the planner knows.

Must not tell the planner anything that the scenario and the spec do not say.
"""

from __future__ import annotations

from typing import NamedTuple

from windlass.controller.renting import rented
from windlass.planner.candidates import Candidate
from windlass.planner.plan import make_plan
from windlass.rehearsal.outlook import outlook
from windlass.simulation.gang import Training
from windlass.simulation.twinned.alone import Lived, live
from windlass.simulation.twinned.offers import ZONES, catalog
from windlass.spec.accelerators import accelerators
from windlass.spec.model import Checkpoint, Limits, Resources, Spec, Where, Work
from windlass.twin.market import Rule
from windlass.twin.scenario.model import Scenario

STEPS_EACH = 50
"""Between two saves."""
SETTLING_S = 7.0
"""Of a start: until a machine that runs has an agent, and its gang has won."""
DELAYS = {"operation": 3.0, "boot": 25.0, "stop": 20.0}


class Case(NamedTuple):
    """A world and a run in it."""

    name: str
    hazard_per_h: float
    """Of one node."""
    nodes: int
    work_s: float


class Forecast(NamedTuple):
    """What the planner says."""

    p50_s: float
    p90_s: float
    p50_usd: float
    p90_usd: float


class Covered(NamedTuple):
    """Which share of all runs kept within it."""

    p50_s: float
    p90_s: float
    p50_usd: float
    p90_usd: float
    losses: float
    """Of a run, on average."""


def covered(case: Case, runs: int) -> Covered:
    """Let so many runs live."""
    forecast, lives = forecast_of(case), [lived(case, seed) for seed in range(runs)]

    def share(kept: list[bool]) -> float:
        return sum(kept) / len(kept)

    return Covered(
        share([one.seconds <= forecast.p50_s for one in lives]),
        share([one.seconds <= forecast.p90_s for one in lives]),
        share([one.usd <= forecast.p50_usd for one in lives]),
        share([one.usd <= forecast.p90_usd for one in lives]),
        sum(one.losses for one in lives) / runs,
    )


def forecast_of(case: Case) -> Forecast:
    """The plan's quantiles; of the dollars, those that the twin bills: machines alone."""
    found = _planned(case)
    share = found.rates.machines_per_h / _held_per_h(found)
    return Forecast(
        found.estimate.p50_s,
        found.estimate.p90_s,
        found.usd_p50 * share,
        found.usd_p90 * share,
    )


def lived(case: Case, seed: int) -> Lived:
    """One run of the real controller and the compute engine over the twin."""
    found = _planned(case)
    course = found.estimate.course
    training = Training(
        steps=course.segments * STEPS_EACH,
        # A save is part of its segment: what is lost in the middle of it is all of it.
        step_s=course.segment_s / STEPS_EACH,
        save_every=STEPS_EACH,
        setup_s=course.restart_s - SETTLING_S,
    )
    gang = rented(found, engine="compute")
    return live(seed, spec=_spec(case), gangs=[gang], training=training, scenario=_scenario(case))


def _planned(case: Case) -> Candidate:
    known = outlook(_scenario(case), delays="google", catalog=catalog())
    plan = make_plan(_spec(case), catalog(), known)
    assert plan.best is not None
    return plan.best


def _scenario(case: Case) -> Scenario:
    rule = Rule(model="SPOT", hazard_per_h=case.hazard_per_h)
    return Scenario(digest=case.name, settings={"delays": DELAYS}, market=(rule,))


def _spec(case: Case) -> Spec:
    wanted = accelerators("L4:1")
    work = Work(
        steps=1000,
        reference_accelerators=wanted,
        reference_nodes=case.nodes,
        reference_step_s=case.work_s / 1000,
    )
    return Spec(
        name=case.name,
        run="train",
        resources=Resources(
            accelerators=(wanted,),
            nodes_min=case.nodes,
            nodes_max=case.nodes,
            machine="g2-standard-4",
        ),
        where=Where(buy=("spot",), regions=(ZONES[0].rpartition("-")[0],)),
        work=work,
        limits=Limits(restarts=1000),
        checkpoint=Checkpoint(),
    )


def _held_per_h(found: Candidate) -> float:
    rates = found.rates
    return rates.machines_per_h + rates.fee_per_h + rates.disk_per_h + rates.nat_per_h
