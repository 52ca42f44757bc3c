from __future__ import annotations

from pathlib import Path

import pytest

from vms import PROJECT, ZONE, Google
from windlass.twin.journal import SqliteJournal
from windlass.twin.machine import State
from windlass.twin.market import Rule
from windlass.twin.settings import Delays

HOUR = 3600
KEY = "twin-project/zones/us-central1-a/one"


def _status(google: Google, name: str = "one") -> str:
    status, answer = google.ask("GET", f"{ZONE}/instances/{name}")
    return str(answer["status"]) if status == 200 else "gone"


def test_instance_is_turned_off_and_on() -> None:
    google = Google()
    google.insert_vm("one")
    for verb, status in (
        ("stop", "TERMINATED"),
        ("start", "RUNNING"),
        ("suspend", "SUSPENDED"),
        ("resume", "RUNNING"),
        ("reset", "RUNNING"),
    ):
        google.good("POST", f"{ZONE}/instances/one/{verb}")
        assert _status(google) == status
    shown = google.vm("one")
    assert shown["lastStopTimestamp"] and shown["lastStartTimestamp"]


def test_deleted_instance_stops_first_and_frees_its_room_at_once() -> None:
    google = Google(delays=Delays(stop=20.0))
    google.insert_vm("one")
    google.good("DELETE", f"{ZONE}/instances/one")
    assert _status(google) == "STOPPING"
    assert google.twin.quotas.usage("us-central1", "INSTANCES") == 0
    google.pass_time(19)
    assert _status(google) == "STOPPING"
    google.pass_time(1)
    assert _status(google) == "gone"
    assert google.twin.fleet.all() == []


@pytest.mark.parametrize(("action", "after"), [("STOP", "TERMINATED"), ("DELETE", "gone")])
def test_preempted_instance_has_notice_and_then_stops_or_goes(action: str, after: str) -> None:
    google = Google()
    google.insert_vm("one", model="SPOT", scheduling={"instanceTerminationAction": action})
    google.good("POST", f"{ZONE}/instances/one/simulateMaintenanceEvent")
    google.pass_time(29)
    assert _status(google) == "STOPPING"
    google.pass_time(1)
    assert _status(google) == after


def test_spot_is_stopped_unless_it_says_otherwise_and_can_start_again() -> None:
    google = Google()
    google.insert_vm("one", model="SPOT")
    assert google.vm("one")["scheduling"]["instanceTerminationAction"] == "STOP"
    google.good("POST", f"{ZONE}/instances/one/simulateMaintenanceEvent")
    google.pass_time(60)
    google.good("POST", f"{ZONE}/instances/one/start")
    assert _status(google) == "RUNNING"


@pytest.mark.parametrize(("action", "after"), [("STOP", "TERMINATED"), ("DELETE", "gone")])
def test_instance_runs_no_longer_than_it_may(action: str, after: str) -> None:
    google = Google()
    limits = {"maxRunDuration": {"seconds": "7200"}, "instanceTerminationAction": action}
    google.insert_vm("one", scheduling=limits)
    ends = google.vm("one")["resourceStatus"]["scheduling"]["terminationTimestamp"]
    assert ends == google.cloud.stamp(google.clock.at + 2 * HOUR)
    google.pass_time(2 * HOUR - 1)
    assert _status(google) == "RUNNING"
    google.pass_time(1)
    assert _status(google) == after


def test_appointment_of_an_earlier_life_is_void() -> None:
    google = Google()
    google.insert_vm("one", scheduling={"maxRunDuration": {"seconds": "7200"}})
    google.pass_time(HOUR)
    google.good("POST", f"{ZONE}/instances/one/stop")
    google.good("POST", f"{ZONE}/instances/one/start")
    google.pass_time(HOUR + 60)
    assert _status(google) == "RUNNING"
    google.pass_time(HOUR)
    assert _status(google) == "TERMINATED"


def test_instance_whose_host_dies_starts_again() -> None:
    google = Google()
    google.insert_vm("one")
    (machine,) = google.twin.fleet.all()
    google.twin.fleet.fail(machine)
    assert (_status(google), machine.starts) == ("RUNNING", 2)
    google.insert_vm("two", scheduling={"automaticRestart": False})
    other = next(one for one in google.twin.fleet.all() if one is not machine)
    google.twin.fleet.fail(other)
    assert _status(google, "two") == "TERMINATED"


def test_hazard_takes_spot_machines_back_over_time() -> None:
    google = Google()
    google.twin.market.add(Rule(model="SPOT", hazard_per_h=1.0))
    for number in range(40):
        google.insert_vm(f"s{number}", model="SPOT")
    google.insert_vm("standard")
    google.pass_time(HOUR)
    on = [one for one in google.twin.fleet.all() if one.state is State.RUNNING]
    # 1/e of 40 are 15; the one that is no spot machine stays.
    assert 6 <= len(on) <= 25
    assert _status(google, "standard") == "RUNNING"


def test_what_runs_is_billed_when_it_ends() -> None:
    google = Google()
    google.insert_vm("one", machine_type="g2-standard-4", labels={"windlass-run": "r1"})
    google.pass_time(2 * HOUR)
    google.good("DELETE", f"{ZONE}/instances/one")
    (line,) = google.twin.billing.lines()
    assert (line["run"], line["hours"]) == ("r1", pytest.approx(2.0))
    assert line["usd"] > 0


def test_restarted_twin_goes_on_where_it_was(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "twin.db")
    first = Google(journal=journal)
    first.template(model="SPOT")
    first.group(size=2)
    first.insert_vm("one", scheduling={"maxRunDuration": {"seconds": "600"}})
    names = sorted(one["name"] for one in first.members())
    journal.close()
    journal = SqliteJournal(tmp_path / "twin.db")
    second = Google(journal=journal, clock=first.clock)
    assert sorted(one["name"] for one in second.members()) == names
    assert second.vm("one")["status"] == "RUNNING"
    members = [second.twin.compute.instances.find(f"{KEY[:-3]}{name}") for name in names]
    assert members[0] is not None and members[1] is not None
    assert members[0].properties is members[1].properties
    assert second.twin.quotas.usage("us-central1", "INSTANCES") == 3
    assert len(second.get(f"{PROJECT}/global/networks")["items"]) == 1
    second.pass_time(600)
    assert second.vm("one")["status"] == "TERMINATED"
    journal.close()
