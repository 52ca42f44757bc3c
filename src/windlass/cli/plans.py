"""A plan as --json shows it: plain dictionaries with stable keys.

Must not leave keys out: a value that is not there is null.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from windlass.planner.candidates import Candidate, Refusal
    from windlass.planner.explain import Term
    from windlass.planner.plan import Plan
    from windlass.planner.sources import Figure


def plan_document(plan: Plan, *, top: int) -> dict[str, Any]:
    """The best so many candidates, the front, where to try next, and why others were refused."""
    from windlass.planner.plan import grouped
    from windlass.planner.sources import learned

    best = plan.candidates[:top]
    return {
        "name": plan.ask.spec.name,
        "catalog": plan.snapshot,
        "goal": plan.goal.value,
        "basis": plan.basis.value,
        "is_upper_bound": plan.basis.value == "ttl",
        "candidates_total": len(plan.candidates),
        "refusals_total": len(plan.refusals),
        "candidates": [candidate_document(found) for found in best],
        "front": [_point(found) for found in plan.front],
        "history": [figure_document(figure) for figure in learned(plan.ask, best)],
        "failover": [{"offer": found.id, "nodes": found.nodes} for found in plan.failover],
        "refusals": [
            {
                "code": code,
                "count": count,
                "example": {"offer": example.offer.id, "message": example.sentence},
            }
            for code, count, example in grouped(plan)
        ],
    }


def candidate_document(found: Candidate) -> dict[str, Any]:
    """One candidate with everything that is expected of it."""
    estimate, offer = found.estimate, found.offer
    course = estimate.course
    return {
        "offer": found.id,
        "zone": offer.zone,
        "region": offer.region,
        "machine": offer.machine.name,
        "slice": offer.slice.name if offer.slice else None,
        "accelerator": offer.chip.name if offer.chip else None,
        "chips": estimate.gang.chips,
        "buy": found.way.name,
        "nodes": found.nodes,
        "hosts": estimate.gang.hosts,
        "usd_per_hour": rounded(found.rates.machines_per_h + found.rates.fee_per_h),
        "price_basis": offer.basis,
        "usd": {
            "expected": rounded(found.usd),
            "p50": rounded(found.usd_p50),
            "p90": rounded(found.usd_p90),
            "is_lower_bound": bool(found.unpriced),
            "billed_anyway": rounded(found.reserved_usd),
        },
        "unpriced": list(found.unpriced),
        "seconds": {
            "expected": rounded(estimate.wall_s),
            "p50": rounded(estimate.p50_s),
            "p90": rounded(estimate.p90_s),
            "useful": rounded(course.work_s),
        },
        "preemptions": rounded(estimate.preemptions),
        "checkpoint_every_s": rounded(course.work_s / course.segments),
        "scaling": rounded(estimate.useful.scaling) if estimate.useful else None,
    }


def explanation_document(
    found: Candidate, figures: Iterable[Figure], *, refusal: Refusal | None
) -> dict[str, Any]:
    """One candidate with every term of its dollars and seconds, and the figures behind them."""
    from windlass.planner import explain

    said = {"code": refusal.code, "message": refusal.sentence} if refusal else None
    return {
        **candidate_document(found),
        "refusal": said,
        "dollars": [_term(term) for term in explain.dollars(found)],
        "time": [_term(term) for term in explain.seconds(found)],
        "figures": [figure_document(figure) for figure in figures],
    }


def figure_document(figure: Figure) -> dict[str, Any]:
    """One figure, where it is from, and what of it this user's own runs have shown."""
    prior, seen = figure.prior, figure.seen
    return {
        "key": figure.key,
        "value": rounded(figure.value),
        "unit": figure.unit,
        "source": figure.source,
        "is_assumption": prior is not None and prior.is_assumption and seen is None,
        "is_own": figure.is_own,
        "prior": prior.value if prior else None,
        "preemptions": seen.preemptions if seen else None,
        "node_hours": rounded(seen.node_hours) if seen else None,
    }


def _term(term: Term) -> dict[str, Any]:
    return {"name": term.name, "value": rounded(term.value), "how": term.how}


def _point(found: Candidate) -> dict[str, Any]:
    return {
        "offer": found.id,
        "nodes": found.nodes,
        "usd": rounded(found.usd),
        "seconds": rounded(found.estimate.wall_s),
    }


def rounded(value: float) -> float | None:
    """Six digits are more than anything here is known to; JSON has no infinity."""
    return float(f"{value:.6g}") if math.isfinite(value) else None
