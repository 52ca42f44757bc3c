"""What an engine is built from.

Must not hold logic: assemble.py fills it in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from windlass.ports.process import Processes
from windlass.ports.world import World

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog
    from windlass.google.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class GoogleSite:
    """What engines that rent from Google are built from; each part is made when it is needed."""

    project: Callable[[], str]
    """Raises OptionRefused when nobody has said which."""
    session: Callable[[], Session]
    catalog: Callable[[], Catalog]
    agent_url: Callable[[], str]
    """Where nodes find the agent's program: in the bucket of the run folders."""
    defaults: Callable[[str], Mapping[str, Any]]
    """The configuration's options of an engine, under those of a spec."""


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
    google: GoogleSite | None = None
    """None where nothing can be rented, as in a test of another engine."""
