"""Keeping the values of secrets out of logs.

Must not be trusted with short values: fewer than four characters would mask ordinary words.
"""

from __future__ import annotations

from typing import Iterable, List, Set

SHORTEST = 4
SHORTEST_LINE = 8
"""Lines of a secret of several lines that are shorter are ordinary text, such as a bracket."""
_STARS = b"***"


class Mask:
    """Replaces the values of secrets."""

    def __init__(self, values: Iterable[str]) -> None:
        hidden: Set[str] = set()
        for value in values:
            lines = value.splitlines()
            if len(lines) > 1:
                hidden.update(line.strip() for line in lines if len(line.strip()) >= SHORTEST_LINE)
            elif len(value.strip()) >= SHORTEST:
                hidden.add(value.strip())
        # The longest first: one secret may be the start of another.
        self._hidden: List[bytes] = sorted((text.encode() for text in hidden), key=len)[::-1]

    def apply(self, data: bytes) -> bytes:
        """The data without the secrets that are whole in it."""
        for value in self._hidden:
            if value in data:
                data = data.replace(value, _STARS)
        return data

    def held(self, data: bytes) -> int:
        """How many bytes at the end may be the start of a secret and must wait for the rest."""
        longest = 0
        for value in self._hidden:
            for length in range(min(len(value) - 1, len(data)), longest, -1):
                if data.endswith(value[:length]):
                    longest = length
                    break
        return longest
