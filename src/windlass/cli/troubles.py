"""What could not be read while something was shown: told once, and the rest is shown all the same.

Must not hide a bug: only what a folder, a bucket or an account refuses is put up with.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

from windlass.errors import EngineError, OptionRefused, SetupError, WindlassError

Read = TypeVar("Read")
Otherwise = TypeVar("Otherwise")


class Troubles:
    """The troubles of one command with reading."""

    def __init__(self) -> None:
        self._said: dict[str, dict[str, str]] = {}

    def without(
        self, what: str, read: Callable[[], Read], otherwise: Otherwise
    ) -> Read | Otherwise:
        """What was read, or `otherwise` when it cannot be."""
        try:
            return read()
        except (OSError, SetupError, EngineError, OptionRefused) as error:
            remedy = error.remedy if isinstance(error, WindlassError) else ""
            self._said.setdefault(str(error), {})[what] = remedy
            return otherwise

    @property
    def said(self) -> list[str]:
        """Each trouble, with all that it hides."""
        return [f"{_joined(list(whats))} cannot be read: {why}" for why, whats in self._of_each()]

    def tell(self) -> None:
        """The same to a person, with what to do about it."""
        for said, (_, whats) in zip(self.said, self._of_each(), strict=True):
            remedy = next(filter(None, whats.values()), "")
            sys.stderr.write(f"windlass: {said}\n" + (f"  {remedy}\n" if remedy else ""))

    def _of_each(self) -> list[tuple[str, dict[str, str]]]:
        return list(self._said.items())


def _joined(whats: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(whats[:-1]), whats[-1])))
