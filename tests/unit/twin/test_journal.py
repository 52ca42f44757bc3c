from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from windlass.twin.journal import Appointment, Put, SqliteJournal


class Explosion(Exception):
    """Somewhere on the way."""


def exploding(puts: list[Put]) -> Iterator[Put]:
    yield from puts
    raise Explosion


def test_what_was_written_is_there_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    journal = SqliteJournal(path)
    later = [Appointment(2.5, 2, "b", "y"), Appointment(1.0, 1, "a", "x")]
    journal.write([Put("s", "k", "1"), Put("s", "l", "2")], made=later, settings=[("time", "3.25")])
    journal.write([Put("s", "k", None), Put("s", "l", "é")], kept=[2])
    journal.close()
    again = SqliteJournal(path)
    assert list(again.records()) == [("s", "l", "é")]
    assert list(again.appointments()) == [Appointment(1.0, 1, "a", "x")]
    assert (again.setting("time"), again.setting("other")) == ("3.25", None)
    again.close()


def test_write_that_breaks_leaves_nothing_and_the_next_one_works(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "state.db")
    journal.write([Put("s", "k", "1")])
    with pytest.raises(Explosion):
        journal.write(exploding([Put("s", "k", "2"), Put("s", "l", "2")]))
    assert list(journal.records()) == [("s", "k", "1")]
    journal.write([Put("s", "k", "3")])
    assert list(journal.records()) == [("s", "k", "3")]
    journal.close()


def test_full_disk_leaves_nothing_and_the_next_write_works(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    journal = SqliteJournal(path)
    journal.write([Put("s", "k", "1")])
    pages = journal._db.execute("pragma page_count").fetchone()[0]
    journal._db.execute(f"pragma max_page_count = {pages}")
    with pytest.raises(sqlite3.Error):
        journal.write([Put("s", str(one), "x" * 4000) for one in range(50)])
    assert list(journal.records()) == [("s", "k", "1")]
    journal._db.execute("pragma max_page_count = 100000")
    journal.write([Put("s", "k", "2")])
    assert list(journal.records()) == [("s", "k", "2")]
    journal.close()
