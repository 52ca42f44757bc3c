"""Waits for what other processes do, in tests.

Must not wait for ever.
"""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(holds: Callable[[], bool], *, patience_s: float = 20.0) -> None:
    """Look again and again, until it holds."""
    deadline = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)
