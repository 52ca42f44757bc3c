from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from buckets import HandClock
from windlass.ports.entropy import seeded
from windlass.twin.cloud import Cloud
from windlass.twin.journal import Appointment, Put, SqliteJournal


def opened(path: Path, clock: HandClock | None = None) -> tuple[Cloud, SqliteJournal]:
    journal = SqliteJournal(path)
    return Cloud(clock=clock or HandClock(), chance=seeded(1), journal=journal), journal


def test_reopened_cloud_has_records_appointments_and_numbers(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    cloud, journal = opened(path)
    shelf = cloud.documents("things")
    shelf.put("a", {"n": 1})
    shelf.put("b", {"n": 2})
    shelf.drop("b")
    cloud.later(10, "ring", "a")
    first = cloud.new_id()
    cloud.commit()
    journal.close()
    again, journal = opened(path)
    rung: list[str] = []
    again.on("ring", rung.append)
    assert list(again.documents("things").items()) == [("a", {"n": 1})]
    assert again.new_id() != first
    again.clock.at += 10  # type: ignore[attr-defined]  # a clock of the tests
    assert (again.advance(), rung) == (1, ["a"])
    again.commit()
    journal.close()
    third, journal = opened(path)
    assert third.next_at() is None
    journal.close()


def test_appointments_of_one_moment_keep_their_order_over_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    cloud, journal = opened(path)
    for number in range(20):
        cloud.at(100.0, "ring", str(number))
    cloud.commit()
    journal.close()
    again, journal = opened(path)
    rung: list[str] = []
    again.on("ring", rung.append)
    again.at(100.0, "ring", "late")
    again.advance()
    assert rung == [*map(str, range(20)), "late"]
    journal.close()


class Unwilling(SqliteJournal):
    """A disk that is full for a while."""

    is_full = False

    def write(
        self,
        puts: Iterable[Put],
        *,
        made: Iterable[Appointment] = (),
        kept: Iterable[int] = (),
        settings: Iterable[tuple[str, str]] = (),
    ) -> None:
        if self.is_full:
            raise OSError("no space left on device")
        super().write(puts, made=made, kept=kept, settings=settings)


def test_what_could_not_be_written_is_written_with_what_comes_next(tmp_path: Path) -> None:
    journal = Unwilling(tmp_path / "state.db")
    cloud = Cloud(clock=HandClock(), chance=seeded(1), journal=journal)
    shelf = cloud.documents("things")
    journal.is_full = True
    shelf.put("a", {})
    cloud.later(5, "ring", "a")
    with pytest.raises(OSError, match="no space"):
        cloud.commit()
    journal.is_full = False
    shelf.put("b", {})
    cloud.commit()
    assert [key for _, key, _ in journal.records()] == ["a", "b"]
    assert len(list(journal.appointments())) == 1
    journal.close()


def test_numbers_never_come_twice_and_look_like_googles() -> None:
    cloud = Cloud(clock=HandClock(), chance=seeded(1))
    found = [cloud.new_id() for _ in range(10_000)]
    assert len(set(found)) == len(found)
    assert all(re.fullmatch(r"[1-8]\d{18}", one) for one in found)


def test_two_shelves_of_one_name_are_a_mistake() -> None:
    cloud = Cloud(clock=HandClock(), chance=seeded(1))
    cloud.documents("things")
    with pytest.raises(ValueError, match="two shelves"):
        cloud.documents("things")


def test_reaction_may_make_an_appointment_for_the_same_moment() -> None:
    cloud = Cloud(clock=HandClock(), chance=seeded(1))
    rung: list[str] = []

    def ring(key: str) -> None:
        rung.append(key)
        if key == "first":
            cloud.later(0, "ring", "second")

    cloud.on("ring", ring)
    cloud.later(0, "ring", "first")
    assert (cloud.advance(), rung) == (2, ["first", "second"])


def test_stamp_is_utc_with_milliseconds() -> None:
    cloud = Cloud(clock=HandClock(), chance=seeded(1))
    assert cloud.stamp(0.0) == "1970-01-01T00:00:00.000Z"
    assert cloud.stamp(1_800_000_000.25) == "2027-01-15T08:00:00.250Z"
