"""Log entries are kept in order, once, and not for ever."""

from __future__ import annotations

from random import Random

from trainings import Clock
from windlass.twin.cloud import Cloud
from windlass.twin.journal import SqliteJournal
from windlass.twin.logging.logs import Logs


def entry(text, **more):
    return {
        "logName": "projects/twin-project/logs/x",
        "textPayload": text,
        "resource": {"type": "global", "labels": {}},
        **more,
    }


def texts(logs):
    return [one["textPayload"] for one in logs.entries()]


def fresh(**more):
    return Cloud(clock=Clock(), chance=Random(1), **more)


def test_what_an_entry_lacks_is_filled_in():
    logs = Logs(fresh())
    logs.write(entry("a"))
    (written,) = logs.entries()
    assert written["timestamp"] == written["receiveTimestamp"] == "2027-01-15T08:00:00.000Z"
    assert written["insertId"]


def test_ids_of_entries_grow():
    logs = Logs(fresh())
    logs.write_all(entry(str(number)) for number in range(300))
    for number in range(300):
        logs.write(entry(str(number)))
    ids = [one["insertId"] for one in logs.entries()]
    assert ids == sorted(set(ids))


def test_an_entry_that_is_sent_twice_is_kept_once():
    logs = Logs(fresh())
    same = entry("a", insertId="1", timestamp="2027-01-15T08:00:00.000Z")
    logs.write(same)
    logs.write_all([same, entry("b")])
    assert texts(logs) == ["a", "b"]


def test_the_oldest_batches_are_given_up():
    logs = Logs(fresh(), most=10)
    for number in range(8):
        logs.write_all(entry(f"{number}.{line}") for line in range(3))
    kept = texts(logs)
    assert kept[0] == "5.0"
    assert len(kept) == 9


def test_one_large_batch_is_kept_whole():
    logs = Logs(fresh(), most=10)
    logs.write_all(entry(str(number)) for number in range(50))
    assert len(texts(logs)) == 50


def test_entries_outlive_the_twin(tmp_path):
    journal = SqliteJournal(tmp_path / "twin.db")
    cloud = fresh(journal=journal)
    logs = Logs(cloud)
    logs.write_all([entry("a"), entry("b")])
    logs.write(entry("c"))
    cloud.commit()
    journal.close()
    again = Logs(fresh(journal=SqliteJournal(tmp_path / "twin.db")))
    again.write(entry("d"))
    assert texts(again) == ["a", "b", "c", "d"]


def test_a_deleted_log_is_gone_and_others_stay():
    logs = Logs(fresh())
    logs.write_all([entry("a"), entry("b", logName="projects/twin-project/logs/y")])
    assert logs.delete("projects/twin-project/logs/x")
    assert not logs.delete("projects/twin-project/logs/x")
    assert texts(logs) == ["b"]
