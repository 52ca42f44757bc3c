"""A stale list hides what is new, keeps what has gone, and shows what has changed as it was."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from windlass.twin.faults.stale import OldLists
from windlass.twin.messages import Response, json_response

BEHIND_S = 10.0


def item(name: str, *, born: float, **more: object) -> dict[str, object]:
    stamp = datetime.fromtimestamp(born, UTC).isoformat()
    return {"name": name, "creationTimestamp": stamp, **more}


def shown(lists: OldLists, now: float, *items: dict[str, object]) -> list[dict[str, object]]:
    response = json_response({"kind": "list", "items": list(items)})
    aged = lists.aged("/instances?", response, now=now, behind_s=BEHIND_S)
    return json.loads(aged.content)["items"]


def names(found: list[dict[str, object]]) -> list[object]:
    return [one["name"] for one in found]


def test_what_is_new_is_hidden_until_it_is_old_enough():
    lists = OldLists()
    new = item("new", born=100.0)
    assert names(shown(lists, 105.0, new)) == []
    assert names(shown(lists, 110.0, new)) == ["new"]


def test_what_has_gone_is_shown_a_while_longer():
    lists = OldLists()
    old = item("old", born=0.0)
    assert names(shown(lists, 100.0, old)) == ["old"]
    assert names(shown(lists, 105.0)) == ["old"]
    assert names(shown(lists, 111.0)) == []


def test_what_has_changed_is_as_it_was():
    lists = OldLists()
    shown(lists, 100.0, item("vm", born=0.0, status="RUNNING"))
    later = shown(lists, 111.0, item("vm", born=0.0, status="TERMINATED"))
    assert later[0]["status"] == "RUNNING"
    much_later = shown(lists, 500.0, item("vm", born=0.0, status="TERMINATED"))
    assert much_later[0]["status"] == "TERMINATED"


def test_an_aggregated_list_is_aged_zone_by_zone():
    document = {"items": {"zones/a": {"instances": [item("new", born=99.0)]}, "zones/b": {}}}
    aged = OldLists().aged("/all", json_response(document), now=100.0, behind_s=BEHIND_S)
    assert json.loads(aged.content)["items"]["zones/a"]["instances"] == []


def test_refusals_and_files_stay_as_they_are():
    refused = Response(status=404, content=b"no JSON")
    assert OldLists().aged("/x", refused, now=1.0, behind_s=1.0) is refused
    stream = Response(content=iter([b"bytes"]))
    assert OldLists().aged("/x", stream, now=1.0, behind_s=1.0) is stream
