from __future__ import annotations

from windlass.twin.shelf import documents


def test_records_of_one_place_stand_together_in_order() -> None:
    shelf = documents("things")
    for key in ("p/b/2", "p/a/1", "p/b/1", "q/b/1"):
        shelf.put(key, {"key": key})
    assert [key for key, _ in shelf.under("p/b/")] == ["p/b/1", "p/b/2"]
    assert [key for key, _ in shelf.items()] == ["p/a/1", "p/b/1", "p/b/2", "q/b/1"]
    shelf.drop("p/b/1")
    shelf.put("p/b/0", {})
    assert [key for key, _ in shelf.under("p/b/")] == ["p/b/0", "p/b/2"]
    assert list(shelf.under("x")) == []


def test_records_may_go_while_they_are_looked_through() -> None:
    shelf = documents("things")
    for key in "abc":
        shelf.put(key, {})
    seen = []
    for key, _ in shelf.items():
        seen.append(key)
        shelf.drop("b")
    assert seen == ["a", "c"]


def test_changes_are_told_until_they_are_written() -> None:
    shelf = documents("things")
    shelf.put("a", {"n": 1})
    shelf.put("a", {"n": 2})
    shelf.put("b", {})
    shelf.drop("b")
    changes = [tuple(put) for put in shelf.changes()]
    assert changes == [("things", "a", '{"n":2}'), ("things", "b", None)]
    assert [tuple(put) for put in shelf.changes()] == changes
    shelf.forget_changes()
    assert shelf.changes() == []


def test_shelf_that_nobody_keeps_remembers_no_changes() -> None:
    shelf = documents("things")
    shelf.is_kept = False
    shelf.put("a", {})
    shelf.drop("a")
    assert shelf.changes() == []
