"""One offer explained: every term of its dollars and its time, and why it was refused, if it was.

Must not compute anything: the terms are windlass.planner.explain's.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from windlass.cli.figures import figures_text
from windlass.cli.plan_table import dollars
from windlass.cli.table import draw
from windlass.cli.words import duration, plural
from windlass.planner import explain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from windlass.cli.terminal import Paint
    from windlass.planner.candidates import Candidate, Refusal
    from windlass.planner.sources import Figure

_WIDE = 200


def explanation_text(
    found: Candidate, figures: Sequence[Figure], paint: Paint, *, refusal: Refusal | None = None
) -> str:
    """Every term of one candidate, and where the figures behind them are from."""
    blocks = [_head(found, paint, refusal), _dollars(found), _time(found)]
    if figures:
        blocks.append(figures_text(figures))
    if found.unpriced:
        missing = "\n".join(f"  {what}" for what in found.unpriced)
        blocks.append(
            f"{paint('Unpriced: the dollars are a lower bound', 'bold yellow')}\n{missing}"
        )
    return "\n\n".join(blocks)


def _head(found: Candidate, paint: Paint, refusal: Refusal | None) -> str:
    gang = found.estimate.gang
    head = f"{paint(found.id, 'bold')}  {plural(found.nodes, 'node')}, {plural(gang.chips, 'chip')}"
    if refusal is None:
        return head
    said = f"{paint(f'refused for {refusal.code}', 'bold yellow')}: {refusal.sentence}"
    return f"{head}\n{said}\nwhat follows is what it would come to"


def _dollars(found: Candidate) -> str:
    rows = [(term.name, dollars(term.value), term.how) for term in explain.dollars(found)]
    rows.append(("expected", dollars(found.usd), f"P50 {dollars(found.usd_p50)}"))
    rows.append(("P90", dollars(found.usd_p90), ""))
    return draw(("DOLLARS", "", ""), rows, width=_WIDE, right=frozenset({1}))


def _time(found: Candidate) -> str:
    estimate = found.estimate
    rows = [(term.name, _lasting(term.value), term.how) for term in explain.seconds(found)]
    rows.append(("expected", _lasting(estimate.wall_s), f"P50 {_lasting(estimate.p50_s)}"))
    rows.append(("P90", _lasting(estimate.p90_s), ""))
    return draw(("TIME", "", ""), rows, width=_WIDE, right=frozenset({1}))


def _lasting(seconds: float) -> str:
    return duration(seconds) if math.isfinite(seconds) else "no end"
