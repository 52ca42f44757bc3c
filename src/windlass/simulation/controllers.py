"""A simulated controller: one process with its memory and its lease, which may die at any call.

Must not decide anything: windlass.controller.loop does, as in a real one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from windlass.controller.loop import LEASE_TTL_S, Loop
from windlass.controller.site import Site
from windlass.errors import LeaseLost
from windlass.ports.entropy import SeededEntropy
from windlass.ports.world import World
from windlass.simulation.disk import SeenDisk
from windlass.simulation.luck import Luck
from windlass.simulation.provider import Provider
from windlass.simulation.saboteur import Crash, Fragile
from windlass.simulation.timeline import Timeline
from windlass.state.model import Lease


class Stage(Protocol):
    """The world that controllers live in."""

    timeline: Timeline
    luck: Luck

    @property
    def provider(self) -> Provider:
        """What its machines are rented from."""

    def connect(self) -> Any:
        """The store over a connection of its own."""

    def open_folder(self, url: str) -> SeenDisk:
        """A run's folder, or one in it."""

    def note(self, text: str) -> None:
        """Write down what happened."""

    def fail(self, run: str, bug: Exception) -> None:
        """A step raised what no step may raise."""

    def replace_controller(self) -> None:
        """Another controller starts soon."""

    def go_on(self, seconds: float) -> None:
        """Let the world go on."""


class Controller:
    """Implements provider.Caller."""

    def __init__(self, stage: Stage, number: int, *, folder_url: Callable[[str], str]) -> None:
        self._stage = stage
        self._number = number
        self._is_alive = True
        self._is_stuck = False
        self._lease: Lease | None = None
        self._store: Any = Fragile(stage.connect(), self.hazard)
        self.world = World(
            clock=stage.timeline,
            entropy=SeededEntropy(number),
            open_folder=lambda url: Fragile(stage.open_folder(url), self.hazard),
        )
        site = Site(
            world=self.world,
            store=self._store,
            engine=stage.provider.engines(self),
            engine_names=stage.provider.engine_names,
            folder_url=folder_url,
        )
        self._loop = Loop(site, on_ended=lambda run: None, on_bug=stage.fail)

    def tick(self) -> None:
        """Do what is due, and come back; or die."""
        if not self._is_alive or self._is_stuck:
            return
        stage = self._stage
        try:
            wait_s = self._tick()
        except Crash:
            stage.note(f"controller {self._number} dies")
            self._is_alive = False
            stage.replace_controller()
        except LeaseLost:
            stage.note(f"controller {self._number} was deposed")
            self._is_alive = False
        else:
            stage.timeline.after(max(wait_s, 0.2), self.tick)

    def kill(self) -> None:
        """Its process is gone, in the middle of nothing; one that hangs goes on to its end."""
        self._is_alive = False

    def _tick(self) -> float:
        now = self._stage.timeline.now()
        if self._lease is None:
            holder = f"controller-{self._number}"
            self._lease = self._store.take_lease(holder, now=now, ttl_s=LEASE_TTL_S)
            if self._lease is None:
                return 5.0
        elif self._lease.expires_at - now < LEASE_TTL_S / 2:
            self._lease = self._store.renew_lease(self._lease, now=now, ttl_s=LEASE_TTL_S)
        return self._loop.tick(self._lease)

    def hazard(self, where: str) -> None:
        """See Caller: die here, or hang here while another controller takes over."""
        luck = self._stage.luck
        # Looking is done all the time; what changes the world is done seldom, and matters more.
        often = 0.03
        if where.endswith("read"):
            often = 0.0001
        elif where.endswith(("observe", "owned")):
            often = 0.001
        if luck.strikes(f"crash-{where}", often):
            raise Crash
        if luck.strikes(f"hang-{where}", often):
            self._stage.note(f"controller {self._number} hangs {where}")
            self._stage.replace_controller()
            self.wait(luck.between(LEASE_TTL_S, 6 * LEASE_TTL_S))

    def wait(self, seconds: float) -> None:
        """See Caller."""
        self._is_stuck = True
        self._stage.go_on(seconds)
        self._is_stuck = False
