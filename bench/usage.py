"""The controller of a benchmark's home: started when needed, watched, and ended afterwards.

Must not end any process but the one that holds this home's lock.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from windlass.controller.presence import Presence

TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a process has used so far."""

    cpu_s: float
    children_cpu_s: float
    """Of children that have ended and were waited for."""
    peak_mib: float


def usage_of(pid: int) -> Usage:
    """Read from /proc."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    user, system, child_user, child_system = (int(field) for field in fields[11:15])
    status = Path(f"/proc/{pid}/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return Usage(
        cpu_s=(user + system) / TICKS,
        children_cpu_s=(child_user + child_system) / TICKS,
        peak_mib=int(peak.split()[1]) / 1024,
    )


@contextmanager
def controller_of(home: Path) -> Iterator[None]:
    """On leaving, end the controller that serves this home, if one does."""
    presence = Presence(home)
    try:
        yield
    finally:
        pid = presence.process_id()
        if pid is not None:
            os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + PATIENCE_S
        while presence.is_alive() and time.monotonic() < until:
            time.sleep(0.02)
