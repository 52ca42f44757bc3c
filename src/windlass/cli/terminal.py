"""What is known of the terminal, and colour where it may be used.

Must not be asked what to say, only how it may look.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO

_STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
    "bold red": "1;31",
    "bold green": "1;32",
    "bold yellow": "1;33",
}
WIDTH_WITHOUT_TERMINAL = 10_000
"""A pipe has no edge: what reads it wants whole lines."""

PHASE_STYLES = {
    "queued": "yellow",
    "starting": "cyan",
    "running": "bold",
    "stopping": "yellow",
    "succeeded": "green",
    "failed": "red",
    "stopped": "dim",
}


def has_colour(stream: TextIO) -> bool:
    """Whether escape codes may be written: only to a terminal, and never with NO_COLOR."""
    # How output may look is asked of the environment by every program; nothing is decided by it.
    settings = os.environ  # noqa: TID251
    if settings.get("NO_COLOR") or settings.get("TERM") == "dumb":
        return False
    return stream.isatty()


def can_redraw(stream: TextIO) -> bool:
    """Whether lines that were written can be taken back."""
    # The name of the terminal is what every program asks for this.
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"  # noqa: TID251


def is_interactive() -> bool:
    """Whether a person sits there who can answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def width(stream: TextIO) -> int:
    """Columns that a line may have."""
    if not stream.isatty():
        return WIDTH_WITHOUT_TERMINAL
    try:
        return os.get_terminal_size(stream.fileno()).columns or WIDTH_WITHOUT_TERMINAL
    except OSError:
        return WIDTH_WITHOUT_TERMINAL


class Paint:
    """Puts colour on text for one stream, or leaves it as it is."""

    def __init__(self, stream: TextIO) -> None:
        self.is_on = has_colour(stream)

    def __call__(self, text: str, style: str) -> str:
        """The text in this style."""
        if not self.is_on or not style:
            return text
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"

    def phase(self, phase: str) -> str:
        """A phase in its colour."""
        return self(phase, PHASE_STYLES.get(phase, ""))
