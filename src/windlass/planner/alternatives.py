"""What is nearest to an ask that nothing can carry out.

Must not change what was asked: it says what would have to be different, and what that would cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from windlass.catalog.absent import nearest_counts, why_absent
from windlass.catalog.model import Chip, Offer
from windlass.catalog.query import Catalog
from windlass.errors import NoFeasiblePlan
from windlass.planner.ask import NODES_LISTED, Circumstances, allowed_buys
from windlass.planner.candidates import Candidate, gang_with
from windlass.planner.memory import least_nodes
from windlass.planner.misses import nodes_text, time_text
from windlass.planner.plan import Plan, grouped, make_plan
from windlass.planner.quota import Quota
from windlass.spec.model import Accelerators, Checkpoint, Limits, Spec
from windlass.spec.sections import BUYS
from windlass.spec.suggest import nearest

MOST = 4
_MORE_NODES = 8
_RANGES = 16


class Alternative(NamedTuple):
    """Something that can be done, and what would have to be asked instead."""

    changes: tuple[str, ...]
    """What to write into the spec."""
    candidate: Candidate

    def text(self) -> str:
        """One line for people."""
        found = self.candidate
        return (
            f"with {' and '.join(self.changes)}: {found.id}, {nodes_text(found.estimate.gang)}, "
            f"{found.usd_p90:,.2f} USD and {time_text(found.estimate.p90_s)} at P90"
        )


def refuse(plan: Plan, catalog: Catalog) -> NoFeasiblePlan:
    """The error for a plan without candidates, with the nearest alternatives named."""
    spec = plan.ask.spec
    found = alternatives(plan, catalog)
    remedy = "Nothing that is sold comes near it; see `windlass catalog offers`."
    if found:
        remedy = "Nearest:\n" + "\n".join(f"    {other.text()}" for other in found)
    return NoFeasiblePlan(
        f"no offer can carry out {spec.name!r} as it is asked",
        remedy=remedy,
        context="\n".join(_reasons(plan, catalog)),
    )


def _reasons(plan: Plan, catalog: Catalog) -> list[str]:
    resources = plan.ask.spec.resources
    absent = [why_absent(catalog, wanted) for wanted in resources.accelerators]
    lines = [sentence for sentence in absent if sentence]
    if resources.machine is not None and not plan.refusals:
        near = nearest(resources.machine, list(catalog.machines))
        hint = f"; did you mean {near}?" if near else ""
        lines.append(f"the catalog has no such machine as {resources.machine}{hint}")
    lines += [
        f"{count} refused for {code}: {example.sentence}" for code, count, example in grouped(plan)
    ]
    return lines or ["the catalog has no machine that is large enough"]


def alternatives(plan: Plan, catalog: Catalog) -> tuple[Alternative, ...]:
    """The nearest things that can be done: one limit lifted, or when that is not enough, all."""
    spec, circumstances = plan.ask.spec, plan.ask.circumstances
    best = partial(_best, catalog=catalog, asked=spec.resources.nodes_max)
    found = best(_sold(spec, catalog), circumstances)
    if not found:
        found = best(_every_count(plan), circumstances)
    if not found:
        found = best(_one_lifted(spec, circumstances, catalog), circumstances)
        if circumstances.quota.free:
            found += best([spec], replace(circumstances, quota=Quota()))
    if not found:
        free = replace(circumstances, quota=Quota())
        found = best(_all_lifted(spec, circumstances, catalog), free)
    others = best(_other_accelerators(spec, catalog), circumstances)
    unique = {(one.id, one.nodes): one for one in (*found, *others)}
    return tuple(
        Alternative(changes=_changes(plan, one), candidate=one)
        for one in list(unique.values())[:MOST]
    )


def _best(
    specs: Iterable[Spec], circumstances: Circumstances, *, catalog: Catalog, asked: int
) -> list[Candidate]:
    """The best candidate of each that has one."""
    found: list[Candidate] = []
    for spec in specs:
        candidates = make_plan(spec, catalog, circumstances).candidates
        if candidates:
            # Of more nodes than were asked for, as few as will do.
            found.append(min(candidates, key=lambda one: max(one.nodes, asked)))
        if len(found) >= 2 * MOST:
            break
    return found


def _changes(plan: Plan, found: Candidate) -> tuple[str, ...]:
    """In what this differs from what was asked."""
    spec, offer = plan.ask.spec, found.offer
    quota = plan.ask.circumstances.quota
    free = quota.left(quota.place_of(offer.zone, offer.region), offer.quota_metric)
    limits = spec.limits
    asked = {str(wanted) for wanted in spec.resources.accelerators}
    has = _accelerators(offer)
    differences = {
        f"accelerators: [{has}]": bool(asked) and has not in asked,
        f"machine: {offer.machine.name}": spec.resources.machine is not None and not asked,
        f"regions: [{offer.region}]": not plan.ask.has_region(offer.region),
        f"buy: [{found.way.name}]": found.way.name not in allowed_buys(spec),
        f"nodes: {found.nodes}": found.nodes not in plan.ask.nodes,
        "a `checkpoint:`": spec.checkpoint is None and found.estimate.course.save_s > 0,
        f"a quota of {found.estimate.gang.chips} {offer.quota_metric}": free is not None
        and found.estimate.gang.chips > free,
        f"deadline: {time_text(found.estimate.p90_s, up=True)}": _is_over(
            found.estimate.p90_s, limits.deadline_s
        ),
        f"ttl: {time_text(found.estimate.p90_s, up=True)}": _is_over(
            found.estimate.p90_s, limits.ttl_s
        ),
        f"budget: {math.ceil(found.usd_p90)} USD": _is_over(found.usd_p90, limits.budget_usd),
    }
    return tuple(change for change, is_needed in differences.items() if is_needed)


def _is_over(value: float, limit: float | None) -> bool:
    return limit is not None and value > limit


def _accelerators(offer: Offer) -> str:
    if offer.slice is not None:
        return offer.slice.name
    return f"{offer.chip.name}:{offer.chips}" if offer.chip else offer.label


def _sold(spec: Spec, catalog: Catalog) -> Iterator[Spec]:
    """With accelerators in the nearest numbers that are rented, when none of those asked are."""
    wanted = spec.resources.accelerators
    if any(why_absent(catalog, one) is None for one in wanted):
        return
    for one in wanted:
        counts = nearest_counts(catalog, one)
        for count in sorted(counts, key=lambda count: abs(count - one.count)):
            like = _with_accelerators(spec, replace(one, count=count))
            yield like
            yield replace(like, where=replace(like.where, buy=BUYS))


def _every_count(plan: Plan) -> Iterator[Spec]:
    """The numbers of nodes that were left out, in ranges short enough that none is."""
    resources = plan.ask.spec.resources
    low, high = resources.nodes_min, resources.nodes_max
    if len(plan.ask.nodes) > high - low:
        return
    for first in range(low, min(high, low + _RANGES * NODES_LISTED) + 1, NODES_LISTED):
        last = min(high, first + NODES_LISTED - 1)
        wanted = replace(resources, nodes_min=first, nodes_max=last)
        yield replace(plan.ask.spec, resources=wanted)


def _with_accelerators(spec: Spec, *wanted: Accelerators) -> Spec:
    return replace(spec, resources=replace(spec.resources, accelerators=wanted))


def _one_lifted(spec: Spec, circumstances: Circumstances, catalog: Catalog) -> Iterator[Spec]:
    limits = spec.limits
    yield replace(spec, where=replace(spec.where, regions=()))
    yield replace(spec, where=replace(spec.where, buy=BUYS))
    yield _with_more_nodes(spec, circumstances, catalog)
    if spec.checkpoint is None:
        yield replace(spec, checkpoint=Checkpoint())
    if limits.deadline_s is not None or limits.ttl_s is not None:
        untimed = replace(limits, deadline_s=None, ttl_s=None)
        # The fastest first: with a budget that is no limit, time is what is ranked by.
        yield replace(spec, limits=replace(untimed, budget_usd=limits.budget_usd or math.inf))
        yield replace(spec, limits=untimed)
    if limits.budget_usd is not None:
        yield replace(spec, limits=replace(limits, budget_usd=None))


def _all_lifted(spec: Spec, circumstances: Circumstances, catalog: Catalog) -> Iterator[Spec]:
    where = replace(spec.where, regions=(), buy=BUYS)
    checkpoint = spec.checkpoint or Checkpoint()
    free = replace(spec, limits=Limits(), where=where, checkpoint=checkpoint)
    yield _with_more_nodes(free, circumstances, catalog)


def _with_more_nodes(spec: Spec, circumstances: Circumstances, catalog: Catalog) -> Spec:
    """Several times as many, and as many as the model needs to fit."""
    most = spec.resources.nodes_max * _MORE_NODES
    params = spec.work.params if spec.work else None
    if params is not None:
        refusals = make_plan(spec, catalog, circumstances).refusals
        kinds = {refusal.offer.label: refusal.offer for refusal in refusals}
        for offer in kinds.values():
            most = max(most, least_nodes(params, gang_with(offer, 1), circumstances.priors) or 0)
    return replace(spec, resources=replace(spec.resources, nodes_max=most))


def _other_accelerators(spec: Spec, catalog: Catalog) -> Iterator[Spec]:
    """With the accelerators nearest in speed to the first one asked, among what is rented there."""
    wanted = next(iter(spec.resources.accelerators), None)
    chip = catalog.chips.get(wanted.name) if wanted else None
    if wanted is None or chip is None:
        return
    speed = _speed(wanted, catalog, like=chip)
    asked = {str(one) for one in spec.resources.accelerators}
    found: list[tuple[float, Accelerators]] = []
    for name, other in catalog.chips.items():
        counts = catalog.counts(name) if other.is_tpu is chip.is_tpu else ()
        for one in (Accelerators(name=name, count=n, is_tpu=other.is_tpu) for n in counts):
            theirs = _speed(one, catalog, like=chip)
            if str(one) not in asked and speed and theirs:
                found.append((abs(math.log(theirs / speed)), one))
    found.sort(key=lambda pair: (pair[0], str(pair[1])))
    for _, one in found:
        yield _with_accelerators(spec, one)


def _speed(wanted: Accelerators, catalog: Catalog, *, like: Chip) -> float:
    """By peak, or by memory where the peak of the one that was asked for is not published."""
    chip, slice_ = catalog.chips[wanted.name], catalog.slices.get(str(wanted))
    each = chip.memory_gb_per_s if like.peak_tflops is None else chip.peak_tflops
    return (each or 0.0) * (slice_.chips if slice_ else wanted.count)
