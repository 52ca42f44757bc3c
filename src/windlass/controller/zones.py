"""How spot has done in one zone, as far as this run has seen it: what the buying policy is told.

Must not judge it: windlass.planner.buying does. Pure.
"""

from __future__ import annotations

from typing import NamedTuple

from windlass.planner.buying.hazards import UNSEEN_H, Record

HOUR_S = 3600.0


class ZoneRecord(NamedTuple):
    """A zone's record as a run keeps it: up to its newest sighting."""

    at: float
    """When it was last seen."""
    is_up: bool
    age_h: float = UNSEEN_H
    up_h: float = 0.0
    down_h: float = 0.0
    ups_ended: int = 0
    ups_expected: float = 0.0
    downs_ended: int = 0
    downs_expected: float = 0.0

    @classmethod
    def begun(cls, now: float, *, is_up: bool) -> ZoneRecord:
        """Seen for the first time."""
        return cls(at=now, is_up=is_up)

    def seen(self, now: float, *, is_up: bool) -> ZoneRecord:
        """Seen again, so or otherwise."""
        record = self.record(now)
        if is_up != self.is_up:
            record = record.changed(was_up=self.is_up)
        return ZoneRecord(
            now,
            is_up,
            record.age_h,
            record.up_h,
            record.down_h,
            record.ups_ended,
            record.ups_expected,
            record.downs_ended,
            record.downs_expected,
        )

    def record(self, now: float) -> Record:
        """What the policy reads: as it was seen, and it has been so since."""
        known = Record(
            age_h=self.age_h,
            up_h=self.up_h,
            down_h=self.down_h,
            ups_ended=self.ups_ended,
            ups_expected=self.ups_expected,
            downs_ended=self.downs_ended,
            downs_expected=self.downs_expected,
        )
        return known.later((now - self.at) / HOUR_S, is_up=self.is_up)
