from __future__ import annotations

from vms import PROJECT, ZONE, Google, vm


def _names(google: Google, query: str = "") -> tuple[list[str], str]:
    answer = google.get(f"{ZONE}/instances?{query}")
    return [one["name"] for one in answer.get("items", [])], answer.get("nextPageToken", "")


def _many(count: int) -> Google:
    google = Google()
    body = {"count": count, "namePattern": "m-####", "instanceProperties": vm()}
    google.good("POST", f"{ZONE}/instances/bulkInsert", body)
    return google


def test_list_comes_in_pages() -> None:
    google = _many(1200)
    seen, token = _names(google)
    assert len(seen) == 500
    while token:
        names, token = _names(google, f"pageToken={token}")
        seen += names
    assert seen == [f"m-{number:04d}" for number in range(1, 1201)]


def test_pages_neither_lose_nor_repeat_while_things_come_and_go() -> None:
    google = _many(9)
    first, token = _names(google, "maxResults=3")
    google.good("DELETE", f"{ZONE}/instances/m-0001")
    google.insert_vm("m-0000")
    second, _ = _names(google, f"maxResults=3&pageToken={token}")
    assert (first, second) == (
        ["m-0001", "m-0002", "m-0003"],
        ["m-0004", "m-0005", "m-0006"],
    )


def test_last_page_has_no_token() -> None:
    google = _many(6)
    _, token = _names(google, "maxResults=3")
    assert _names(google, f"maxResults=3&pageToken={token}")[1] == ""


def test_filter_goes_before_paging() -> None:
    google = _many(20)
    google.insert_vm("z-last")
    assert _names(google, "filter=name%3Dz-last&maxResults=5") == (["z-last"], "")


def test_newest_come_first_when_asked_for() -> None:
    google = Google()
    for name in ("b", "c", "a"):
        google.insert_vm(name)
        google.pass_time(60)
    newest = "orderBy=creationTimestamp%20desc"
    assert _names(google, newest)[0] == ["a", "c", "b"]
    page, token = _names(google, f"{newest}&maxResults=2")
    assert page == ["a", "c"]
    assert _names(google, f"{newest}&pageToken={token}")[0] == ["b"]


def test_order_and_token_that_make_no_sense_are_refused() -> None:
    google = Google()
    assert google.refused("GET", f"{ZONE}/instances?orderBy=status")[0] == 400
    assert google.refused("GET", f"{ZONE}/instances?pageToken=xyz")[0] == 400


def test_aggregated_list_has_a_key_for_each_place_and_items_when_empty() -> None:
    google = Google()
    assert google.get(f"{PROJECT}/aggregated/instances")["items"] == {}
    google.insert_vm("one")
    items = google.get(f"{PROJECT}/aggregated/instances")["items"]
    assert [one["name"] for one in items["zones/us-central1-a"]["instances"]] == ["one"]
