"""The controller as a process: lock, lease, wake-ups, and an end when nothing is left to do.

Must not decide anything about runs (loop.py ticks). The only file of the control plane that waits.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import sys
import traceback
from collections.abc import Callable

from windlass.controller.clouds import is_within
from windlass.controller.loop import LEASE_TTL_S, Loop
from windlass.controller.presence import LEAVE, Presence
from windlass.errors import LeaseLost, StoreBusy, StoreUnreachable
from windlass.ports.clock import Clock
from windlass.state.model import Lease
from windlass.state.store import Store

IDLE_S = 20.0
"""A controller that was started on demand stays this long after the last run, for the next."""
RETRY_S = 0.5
TURN_S = 10.0
"""How long to wait for a controller of another cloud to make room."""
READ_BYTES = 65536
TROUBLE = (StoreBusy, StoreUnreachable)
"""Passes by itself, or when somebody frees the disk or brings the database back."""


def tell_bug(run_id: str, bug: Exception) -> None:
    """Into the controller's log: the run is tried again, the others go on."""
    sys.stderr.write(f"a step of {run_id} went wrong; it is tried again\n")
    traceback.print_exception(bug, file=sys.stderr)
    sys.stderr.flush()


class Worker:
    """Ticks the loop until there is nothing to do, or until it is told to end."""

    def __init__(
        self,
        clock: Clock,
        store: Store,
        *,
        loop: Callable[[], Loop],
        presence: Presence,
        holder: str,
        is_on_demand: bool,
    ) -> None:
        self._clock = clock
        self._store = store
        self._make_loop = loop
        self._presence = presence
        self._holder = holder
        self._is_on_demand = is_on_demand
        self._is_told_to_end = False
        self._is_asked_to_leave = False
        self._selector = selectors.DefaultSelector()
        self._busy_at = clock.monotonic()

    def run(self) -> bool:
        """Serve until the end; False when another controller is there already."""
        if not self._take_turn():
            return False
        signal.signal(signal.SIGTERM, self._end)
        signal.signal(signal.SIGINT, self._end)
        pipe = self._presence.open_pipe()
        self._selector.register(pipe, selectors.EVENT_READ)
        while True:
            self._serve(pipe)
            self._presence.release()
            if self._is_told_to_end or self._is_asked_to_leave:
                return True
            # A run that was written after our last look, whose command still saw our lock.
            if not self._has_live_runs() or not self._take():
                return True

    def _take(self) -> bool:
        return self._presence.take(is_lasting=not self._is_on_demand)

    def _take_turn(self) -> bool:
        """Become the controller. One of another cloud is asked to leave, which it does when no run
        needs it; what it served beside is ours then."""
        deadline = self._clock.monotonic() + TURN_S
        while not self._take():
            held = self._presence.held()
            is_another = held is not None and held.cloud not in ("", self._presence.cloud)
            if (held is not None and not is_another) or self._clock.monotonic() > deadline:
                return False
            if is_another:
                self._presence.wake(LEAVE)
            self._selector.select(timeout=RETRY_S)
        return True

    def _has_live_runs(self) -> bool:
        """Of those that can be served here."""
        try:
            if not self._store.live_versions():
                return False
            return any(is_within(one.run, self._presence.cloud) for one in self._store.live())
        except TROUBLE:
            return True

    def _serve(self, pipe: int) -> None:
        lease = self._take_lease(pipe)
        if lease is None:
            return
        loop: Loop | None = None
        self._busy_at = self._clock.monotonic()
        woken: list[str] = []
        while not self._is_told_to_end:
            try:
                lease = self._renew(lease)
                loop = loop or self._make_loop()
                wait_s = loop.tick(lease, woken=woken)
            except LeaseLost:
                return
            except TROUBLE:
                wait_s = RETRY_S
            if loop is not None and self._is_over(loop):
                break
            woken = self._wait(pipe, wait_s)
        with contextlib.suppress(*TROUBLE):
            self._store.release_lease(lease)

    def _is_over(self, loop: Loop) -> bool:
        at = self._clock.monotonic()
        # Whoever waits for its turn asks again.
        self._is_asked_to_leave &= self._is_on_demand and not loop.is_bound
        if self._is_asked_to_leave:
            return True
        if not loop.is_idle:
            self._busy_at = at
        return self._is_on_demand and at - self._busy_at >= IDLE_S

    def _wait(self, pipe: int, wait_s: float) -> list[str]:
        """Wait for a wake-up; returns the runs of the claims that were named in it."""
        if not self._selector.select(timeout=wait_s):
            return []
        try:
            said = os.read(pipe, READ_BYTES).decode(errors="replace")
        except BlockingIOError:
            return []
        lines = {line for line in said.split("\n") if line}
        self._is_asked_to_leave |= LEAVE in lines
        # A claim is called <run>-<attempt>-<index>.
        return sorted({line.rsplit("-", 2)[0] for line in lines - {LEAVE}})

    def _take_lease(self, pipe: int) -> Lease | None:
        """Whoever held the lease for this home is dead, since we have its lock."""
        while not self._is_told_to_end:
            with contextlib.suppress(*TROUBLE):
                now = self._clock.now()
                lease = self._store.take_lease(self._holder, now=now, ttl_s=LEASE_TTL_S)
                if lease is not None:
                    return lease
                if self._is_on_demand and not self._has_live_runs():
                    return None
            self._wait(pipe, RETRY_S)
        return None

    def _renew(self, lease: Lease) -> Lease:
        now = self._clock.now()
        if lease.expires_at - now > LEASE_TTL_S / 2:
            return lease
        return self._store.renew_lease(lease, now=now, ttl_s=LEASE_TTL_S)

    def _end(self, number: int, frame: object) -> None:
        self._is_told_to_end = True
        self._presence.wake()
