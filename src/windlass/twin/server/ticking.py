"""Lets the twin's time pass: does what is due when nobody asks, and lets calls wait.

Must not decide what happens: that stands on the cloud's agenda.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import TextIO

from windlass.twin.clock import TwinClock
from windlass.twin.cloud import Cloud
from windlass.twin.journal import SqliteJournal
from windlass.twin.refusals import Refusal

TICK_S = 0.05
ALSO_S = 0.2
"""How often whatever else goes on in real time is looked at, such as processes that end."""
KEEP_S = 10.0
"""How often the time is kept: so far a killed twin's clock may go back if nothing happened."""


class RealWaiting:
    """Implements cloud.Waiting: a call waits in its own thread, without the cloud's lock."""

    def __init__(self, clock: TwinClock) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._is_over = False

    def until(self, moment: float) -> None:
        """See cloud.Waiting. Never longer than a moment: whoever waits looks again."""
        seconds = min(self._clock.real_seconds_until(moment), TICK_S)
        if seconds <= 0:
            return
        if self._is_over:
            # Whoever waits looks again and again: without time to pass it would do nothing else.
            raise Refusal(503, "The twin is going down.")
        with self._changed:
            self._changed.wait(timeout=seconds)

    def wake(self) -> None:
        """Something has changed."""
        with self._changed:
            self._changed.notify_all()

    def end(self) -> None:
        """Nobody waits any more."""
        self._is_over = True
        self.wake()


class Ticker:
    """The thread in which time passes."""

    def __init__(
        self,
        cloud: Cloud,
        journal: SqliteJournal,
        waiting: RealWaiting,
        *,
        also: Callable[[], None] | None = None,
        log: TextIO | None = None,
    ) -> None:
        self._cloud = cloud
        self._journal = journal
        self._waiting = waiting
        self._also = also
        self._also_at = time.monotonic()
        self._log = log or sys.stderr
        self._kept_at = time.monotonic()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="twin-time", daemon=True)

    def start(self) -> None:
        """Let time pass."""
        self._thread.start()

    def stop(self) -> None:
        """Let it stand still, and keep where it stood."""
        self._is_over.set()
        self._waiting.end()
        self._thread.join()
        self._keep()

    def _run(self) -> None:
        while not self._is_over.wait(TICK_S):
            try:
                self._tick()
            except Exception as bug:  # noqa: BLE001 - time must go on; the log has the bug.
                self._log.write("something that was due went wrong\n")
                traceback.print_exception(bug, file=self._log)
                self._log.flush()

    def _tick(self) -> None:
        due = self._cloud.next_at()
        if due is not None and due <= self._cloud.clock.now():
            with self._cloud.lock:
                try:
                    self._cloud.advance()
                finally:
                    self._cloud.commit()
            self._waiting.wake()
        if self._also is not None and time.monotonic() - self._also_at > ALSO_S:
            with self._cloud.lock:
                self._also()
                self._cloud.commit()
            self._also_at = time.monotonic()
        if time.monotonic() - self._kept_at > KEEP_S:
            self._keep()

    def _keep(self) -> None:
        with self._cloud.lock:
            self._cloud.commit()
            now = repr(self._cloud.clock.now())
            self._journal.write((), settings=[("time", now)])
        self._kept_at = time.monotonic()
