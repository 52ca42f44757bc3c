"""What an engine is built from.

Must not hold logic: assemble.py fills it in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from windlass.ports.process import Processes
from windlass.ports.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSite:
    """What an engine is built from."""

    home: Path
    """The home folder; an engine keeps what it must in `<home>/<its name>`."""
    world: World
    processes: Processes
    agent: Callable[[], Path]
    """The agent's program, built when it is first needed."""
    secrets: Callable[[str], Path | None]
    """The file with the values of a run's secrets, for engines on the caller's machine."""
    wake: Path
    """The pipe by which something on this machine wakes the controller."""
