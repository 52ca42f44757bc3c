"""Ctrl-C, noted instead of breaking in anywhere.

Must not import more than it needs: it stands before a submit, everything else is loaded after it.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Counts Ctrl-C instead of letting it break in anywhere."""

    def __init__(self) -> None:
        self.is_pending = False

    def note(self, number: int, frame: FrameType | None) -> None:
        """The signal handler."""
        self.is_pending = True


@contextmanager
def noted_interrupts() -> Iterator[Interrupts]:
    """While this lasts, Ctrl-C is only noted: what goes on ends in order."""
    interrupts = Interrupts()
    before = signal.signal(signal.SIGINT, interrupts.note)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)
