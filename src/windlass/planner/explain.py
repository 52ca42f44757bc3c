"""Every term of a candidate's dollars and hours, for people and programs.

Must not compute anything anew: the terms add up to what the candidate says.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from windlass.planner.candidates import Candidate
from windlass.planner.estimate import Basis
from windlass.planner.history import HOUR
from windlass.planner.misses import hosts_text

RESERVED = "reserved, billed anyway"


class Term(NamedTuple):
    """One part of a sum."""

    name: str
    value: float
    """Dollars, or seconds."""
    how: str


def dollars(candidate: Candidate) -> tuple[Term, ...]:
    """What the expected dollars are made of; they add up to `candidate.usd`."""
    rates, estimate = candidate.rates, candidate.estimate
    held, wall = estimate.held_s / HOUR, estimate.wall_s / HOUR
    gang = estimate.gang
    for_held = f"x {held:,.2f} h held" if math.isfinite(held) else "without end"
    unit = candidate.unit_usd_per_h
    priced = f"{gang.nodes} x {unit:,.5g} USD/h {for_held} ({candidate.offer.basis} price)"
    size, tariff = estimate.checkpoint_gib or 0.0, candidate.lot.tariff
    machines = Term(name="machines", value=rates.machines_per_h * held, how=priced)
    if candidate.way.is_prepaid:
        how = f"{priced} = {candidate.reserved_usd:,.2f} USD, used or not: not counted"
        machines = Term(name=RESERVED, value=0.0, how=how)
    terms = [
        Term(
            name="managed service",
            value=rates.fee_per_h * held,
            how=f"{rates.fee_per_h:,.4g} USD/h {for_held}",
        ),
        Term(
            name="boot disks",
            value=rates.disk_per_h * held,
            how=f"{gang.hosts} x {tariff.disk}, {rates.disk_per_h:,.4g} USD/h {for_held}",
        ),
        Term(
            name="NAT",
            value=rates.nat_per_h * held,
            how=f"{hosts_text(gang)}, {rates.nat_per_h:,.4g} USD/h {for_held}",
        ),
        Term(
            name="checkpoints kept",
            value=rates.storage_per_h * wall,
            how=f"{size:,.1f} GiB each, {rates.storage_per_h:,.4g} USD/h x {wall:,.2f} h",
        ),
        Term(
            name="checkpoints written",
            value=rates.operations,
            how=f"{estimate.course.segments} saves, a file per chip",
        ),
        Term(name="data read", value=rates.reads, how="every dataset once"),
    ]
    return (machines, *(term for term in terms if term.value > 0))


def seconds(candidate: Candidate) -> tuple[Term, ...]:
    """What the expected time is made of; it adds up to `candidate.estimate.wall_s`."""
    estimate = candidate.estimate
    course = estimate.course
    if estimate.basis is not Basis.WORK or estimate.useful is None:
        what = "the spec's ttl" if estimate.basis is Basis.TTL else "one hour"
        how = f"{what}: how long the work takes is not known"
        return (Term(name="time", value=estimate.wall_s, how=how),)
    useful = estimate.useful
    preemptions = estimate.preemptions
    waits = preemptions * course.wait_s
    known = course.least_s + waits
    lost = estimate.wall_s - known if math.isfinite(known) else math.inf
    of_segments = course.work_s / course.segments
    return (
        Term(name="first wait", value=course.first_wait_s, how="until there are machines"),
        Term(name="start", value=course.restart_s, how="boot, setup, restore"),
        Term(
            name="useful work",
            value=course.work_s,
            how=f"{useful.how}; {useful.scaling:.1%} of a step computes",
        ),
        Term(
            name="saves",
            value=course.segments * course.save_s,
            how=f"{course.segments} x {course.save_s:.3g} s, every {of_segments:,.0f} s of work",
        ),
        Term(
            name="lost and repeated",
            value=lost,
            how=f"{preemptions:.3g} preemptions; {estimate.hazard_per_node_h:.3g} per node-hour",
        ),
        Term(
            name="waits",
            value=waits,
            how=f"{preemptions:.3g} x {course.wait_s:.0f} s for machines",
        ),
    )
