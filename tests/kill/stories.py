"""Plays several stories at once, one run each, until enough was killed; adds up what was seen.

Must not know what is killed.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from kill.arena import Arena, Story

POLL_S = 0.01


@dataclass(slots=True)
class Tally:
    """What happened over all runs of a test."""

    wanted: int
    kills: int = 0
    runs: int = 0
    restarts: int = 0
    latencies_s: list[float] = field(default_factory=list)
    steps_lost: list[int] = field(default_factory=list)
    moments: dict[str, int] = field(default_factory=dict)

    @property
    def is_enough(self) -> bool:
        """Whether as many were killed as the test wants."""
        return self.kills >= self.wanted

    def count(self, moment: str) -> None:
        """One more was killed."""
        self.kills += 1
        self.moments[moment] = self.moments.get(moment, 0) + 1

    def record(self, record_property: Callable[[str, object], None]) -> None:
        """Give the figures to whoever prints them."""
        record_property("kills", self.kills)
        record_property("runs", self.runs)
        record_property("restarts", self.restarts)
        record_property("moments", ", ".join(f"{k} {v}" for k, v in sorted(self.moments.items())))
        if self.latencies_s:
            median, worst = statistics.median(self.latencies_s), max(self.latencies_s)
            record_property("noticed after", f"median {median:.3f} s, at most {worst:.3f} s")
        if self.steps_lost:
            mean, worst = statistics.mean(self.steps_lost), max(self.steps_lost)
            record_property("steps lost per loss", f"mean {mean:.1f}, at most {worst}")


def pause(seconds: float) -> Story:
    """Let the others go on for a while."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        yield


def keep_controller(arena: Arena, *, every_s: float = 0.2) -> Story:
    """Start the controller again whenever it is dead; never ends by itself."""
    while True:
        if not arena.home.is_controller_alive():
            arena.home.wake()
        yield from pause(every_s)


def play(
    tell: Callable[[random.Random], Story],
    tally: Tally,
    *,
    name: str,
    at_once: int,
    beside: Story,
) -> None:
    """Begin new stories until the tally is full, `at_once` at a time; play all to their end.

    Each has its own seed, so that what it does depends on its number alone.
    """
    live: list[Story] = []
    while live or not tally.is_enough:
        while len(live) < at_once and not tally.is_enough:
            tally.runs += 1
            live.append(tell(random.Random(f"{name} {tally.runs}")))
        next(beside, None)
        live = [story for story in live if _goes_on(story)]
        time.sleep(POLL_S)


def _goes_on(story: Story) -> bool:
    try:
        next(story)
    except StopIteration:
        return False
    return True
