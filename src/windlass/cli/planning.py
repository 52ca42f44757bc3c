"""Plans for commands: a spec in this home, with what the home's own runs have shown.

Must not plan itself: windlass.planner does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from windlass.engines.registry import MANAGED, is_managed, unsold
from windlass.errors import WindlassError
from windlass.planner.ask import Circumstances
from windlass.planner.history import History
from windlass.planner.plan import Plan, make_plan

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.catalog.model import Offer
    from windlass.spec.model import Spec


def plan_in(home: Home, spec: Spec, circumstances: Circumstances | None = None) -> Plan:
    """A plan, which may have no candidates."""
    # Without work nothing is asked of history: neither hazards nor steps count.
    history = history_of(home, spec) if spec.work is not None else History()
    given = circumstances or Circumstances()
    names = MANAGED if given.is_managed else home.engines_for(spec)
    known = replace(
        given, history=history, is_managed=_is_managed(names, spec), unsold=_unsold(names)
    )
    return make_plan(spec, home.catalog, known)


def _is_managed(names: Collection[str], spec: Spec) -> bool:
    """Whether whatever the spec may mean is rented where a fee is taken."""
    kinds = {one.is_tpu for one in spec.resources.accelerators} or {False}
    return all(is_managed(names, is_slice=is_tpu) for is_tpu in kinds)


def _unsold(names: Collection[str]) -> Callable[[Offer], str] | None:
    """What tells of an offer why none of the engines rents it out; None where each has all."""
    has_all = not any(is_managed(names, is_slice=is_slice) for is_slice in (False, True))
    return None if has_all else partial(unsold, names)


def feasible_plan(home: Home, spec: Spec, circumstances: Circumstances | None = None) -> Plan:
    """A plan with candidates; NoFeasiblePlan, with what comes nearest, when there are none."""
    plan = plan_in(home, spec, circumstances)
    if not plan.candidates:
        from windlass.planner.alternatives import refuse

        raise refuse(plan, home.catalog)
    return plan


def history_of(home: Home, spec: Spec | None) -> History:
    """What the home's runs have shown. A store that cannot be read is told of, and costs no more
    than that: priors stand in."""
    try:
        return home.history(spec)
    except WindlassError as error:
        sys.stderr.write(f"windlass: planned without your own history: {error.message}\n")
        return History()
