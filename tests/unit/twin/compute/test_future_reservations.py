from __future__ import annotations

from typing import Any

from vms import ZONE, Google, vm
from windlass.twin.compute.reservations import NAME_KEY
from windlass.twin.settings import Delays

FUTURE = f"{ZONE}/futureReservations"
H100 = "a3-megagpu-8g"
DAY = 86_400


def _ask(google: Google, *, status: str = "SUBMITTED", **more: Any) -> dict[str, Any]:
    start = google.clock.at + 7 * DAY
    window = {"startTime": google.cloud.stamp(start), "endTime": google.cloud.stamp(start + DAY)}
    sku = {"totalCount": "2", "instanceProperties": {"machineType": H100}}
    return {
        "name": "later",
        "specificSkuProperties": sku,
        "timeWindow": window,
        "planningStatus": status,
        "specificReservationRequired": True,
        **more,
    }


def _state(google: Google) -> str:
    return str(google.get(f"{FUTURE}/later")["status"]["procurementStatus"])


def test_calendar_from_approval_to_its_end() -> None:
    google = Google(delays=Delays(queue=60.0))
    google.good("POST", FUTURE, _ask(google, reservationName="block"))
    assert _state(google) == "PENDING_APPROVAL"
    google.pass_time(60)
    assert _state(google) == "APPROVED"
    assert google.refused("GET", f"{ZONE}/reservations/block")[0] == 404
    google.pass_time(7 * DAY)
    shown = google.get(f"{FUTURE}/later")["status"]
    assert (shown["procurementStatus"], shown["fulfilledCount"]) == ("FULFILLED", "2")
    assert shown["autoCreatedReservations"][0].endswith("/reservations/block")
    affinity = {
        "consumeReservationType": "SPECIFIC_RESERVATION",
        "key": NAME_KEY,
        "values": ["block"],
    }
    scheduling = {"instanceTerminationAction": "DELETE"}
    body = vm(H100, model="RESERVATION_BOUND", reservationAffinity=affinity, scheduling=scheduling)
    google.good("POST", f"{ZONE}/instances", {"name": "one", **body})
    google.pass_time(DAY)
    assert google.refused("GET", f"{ZONE}/instances/one")[0] == 404
    assert google.refused("GET", f"{ZONE}/reservations/block")[0] == 404


def test_what_the_zone_does_not_have_is_declined() -> None:
    google = Google()
    google.limit_room(1, what=H100)
    google.good("POST", FUTURE, _ask(google))
    assert _state(google) == "DECLINED"


def test_draft_waits_until_it_is_submitted() -> None:
    google = Google()
    google.good("POST", FUTURE, _ask(google, status="DRAFT"))
    assert _state(google) == "DRAFTING"
    google.good("PATCH", f"{FUTURE}/later", {"planningStatus": "SUBMITTED"})
    assert _state(google) == "APPROVED"
    assert google.refused("DELETE", f"{FUTURE}/later")[0] == 400
    google.good("POST", f"{FUTURE}/later/cancel")
    assert _state(google) == "CANCELLED"
    assert google.refused("POST", f"{FUTURE}/later/cancel")[0] == 400
    google.pass_time(9 * DAY)
    assert "items" not in google.get(f"{ZONE}/reservations")
    google.good("DELETE", f"{FUTURE}/later")


def test_window_and_count_must_make_sense() -> None:
    google = Google()
    past = {"startTime": "2020-01-01T00:00:00Z", "endTime": "2020-01-02T00:00:00Z"}
    none = {"totalCount": "0", "instanceProperties": {"machineType": H100}}
    for change in (
        {"timeWindow": past},
        {"timeWindow": {}},
        {"timeWindow": {"startTime": "soon", "endTime": "later"}},
        {"specificSkuProperties": none},
    ):
        assert google.refused("POST", FUTURE, _ask(google, **change))[0] == 400


def test_beta_and_v1_answer_alike() -> None:
    google = Google()
    beta = FUTURE.replace("/v1/", "/beta/")
    google.good("POST", beta, _ask(google))
    assert google.get(f"{beta}/later")["name"] == google.get(f"{FUTURE}/later")["name"]
