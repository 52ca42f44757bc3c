"""Where in a file a key stands, for whoever finds fault with a value that was read already.

Must not say what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from windlass.spec.document import read_table
from windlass.spec.problems import At, Place, Problems
from windlass.spec.tree import Table


class Places:
    """The keys of one file."""

    def __init__(self, text: str | bytes, *, path: str) -> None:
        self._problems = Problems(path)
        self._table = read_table(text, self._problems)

    def at(self, key: Sequence[str]) -> Place:
        """The place of a key, or of the innermost part of it that is there."""
        table, place = self._table, At()
        for name in key:
            pair = (
                next((one for one in table.pairs if one[0].text == name), None) if table else None
            )
            if pair is None:
                break
            place = At(pair[0].line, pair[0].column)
            table = pair[1] if isinstance(pair[1], Table) else None
        return place

    def line(self, number: int) -> str:
        """That line of the file."""
        return self._problems.line(number)
