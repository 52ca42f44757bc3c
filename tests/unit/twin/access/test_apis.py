from __future__ import annotations

import pytest

from doors import PROJECT, House

HOST = "serviceusage.googleapis.com"
SERVICES = f"/v1/projects/{PROJECT}/services"


def names(document: dict[str, list[dict[str, dict[str, str]]]]) -> list[str]:
    return [one["config"]["name"] for one in document["services"]]


def test_pages_hold_every_service_once() -> None:
    house = House()
    found: list[str] = []
    token = ""
    while True:
        page = house.good("GET", HOST, f"{SERVICES}?pageSize=3&pageToken={token}")
        found += names(page)
        token = page.get("nextPageToken", "")
        if not token:
            break
    assert found == sorted(set(found)) == names(house.good("GET", HOST, f"{SERVICES}?pageSize=0"))


def test_bad_page_token_is_refused() -> None:
    assert House().ask("GET", HOST, f"{SERVICES}?pageToken=x")[0] == 400


def test_several_are_turned_on_or_none() -> None:
    house = House()
    apis = house.twin.apis
    body = {"serviceIds": ["file.googleapis.com", "no.such.googleapis.com"]}
    assert house.ask("POST", HOST, f"{SERVICES}:batchEnable", body)[0] == 403
    assert not apis.is_enabled("file.googleapis.com")
    body["serviceIds"].pop()
    house.good("POST", HOST, f"{SERVICES}:batchEnable", body)
    assert apis.is_enabled("file.googleapis.com")
    assert house.ask("POST", HOST, f"{SERVICES}:batchEnable", {})[0] == 200


def test_batch_get_shows_those_that_are_named() -> None:
    wanted = ["tpu.googleapis.com", "compute.googleapis.com"]
    query = "&".join(f"names=projects/{PROJECT}/services/{one}" for one in wanted)
    assert names(House().good("GET", HOST, f"{SERVICES}:batchGet?{query}")) == wanted


@pytest.mark.parametrize("state", ["ENABLED", "DISABLED"])
def test_list_is_of_one_state(state: str) -> None:
    document = House().good("GET", HOST, f"{SERVICES}?filter=state:{state}")
    assert {one["state"] for one in document["services"]} == {state}
