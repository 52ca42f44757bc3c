"""The clocks of a node.

Must not be read by node.py, which is told the time.
"""

from __future__ import annotations

import time

_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now() -> float:
    """Seconds that only grow, and that count while the machine is suspended: a machine that slept
    through its lease has lost it."""
    return time.clock_gettime(_STEADY)


def wall() -> float:
    """The time of day, as Unix seconds."""
    return time.time()


def stamp(seconds: float) -> bytes:
    """UTC to the millisecond, as every line of a log begins: `2026-11-15T06:31:22.123Z `."""
    whole, thousandths = divmod(int(seconds * 1000), 1000)
    day = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
    return f"{day}.{thousandths:03d}Z ".encode()
