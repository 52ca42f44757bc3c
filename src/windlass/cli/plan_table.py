"""The best candidates as a table that fits the terminal, and what speaks for each.

Must not choose anything: the plan is ranked already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windlass.cli.table import GAP, columns, draw
from windlass.cli.words import duration
from windlass.planner.ranking import Goal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from windlass.cli.terminal import Paint
    from windlass.planner.candidates import Candidate
    from windlass.planner.plan import Plan

_WHY, _DOLLARS = "WHY", "$"
_HEADER = (
    "ZONE",
    "MACHINE",
    "BUY",
    "NODES",
    "$/H",
    _DOLLARS,
    "$ P90",
    "TIME P50",
    "TIME P90",
    _WHY,
)
_LEFT = frozenset({"ZONE", "MACHINE", "BUY", _WHY})
_LEFT_OUT = ("$/H", "TIME P50", _WHY, "$ P90")
"""In this order, where the terminal is too narrow for all."""
_SHORTEST_WHY = 20


def candidates_table(plan: Plan, paint: Paint, *, top: int, width: int) -> str:
    """The best so many; zones that differ in nothing but their name are one row."""
    rows = [_row(plan, found, zones) for found, zones in distinct(plan.candidates, top)]
    header = _fitting(rows, width)
    kept = [_HEADER.index(name) for name in header]
    cells = [[row[number] for number in kept] for row in rows]
    dollars_at = header.index(_DOLLARS)
    best = cells[0][dollars_at]

    def style(text: str, column: int) -> str:
        is_best = column == dollars_at and text.strip() == best
        return paint(text, "bold green") if is_best else text

    right = frozenset(number for number, name in enumerate(header) if name not in _LEFT)
    return draw(header, cells, width=width, right=right, style=style)


def _row(plan: Plan, found: Candidate, zones: int) -> tuple[str, ...]:
    estimate = found.estimate
    return (
        found.offer.zone,
        found.label,
        found.way.name,
        str(found.nodes),
        f"{found.rates.machines_per_h + found.rates.fee_per_h:,.2f}",
        dollars(found.usd),
        dollars(found.usd_p90),
        duration(estimate.p50_s),
        duration(estimate.p90_s),
        why(plan, found, zones),
    )


def _fitting(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """The columns that there is room for; the last may be cut, but not to nothing."""
    widths = {cells[0]: max(map(columns, cells)) for cells in zip(_HEADER, *rows, strict=True)}
    widths[_WHY] = min(widths[_WHY], _SHORTEST_WHY)
    kept = list(_HEADER)
    for name in _LEFT_OUT:
        if sum(widths[one] + len(GAP) for one in kept) - len(GAP) <= width:
            break
        kept.remove(name)
    return kept


def distinct(candidates: Iterable[Candidate], top: int) -> list[tuple[Candidate, int]]:
    """The best, each with the number of zones that differ in nothing but their name."""
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
    if found == best:
        said.append("cheapest" if plan.goal is Goal.DOLLARS else "fastest")
    else:
        said += _differences(found, best)
    if found in plan.front[1:]:
        said.append("on the front")
    if found.way.is_prepaid:
        said.append(f"{dollars(found.reserved_usd)} $ billed anyway")
    if zones > 1:
        said.append(f"also in {zones - 1} more zone{'s' if zones > 2 else ''}")
    return ", ".join(said)


def _differences(found: Candidate, best: Candidate) -> list[str]:
    """In dollars and in time, as far as anybody would notice."""
    usd = change(found.usd, best.usd)
    time = change(found.estimate.wall_s, best.estimate.wall_s)
    said = [f"{usd} $"] if usd else []
    said += [f"{time} time"] if time else []
    return said or ["as good"]


def change(value: float, than: float) -> str:
    """In whole percent; empty when that is none."""
    text = f"{(value / than - 1) * 100:+.0f} %"
    return "" if text in ("+0 %", "-0 %") else text


def dollars(value: float) -> str:
    """Cents where they matter."""
    if not value < float("inf"):
        return "no end"
    return f"{value:,.2f}" if value < 1000 else f"{value:,.0f}"
