"""The figures behind a plan as a table: what is believed, and where each is from.

Must not know how a plan uses them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windlass.cli.table import draw

if TYPE_CHECKING:
    from collections.abc import Iterable

    from windlass.planner.sources import Figure


def figures_text(figures: Iterable[Figure], *, has_header: bool = True) -> str:
    """Figures that plans use, and where each is from."""
    rows = [(one.key, f"{one.value:g}", one.unit, one.source) for one in figures]
    drawn = draw(("FIGURE", "VALUE", "UNIT", "SOURCE"), rows, width=10_000, right=frozenset({1}))
    return drawn if has_header else "\n".join(f"  {row}" for row in drawn.splitlines()[1:])
