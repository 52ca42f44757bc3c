from __future__ import annotations

from typing import Any

from vms import ZONE, Google
from windlass.twin.settings import Delays

MIG = f"{ZONE}/instanceGroupManagers/mig"
REQUESTS = f"{MIG}/resizeRequests"
HOUR = 3600
L4 = "g2-standard-4"


def _group(delays: Delays | None = None) -> Google:
    google = Google(delays=delays or Delays())
    google.template(machine_type=L4)
    google.group(size=0)
    return google


def _ask(google: Google, name: str = "rr", *, count: int = 2, **more: Any) -> Any:
    body = {"name": name, "resizeBy": count, "requestedRunDuration": {"seconds": str(HOUR)}}
    return google.good("POST", REQUESTS, {**body, **more})


def _state(google: Google, name: str = "rr") -> str:
    return str(google.get(f"{REQUESTS}/{name}")["state"])


def test_request_is_granted_runs_its_time_and_is_over() -> None:
    google = _group(Delays(queue=60.0))
    operation = _ask(google)
    assert operation["targetLink"].endswith("/instanceGroupManagers/mig")
    assert (_state(google), google.get(MIG)["targetSize"]) == ("ACCEPTED", 0)
    google.pass_time(60)
    assert (_state(google), google.get(MIG)["targetSize"]) == ("SUCCEEDED", 2)
    name = google.members()[0]["name"]
    scheduling = google.vm(name)["scheduling"]
    assert (scheduling["provisioningModel"], scheduling["maxRunDuration"]) == (
        "FLEX_START",
        {"seconds": "3600"},
    )
    google.pass_time(HOUR)
    assert (google.members(), google.get(MIG)["targetSize"]) == ([], 0)


def test_request_waits_until_there_is_room_for_all() -> None:
    google = _group()
    rule = google.limit_room(1, what=L4)
    _ask(google)
    request = google.get(f"{REQUESTS}/rr")
    code = request["status"]["lastAttempt"]["error"]["errors"][0]["code"]
    assert (request["state"], code.startswith("ZONE_")) == ("ACCEPTED", True)
    google.pass_time(3 * HOUR)
    assert (_state(google), google.members()) == ("ACCEPTED", [])
    google.twin.market.remove(rule)
    google.pass_time(60)
    assert (_state(google), len(google.members())) == ("SUCCEEDED", 2)


def test_quota_holds_a_request_up_too() -> None:
    google = _group()
    google.twin.quotas.set_limit("*", "PREEMPTIBLE_NVIDIA_L4_GPUS", 1)
    _ask(google)
    assert _state(google) == "ACCEPTED"
    google.twin.quotas.set_limit("*", "PREEMPTIBLE_NVIDIA_L4_GPUS", 2)
    google.pass_time(60)
    assert _state(google) == "SUCCEEDED"


def test_cancelled_request_comes_to_nothing() -> None:
    google = _group()
    rule = google.limit_room(0)
    _ask(google)
    assert google.refused("DELETE", f"{REQUESTS}/rr")[0] == 400
    google.good("POST", f"{REQUESTS}/rr/cancel")
    google.twin.market.remove(rule)
    google.pass_time(HOUR)
    assert (_state(google), google.members()) == ("CANCELLED", [])
    assert google.refused("POST", f"{REQUESTS}/rr/cancel")[0] == 400
    google.good("DELETE", f"{REQUESTS}/rr")
    assert google.refused("GET", f"{REQUESTS}/rr")[0] == 404


def test_request_whose_template_is_gone_fails() -> None:
    google = _group(Delays(queue=60.0))
    _ask(google)
    google.good("DELETE", "/compute/v1/projects/twin-project/global/instanceTemplates/tmpl")
    google.good("PATCH", MIG, {"description": "x"})
    google.pass_time(60)
    request = google.get(f"{REQUESTS}/rr")
    assert request["state"] == "FAILED"
    assert "instanceTemplates/tmpl" in request["status"]["error"]["errors"][0]["message"]


def test_request_that_google_gives_up_fails_with_its_reason() -> None:
    google = _group()
    google.limit_room(0)
    _ask(google)
    key = "twin-project/zones/us-central1-a/mig/rr"
    google.twin.compute.resize_requests.fail(key, code="INTERNAL_ERROR", message="no luck")
    request = google.get(f"{REQUESTS}/rr")
    assert (request["state"], request["status"]["error"]["errors"][0]["code"]) == (
        "FAILED",
        "INTERNAL_ERROR",
    )


def test_names_may_be_given() -> None:
    google = _group()
    body = {"name": "rr", "instances": [{"name": "left"}, {"name": "right"}]}
    google.good("POST", REQUESTS, {**body, "requestedRunDuration": {"seconds": "600"}})
    assert [one["name"] for one in google.members()] == ["left", "right"]


def test_request_must_make_sense() -> None:
    google = _group()
    _ask(google)
    body = {"name": "rr", "resizeBy": 1}
    assert google.refused("POST", REQUESTS, body)[0] == 409
    assert google.refused("POST", REQUESTS, {"name": "no", "resizeBy": 0})[0] == 400
    short = {"name": "no", "resizeBy": 1, "requestedRunDuration": {"seconds": "60"}}
    assert google.refused("POST", REQUESTS, short)[0] == 400


def test_requests_go_with_their_group() -> None:
    google = _group(Delays(queue=60.0))
    _ask(google)
    google.good("DELETE", MIG)
    google.group(size=0)
    assert google.get(REQUESTS).get("items", []) == []
    google.pass_time(30)
    _ask(google)  # The name is free again.
    google.pass_time(60)
    assert (_state(google), len(google.members())) == ("SUCCEEDED", 2)
