"""A plan as a person reads it: the best few, why others were refused, and the front as a plot.

Must not choose anything: the plan is ranked already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windlass.cli.plot import plot
from windlass.cli.table import draw
from windlass.cli.words import duration, plural
from windlass.planner import explain
from windlass.planner.estimate import Basis
from windlass.planner.plan import grouped
from windlass.planner.ranking import Goal
from windlass.planner.sources import learned

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from windlass.cli.terminal import Paint
    from windlass.planner.candidates import Candidate
    from windlass.planner.plan import Plan
    from windlass.planner.sources import Figure

_HEADER = ("ZONE", "MACHINE", "BUY", "NODES", "$/H", "$", "$ P90", "TIME P50", "P90", "WHY")
_RIGHT = frozenset({3, 4, 5, 6, 7, 8})
_SENTENCES = 100


def plan_text(plan: Plan, paint: Paint, *, top: int, width: int) -> str:
    """Everything that `windlass plan` prints of a plan with candidates."""
    blocks = [_head(plan, paint), _table(plan, paint, top=top, width=width)]
    blocks += [block for block in (_refusals(plan, paint), _front(plan, paint)) if block]
    ends = (_failover(plan, paint), _history(plan, paint, top=top), _notes(plan, paint))
    blocks += [block for block in ends if block]
    return "\n\n".join(blocks)


def choice_text(plan: Plan, paint: Paint, *, top: int, width: int) -> str:
    """What `windlass run` prints before it rents: the best few, and the one that is taken."""
    chosen = plan.candidates[0]
    table = _table(plan, paint, top=top, width=width)
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


def _table(plan: Plan, paint: Paint, *, top: int, width: int) -> str:
    rows = []
    for found, zones in _distinct(plan.candidates, top):
        estimate = found.estimate
        rows.append(
            (
                found.offer.zone,
                found.label,
                found.way.name,
                str(found.nodes),
                f"{found.rates.machines_per_h:,.2f}",
                dollars(found.usd),
                dollars(found.usd_p90),
                duration(estimate.p50_s),
                duration(estimate.p90_s),
                why(plan, found, zones),
            )
        )
    best = rows[0]

    def style(text: str, column: int) -> str:
        return paint(text, "bold green") if column == 5 and text.strip() == best[5] else text

    return draw(_HEADER, rows, width=width, right=_RIGHT, style=style)


def _distinct(candidates: Sequence[Candidate], top: int) -> list[tuple[Candidate, int]]:
    """The best, with zones that differ in nothing but their name told together."""
    shown: dict[tuple[str, str, int, float], list[Candidate]] = {}
    for found in candidates:
        key = (found.label, found.way.name, found.nodes, found.usd)
        if key not in shown and len(shown) == top:
            break
        shown.setdefault(key, []).append(found)
    return [(alike[0], len(alike)) for alike in shown.values()]


def why(plan: Plan, found: Candidate, zones: int) -> str:
    """What speaks for this one, beside the best."""
    best = plan.candidates[0]
    said = []
    if _is_same(found, best):
        said.append("cheapest" if plan.goal is Goal.DOLLARS else "fastest")
    else:
        said.append(f"{_change(found.usd, best.usd)} $")
        said.append(f"{_change(found.estimate.wall_s, best.estimate.wall_s)} time")
    if any(_is_same(found, one) for one in plan.front[1:]):
        said.append("on the front")
    if zones > 1:
        said.append(f"also in {zones - 1} more zone{'s' if zones > 2 else ''}")
    return ", ".join(said)


def _is_same(one: Candidate, other: Candidate) -> bool:
    return (one.nodes, one.id) == (other.nodes, other.id)


def _change(value: float, than: float) -> str:
    return f"{(value / than - 1) * 100:+.0f} %"


def _refusals(plan: Plan, paint: Paint) -> str:
    if not plan.refusals:
        return ""
    lines = [paint("Refused", "bold")]
    for code, count, example in grouped(plan):
        sentence = example.sentence
        lines.append(f"  {count:>5}  {code:<13}  {sentence}")
        lines.append(paint(f"         {'':<13}  such as {example.offer.id}", "dim"))
    return "\n".join(lines)


def _front(plan: Plan, paint: Paint) -> str:
    if len(plan.front) < 2:
        return ""
    points = [(found.usd, found.estimate.wall_s) for found in plan.candidates[:2000]]
    front = [(found.usd, found.estimate.wall_s) for found in plan.front]
    drawn = plot(points, front, x_text=dollars, y_text=duration)
    title = paint("Dollars against time", "bold")
    return f"{title}  (o: no other beats it in both)\n{drawn}"


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
    return "\n".join(lines)


def explanation_text(found: Candidate, figures: Sequence[Figure], paint: Paint) -> str:
    """Every term of one candidate, and where the figures behind them are from."""
    estimate = found.estimate
    head = f"{paint(found.id, 'bold')}  {found.nodes} nodes, {estimate.gang.chips} chips"
    dollar_rows = [(term.name, dollars(term.value), term.how) for term in explain.dollars(found)]
    dollar_rows.append(("expected", dollars(found.usd), f"P50 {dollars(found.usd_p50)}"))
    dollar_rows.append(("P90", dollars(found.usd_p90), ""))
    time_rows = [(term.name, duration(term.value), term.how) for term in explain.seconds(found)]
    time_rows.append(("expected", duration(estimate.wall_s), f"P50 {duration(estimate.p50_s)}"))
    time_rows.append(("P90", duration(estimate.p90_s), ""))
    blocks = [head, _terms("dollars", dollar_rows), _terms("time", time_rows)]
    if figures:
        blocks.append(figures_text(figures))
    if found.unpriced:
        missing = "\n".join(f"  {what}" for what in found.unpriced)
        blocks.append(
            f"{paint('Unpriced: the dollars are a lower bound', 'bold yellow')}\n{missing}"
        )
    return "\n\n".join(blocks)


def _terms(title: str, rows: Iterable[tuple[str, str, str]]) -> str:
    return draw((title.upper(), "", ""), list(rows), width=_SENTENCES * 2, right=frozenset({1}))


def figures_text(figures: Iterable[Figure], *, has_header: bool = True) -> str:
    """Figures that plans use, and where each is from."""
    rows = [(one.key, f"{one.value:g}", one.unit, one.source) for one in figures]
    drawn = draw(("FIGURE", "VALUE", "UNIT", "SOURCE"), rows, width=10_000, right=frozenset({1}))
    return drawn if has_header else "\n".join(f"  {row}" for row in drawn.splitlines()[1:])


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
                "" if best is first else f"{_change(best.usd, first.usd)} $",
            )
        )
    header = ("SPEC", "BEST", "NODES", "$", "$ P90", "TIME P50", "P90", "")
    return draw(header, rows, width=width, right=frozenset({2, 3, 4, 5, 6}))


def dollars(value: float) -> str:
    """Cents where they matter."""
    return f"{value:,.2f}" if value < 1000 else f"{value:,.0f}"
