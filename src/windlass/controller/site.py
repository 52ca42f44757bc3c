"""What a controller works with: the world, the store, the engines, the run folders.

Must not hold logic: assemble.py and the simulation each build one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from windlass.engines.base import Engine
from windlass.ports.world import World
from windlass.state.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Everything a controller reaches."""

    world: World
    store: Store
    engine: Callable[[str], Engine[Any]]
    """The engine of a name, built once."""
    engine_names: tuple[str, ...]
    """Engines that are searched for what nobody wants, also when no run is on them."""
    folder_url: Callable[[str], str]
    """URL of a run's folder."""
    cloud: str = ""
    """The one that engines and buckets are asked of; runs of another are left alone. Empty where
    there is only one."""
