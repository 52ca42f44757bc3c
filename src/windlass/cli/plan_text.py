"""A plan as a person reads it: the best few, why others were refused, and the front as a plot.

Must not choose anything: the plan is ranked already.
"""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from windlass.cli.figures import figures_text
from windlass.cli.plan_table import candidates_table, change, dollars
from windlass.cli.plot import plot
from windlass.cli.table import draw
from windlass.cli.words import duration, plural
from windlass.planner.estimate import Basis
from windlass.planner.plan import grouped
from windlass.planner.ranking import Goal
from windlass.planner.sources import learned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from windlass.cli.terminal import Paint
    from windlass.planner.candidates import Candidate
    from windlass.planner.plan import Plan

_LISTED = 6
"""Of the front, at most so many are named."""
_FLAT = 1.15
"""Where no time is longer than this many times the shortest, a plot shows nothing."""
_PLOTTED = 2000
_MARGIN = 24
_WIDE = 200


def plan_text(plan: Plan, paint: Paint, *, top: int, width: int) -> str:
    """Everything that `windlass plan` prints of a plan with candidates."""
    blocks = [_head(plan, paint), candidates_table(plan, paint, top=top, width=width)]
    blocks += [
        block for block in (_refusals(plan, paint, width=width), _front(plan, paint)) if block
    ]
    ends = (_failover(plan, paint), _history(plan, paint, top=top), _notes(plan, paint))
    blocks += [block for block in ends if block]
    return "\n\n".join(blocks)


def choice_text(plan: Plan, chosen: Candidate, paint: Paint, *, top: int, width: int) -> str:
    """What `windlass run` prints before it rents: the best few, and the one that is taken."""
    table = candidates_table(plan, paint, top=top, width=width)
    taken = f"{paint('chosen', 'bold')}  {chosen.id} x {chosen.nodes}"
    return "\n".join((_head(plan, paint), table, taken))


def glance(plan: Plan) -> str:
    """The best candidate in a few words."""
    if not plan.candidates:
        return "nothing fits"
    best = plan.candidates[0]
    where = f"{best.nodes} x {best.label}, {best.way.name}, {best.offer.zone}"
    if plan.basis is Basis.HOUR:
        return f"${dollars(best.usd)} an hour ({where})"
    took = f"in {duration(best.estimate.p50_s)} ({where})"
    if plan.basis is Basis.TTL:
        return f"at most ${dollars(best.usd)} {took}"
    return f"P50 ${dollars(best.usd_p50)}, P90 ${dollars(best.usd_p90)}, {took}"


def _head(plan: Plan, paint: Paint) -> str:
    what = {
        Basis.WORK: "expected, and at P90 (nine of ten such runs stay below)",
        Basis.TTL: "the price of all of `ttl`: an upper bound, since the spec has no `work`",
        Basis.HOUR: "the price of one hour, since the spec has neither `work` nor `ttl`",
    }[plan.basis]
    goal = "cheapest" if plan.goal is Goal.DOLLARS else "fastest"
    count = plural(len(plan.candidates), "candidate")
    count += f", {plural(len(plan.refusals), 'offer')} refused"
    head = f"{paint(plan.ask.spec.name, 'bold')}  {count}; {goal} first; prices of {plan.snapshot}"
    return f"{head}\n{what}"


def _refusals(plan: Plan, paint: Paint, *, width: int) -> str:
    if not plan.refusals:
        return ""
    lines = [paint("Refused", "bold")]
    margin = " " * _MARGIN
    for code, count, example in grouped(plan):
        said = wrap(example.sentence, max(40, min(width, _WIDE) - _MARGIN))
        lines.append(f"  {count:>5}  {code:<13}  {said[0]}")
        lines += [margin + line for line in said[1:]]
        lines.append(paint(f"{margin}such as {example.offer.id}", "dim"))
    return "\n".join(lines)


def _front(plan: Plan, paint: Paint) -> str:
    """The candidates that no other beats in both, as a plot where time differs, and by name."""
    if len(plan.front) < 2:
        return ""
    title = f"{paint('Dollars against time', 'bold')}  (o: no other beats it in both)"
    points = [(found.usd, found.estimate.wall_s) for found in plan.candidates[:_PLOTTED]]
    front = [(found.usd, found.estimate.wall_s) for found in plan.front]
    times = [time for _, time in (*points, *front)]
    lines = [title]
    if max(times) > _FLAT * min(times):
        lines.append(plot(points, front, x_text=dollars, y_text=duration))
    rows = [
        ("  o", dollars(one.usd) + " $", duration(one.estimate.wall_s), f"{one.id} x{one.nodes}")
        for one in _spread(plan.front, _LISTED)
    ]
    listed = draw(("", "", "", ""), rows, width=_WIDE, right=frozenset({1, 2}))
    lines += listed.splitlines()[1:]
    left = len(plan.front) - len(rows)
    if left:
        lines.append(f"  and {left} between them")
    return "\n".join(lines)


def _spread(found: Sequence[Candidate], most: int) -> list[Candidate]:
    """The first, the last, and some between them."""
    if len(found) <= most:
        return list(found)
    step = (len(found) - 1) / (most - 1)
    return [found[round(number * step)] for number in range(most)]


def _failover(plan: Plan, paint: Paint) -> str:
    if len(plan.failover) < 2:
        return ""
    places = [f"{found.id} x{found.nodes}" for found in plan.failover[:5]]
    return f"{paint('Tried in this order', 'bold')}\n  " + "\n  ".join(places)


def _history(plan: Plan, paint: Paint, *, top: int) -> str:
    figures = learned(plan.ask, plan.candidates[:top])
    if not figures:
        return ""
    title = paint("Learned from your own runs", "bold")
    return f"{title}\n{figures_text(figures, has_header=False)}"


def _notes(plan: Plan, paint: Paint) -> str:
    best = plan.candidates[0]
    lines = [f"  unpriced: {what}" for what in best.unpriced]
    if lines:
        lines.insert(0, paint("The dollars are a lower bound", "bold yellow"))
    if best.way.is_prepaid:
        lines.append(paint(f"What {best.way.name} costs is not counted", "bold yellow"))
        lines.append("  its machines are billed whether or not they are used")
        if len({one.offer.region for one in plan.failover}) > 1:
            lines.append("  where it lies is not known here: name its region in `where.regions`")
    return "\n".join(lines)


def comparison_text(plans: Sequence[tuple[str, Plan]], *, width: int) -> str:
    """The best of several specs, side by side."""
    rows = []
    first = plans[0][1].candidates[0]
    for path, plan in plans:
        best = plan.candidates[0]
        rows.append(
            (
                path,
                best.id,
                str(best.nodes),
                dollars(best.usd),
                dollars(best.usd_p90),
                duration(best.estimate.p50_s),
                duration(best.estimate.p90_s),
                f"{change(best.usd, first.usd)} $".removeprefix(" $"),
            )
        )
    header = ("SPEC", "BEST", "NODES", "$", "$ P90", "TIME P50", "TIME P90", "")
    return draw(header, rows, width=width, right=frozenset({2, 3, 4, 5, 6}))
