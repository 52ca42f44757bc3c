from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vms import ZONE, Google, vm
from windlass.twin.compute.reservations import NAME_KEY
from windlass.twin.journal import SqliteJournal

RESERVATIONS = f"{ZONE}/reservations"
L4 = "g2-standard-4"


def _reserve(google: Google, name: str = "res", *, count: int = 2, **more: Any) -> None:
    specific = {"count": str(count), "instanceProperties": {"machineType": L4}}
    google.good("POST", RESERVATIONS, {"name": name, "specificReservation": specific, **more})


def _bound(name: str = "res", *, model: str = "RESERVATION_BOUND") -> dict[str, Any]:
    affinity = {"consumeReservationType": "SPECIFIC_RESERVATION", "key": NAME_KEY, "values": [name]}
    return vm(L4, model=model, reservationAffinity=affinity)


def _in_use(google: Google, name: str = "res") -> str:
    return str(google.get(f"{RESERVATIONS}/{name}")["specificReservation"]["inUseCount"])


def test_matching_instance_uses_an_open_reservation_by_itself() -> None:
    google = Google()
    _reserve(google)
    google.insert_vm("one", machine_type=L4)
    assert _in_use(google) == "1"
    used = google.vm("one")["resourceStatus"]["reservationConsumptionInfo"]
    assert used["consumedReservation"].endswith("/reservations/res")
    google.insert_vm("spot", machine_type=L4, model="SPOT")
    google.insert_vm("small")
    assert _in_use(google) == "1"
    google.good("POST", f"{ZONE}/instances/one/stop")
    assert _in_use(google) == "0"
    google.good("POST", f"{ZONE}/instances/one/start")
    assert _in_use(google) == "1"
    google.good("DELETE", f"{ZONE}/instances/one")
    assert _in_use(google) == "0"


def test_reserved_machines_are_there_when_the_zone_is_out_of_stock() -> None:
    google = Google()
    google.limit_room(2, what="nvidia-l4", model="STANDARD")
    _reserve(google)
    apart = {"reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}}
    body = {"name": "none", **vm(L4, **apart)}
    assert google.failed("POST", f"{ZONE}/instances", body)["code"].startswith("ZONE_")
    google.insert_vm("one", machine_type=L4)
    google.insert_vm("two", machine_type=L4)
    assert _in_use(google) == "2"
    third = google.failed("POST", f"{ZONE}/instances", {"name": "three", **vm(L4)})
    assert third["code"].startswith("ZONE_")


def test_reservation_that_is_more_than_the_zone_has_fails() -> None:
    google = Google()
    google.limit_room(1, what="nvidia-l4")
    specific = {"count": "2", "instanceProperties": {"machineType": L4}}
    body = {"name": "res", "specificReservation": specific}
    assert google.failed("POST", RESERVATIONS, body)["code"].startswith("ZONE_")
    assert google.refused("GET", f"{RESERVATIONS}/res")[0] == 404


def test_quota_counts_reserved_machines_once() -> None:
    google = Google()
    _reserve(google, specificReservationRequired=True)
    usage = google.twin.quotas.usage
    assert usage("us-central1", "NVIDIA_L4_GPUS") == 2
    google.good("POST", f"{ZONE}/instances", {"name": "one", **_bound()})
    assert usage("us-central1", "NVIDIA_L4_GPUS") == 2
    google.good("DELETE", f"{ZONE}/instances/one")
    google.good("DELETE", f"{RESERVATIONS}/res")
    assert usage("us-central1", "NVIDIA_L4_GPUS") == 0


def test_bound_instance_uses_the_reservation_that_it_names_and_no_other() -> None:
    google = Google()
    _reserve(google, count=1, specificReservationRequired=True)
    google.insert_vm("free", machine_type=L4)
    assert _in_use(google) == "0"
    google.good("POST", f"{ZONE}/instances", {"name": "one", **_bound()})
    assert _in_use(google) == "1"
    status, operation = google.ask("POST", f"{ZONE}/instances", {"name": "two", **_bound()})
    (error,) = operation["error"]["errors"]
    assert (status, operation["httpErrorStatusCode"], error["code"]) == (
        200,
        412,
        "CONDITION_NOT_MET",
    )
    assert error["message"] == (
        "Specified reservation 'res' does not have available resources for the request."
    )
    code, message = google.refused("DELETE", f"{RESERVATIONS}/res")
    assert (code, "instances/one" in message) == (400, True)


BAD = {
    "one that is not": (_bound("none"), "do not exist"),
    "one that is open to all": (_bound("open"), "specificReservationRequired is not set"),
    "a dense one by a standard instance": (_bound("dense", model="STANDARD"), "RESERVATION_BOUND"),
    "none by a bound instance": (vm(L4, model="RESERVATION_BOUND"), "specific reservation"),
    "one of another type": ({**_bound(), "machineType": "g2-standard-8"}, "No available resources"),
}


@pytest.mark.parametrize(("body", "words"), BAD.values(), ids=BAD)
def test_reservation_is_refused(body: dict[str, Any], words: str) -> None:
    google = Google()
    _reserve(google, specificReservationRequired=True)
    _reserve(google, "open")
    _reserve(google, "dense", specificReservationRequired=True, deploymentType="DENSE")
    code, message = google.refused("POST", f"{ZONE}/instances", {"name": "one", **body})
    assert (code, words in message) == (400, True)


def test_reservation_is_resized_within_bounds() -> None:
    google = Google()
    google.limit_room(3, what="nvidia-l4")
    _reserve(google)
    google.insert_vm("one", machine_type=L4)
    google.good("POST", f"{RESERVATIONS}/res/resize", {"specificSkuCount": "3"})
    assert google.get(f"{RESERVATIONS}/res")["specificReservation"]["count"] == "3"
    google.failed("POST", f"{RESERVATIONS}/res/resize", {"specificSkuCount": "4"})
    assert google.refused("POST", f"{RESERVATIONS}/res/resize", {"specificSkuCount": "0"})


def test_reservation_ends_and_takes_what_is_bound_to_it_along() -> None:
    google = Google()
    _reserve(google, specificReservationRequired=True, deleteAfterDuration={"seconds": "3600"})
    google.good("POST", f"{ZONE}/instances", {"name": "one", **_bound()})
    google.insert_vm("other", machine_type=L4)
    google.pass_time(3600)
    assert google.refused("GET", f"{RESERVATIONS}/res")[0] == 404
    assert google.vm("one")["status"] == "TERMINATED"
    assert google.vm("other")["status"] == "RUNNING"
    assert google.twin.quotas.usage("us-central1", "NVIDIA_L4_GPUS") == 1


def test_restarted_twin_holds_what_was_reserved(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "twin.db")
    google = Google(journal=journal)
    _reserve(google, count=3)
    google.insert_vm("one", machine_type=L4)
    journal.close()
    journal = SqliteJournal(tmp_path / "twin.db")
    again = Google(journal=journal, clock=google.clock)
    assert _in_use(again) == "1"
    assert again.twin.quotas.usage("us-central1", "NVIDIA_L4_GPUS") == 3
    again.good("DELETE", f"{ZONE}/instances/one")
    assert _in_use(again) == "0"
    journal.close()
