from __future__ import annotations

from typing import Any

from vms import ZONE, Google, vm

L4 = "g2-standard-4"
HOUR = 3600


def _flex(wait_s: int | None = 3600, run_s: int = 7200) -> dict[str, Any]:
    scheduling = {
        "maxRunDuration": {"seconds": str(run_s)},
        "instanceTerminationAction": "DELETE",
        "onHostMaintenance": "TERMINATE",
    }
    body = {"name": "one", **vm(L4, model="FLEX_START", scheduling=scheduling)}
    if wait_s is not None:
        body["params"] = {"requestValidForDuration": {"seconds": str(wait_s)}}
    return body


def test_instance_waits_for_room_and_runs_its_time() -> None:
    google = Google()
    rule = google.limit_room(0)
    operation = google.good("POST", f"{ZONE}/instances", _flex())
    assert google.vm("one")["status"] == "PENDING"
    assert operation["status"] == "RUNNING"
    google.pass_time(600)
    google.twin.market.remove(rule)
    google.pass_time(30)
    assert google.vm("one")["status"] == "RUNNING"
    assert google.get(f"{ZONE}/operations/{operation['name']}")["status"] == "DONE"
    google.pass_time(2 * HOUR)
    assert google.refused("GET", f"{ZONE}/instances/one")[0] == 404


def test_instance_that_found_no_room_in_time_is_gone_and_its_operation_failed() -> None:
    google = Google()
    google.limit_room(0)
    operation = google.good("POST", f"{ZONE}/instances", _flex())
    google.pass_time(HOUR)
    assert google.refused("GET", f"{ZONE}/instances/one")[0] == 404
    _, shown = google.ask("GET", f"{ZONE}/operations/{operation['name']}")
    assert (shown["status"], shown["httpErrorStatusCode"]) == ("DONE", 503)


def test_instance_that_is_not_to_wait_does_not() -> None:
    google = Google()
    google.limit_room(0)
    error = google.failed("POST", f"{ZONE}/instances", _flex(None))
    assert error["code"].startswith("ZONE_RESOURCE_POOL_EXHAUSTED")


def test_waiting_instance_can_be_deleted() -> None:
    google = Google()
    rule = google.limit_room(0)
    google.good("POST", f"{ZONE}/instances", _flex())
    google.good("DELETE", f"{ZONE}/instances/one")
    google.twin.market.remove(rule)
    google.pass_time(60)
    assert google.twin.fleet.counts() == (0, 0)


def test_times_have_bounds() -> None:
    google = Google()
    for body in (_flex(10), _flex(3 * HOUR), _flex(3600, 60), _flex(3600, 8 * 24 * HOUR)):
        assert google.refused("POST", f"{ZONE}/instances", body)[0] == 400
