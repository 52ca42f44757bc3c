"""The world as the control plane sees it: clock and chance, passed by constructor.

Must not hold logic. `windlass.agent.open_folder` opens folders, `ports.process` starts processes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from windlass.agent.folder import Folder
from windlass.agent.open_folder import open_folder
from windlass.ports.clock import Clock, SystemClock
from windlass.ports.entropy import Entropy, SeededEntropy


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything that a simulation replaces."""

    clock: Clock
    entropy: Entropy
    open_folder: Callable[[str], Folder]


def system_world() -> World:
    """The real one."""
    return World(clock=SystemClock(), entropy=SeededEntropy(), open_folder=open_folder)
