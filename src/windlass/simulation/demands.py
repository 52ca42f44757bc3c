"""What runs of simulated worlds ask for where machines are rented: budgets, lives, deadlines.

Must not know what becomes of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from windlass.policy.meter import HOUR_S
from windlass.simulation.gang import STEP_S, Training
from windlass.simulation.luck import Luck
from windlass.simulation.market import PRICES, offers_for
from windlass.spec.model import Limits, Resources, Spec, Where, Work

RESERVE_S = 2500.0
"""About the slack that the buying policy keeps for on-demand: deadlines near it are hard."""
TIGHT_S = (5500.0, 9000.0)
"""How long spot machines live in a tight world."""
BOTH = ("spot", "on-demand")


class Demand(NamedTuple):
    """One run."""

    training: Training
    spec: Spec
    options: str
    engine: str = "simulated"


def renting(spec: Spec, luck: Luck, *, training: Training) -> Demand:
    """The run with what matters where machines cost money, some of it now and then."""
    limits = replace(
        spec.limits,
        budget_usd=luck.between(0.5, 30.0) if luck.whole(1, 2) == 1 else None,
        ttl_s=luck.between(60.0, 3000.0) if luck.whole(1, 6) == 1 else None,
    )
    deadlines = luck.whole(1, 20)
    if deadlines == 1:
        limits = replace(limits, deadline_s=luck.between(1.0, 8.0) * training.steps)
    elif deadlines <= 6:
        limits = _near_deadline(limits, luck, training)
    where = Where(race=luck.whole(1, 3))
    spec = replace(spec, limits=limits, where=where, work=Work(steps=training.steps))
    kinds = BOTH if 1 < deadlines <= 6 else ()
    work_s, nodes = training.steps * STEP_S, spec.resources.nodes_min
    return Demand(training, spec, offers_for(luck, nodes=nodes, work_s=work_s, kinds=kinds))


def _near_deadline(limits: Limits, luck: Luck, training: Training) -> Limits:
    """Longer, slower than planned, and with hardly more time than the policy keeps: some of these
    runs have to leave spot that works. A budget is large enough to do so, or hardly for spot."""
    training.steps *= luck.whole(1, 3)
    training.step_s = luck.between(1.0, 1.5) * STEP_S
    training.saves_on_notice = luck.whole(1, 2) == 1
    slack_s = RESERVE_S + luck.between(50.0, 250.0)
    spot_usd = training.steps * STEP_S * PRICES["spot"] / HOUR_S
    is_rich, share = luck.whole(1, 2) == 1, luck.between(0.5, 2.0)
    budget_usd = limits.budget_usd
    if budget_usd is not None:
        budget_usd = 30.0 * budget_usd if is_rich else share * spot_usd
    return replace(
        limits, deadline_s=training.steps * STEP_S + slack_s, budget_usd=budget_usd, ttl_s=None
    )


def tight_demand(luck: Luck) -> Demand:
    """A run that can just be done in time on one gang, and not any more once it has lost the work
    of a long time between two saves; its steps take longer than was planned."""
    training = Training(
        steps=7200,
        setup_s=luck.between(5.0, 30.0),
        step_s=luck.between(1.3, 1.34) * STEP_S,
        save_every=3600,
        saves_on_notice=True,
    )
    spec = Spec(
        name="tight",
        run="train",
        resources=Resources(nodes_min=1, nodes_max=1),
        limits=Limits(restarts=60, deadline_s=training.steps * STEP_S + RESERVE_S + 500.0),
        work=Work(steps=training.steps),
    )
    options = offers_for(luck, nodes=1, work_s=training.steps * STEP_S, kinds=BOTH)
    return Demand(training, spec, options)
