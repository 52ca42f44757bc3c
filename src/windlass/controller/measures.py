"""What ranks have reported of saves and of work that is safe, read now and then.

Must not read at every look: a folder may be a bucket, and these figures change slowly.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from windlass.agent.folder import Folder
from windlass.controller.progress import Record, read_newest_records
from windlass.controller.view import Measured
from windlass.ports.clock import Clock

EVERY_S = 20.0
FIRST_EVERY_S = 3.0
"""Before the first save is known: until then a budget is stopped far too early."""
ATTEMPTS_BACK = 5
"""So many attempts are looked through for a save; one that is older says little."""


class Measures:
    """Remembers what was measured of each run."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[str, tuple[int, float, Measured]] = {}
        self._left: dict[tuple[str, int], tuple[int | None, int]] = {}

    def of(self, folder: Folder, run: str, attempt: int, *, steps: int | None) -> Measured:
        """What is known of a run whose newest attempt is this one."""
        at = self._clock.monotonic()
        number, read_at, known = self._known.get(run, (0, float("-inf"), Measured()))
        every_s = FIRST_EVERY_S if known.save_s is None else EVERY_S
        if attempt == 0 or (number == attempt and at - read_at < every_s):
            return known
        oldest = max(number, attempt - ATTEMPTS_BACK, 1)
        newest: Record | None = None
        for each in range(attempt, oldest - 1, -1):
            records = read_newest_records(folder, each)
            newest = newest or (records[-1] if records else None)
            saves = [one for one in records if one.event == "saved"]
            if saves:
                known = _measured(saves, steps)
                break
        if newest is not None:
            known = replace(known, done_share=_share(newest, steps) if steps else None)
        self._known[run] = (attempt, at, known)
        return known

    def left(self, folder: Folder, run: str, attempt: int, known: Measured) -> Measured:
        """The same with what an attempt that has ended has left for the next one. Read once."""
        if (run, attempt) not in self._left:
            records = read_newest_records(folder, attempt)
            kept = [one.step for one in records if one.event in ("saved", "restored")]
            saved = max(kept, default=None)
            done = max((one.step for one in records if not one.event), default=0)
            self._left[run, attempt] = saved, done
        saved, done = self._left[run, attempt]
        lost = 0 if saved is None else max(0, done - saved)
        return replace(known, saved_step=saved, steps_lost=lost)

    def forget_all_but(self, runs: Collection[str]) -> None:
        """Drop what is remembered of runs that have ended."""
        self._known = {run: known for run, known in self._known.items() if run in runs}
        self._left = {key: left for key, left in self._left.items() if key[0] in runs}


def _measured(saves: list[Record], steps: int | None) -> Measured:
    took = saves[-1].metrics.get("seconds")
    return Measured(
        save_s=float(took) if isinstance(took, int | float) else None,
        saved_share=_share(saves[-1], steps) if steps else 0.0,
    )


def _share(record: Record, steps: int) -> float:
    return min(1.0, record.step / steps)
