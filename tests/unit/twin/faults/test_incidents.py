"""What befalls machines and the project, in a twin in this process."""

from __future__ import annotations

import pytest

from vms import ZONE, Google
from windlass.twin.journal import SqliteJournal
from windlass.twin.refusals import Refusal

L4 = {"machineType": "zones/us-central1-a/machineTypes/g2-standard-4"}
SPOT = {"scheduling": {"provisioningModel": "SPOT"}, **L4}


def status(google: Google, name: str) -> str:
    return google.vm(name)["status"]


def outcome(google: Google) -> str:
    return google.twin.faults.incidents.documents()[-1].get("outcome", "to come")


def test_a_planned_preemption_happens_at_its_time():
    google = Google()
    google.insert_vm("node-1", **SPOT)
    now = google.clock.now()
    google.twin.faults.incidents.plan({"what": "preempt", "name": "node-1"}, at=now + 90)
    google.pass_time(89)
    assert status(google, "node-1") == "RUNNING"
    google.pass_time(2)
    assert status(google, "node-1") == "STOPPING"
    google.pass_time(30)
    assert status(google, "node-1") == "TERMINATED"
    assert outcome(google) == "warned node-1"


def test_an_incident_after_a_machine_runs_counts_from_there_and_happens_once():
    google = Google()
    incident = {"what": "preempt", "name": "node-*"}
    google.twin.faults.incidents.plan_after(incident, seconds=60)
    google.pass_time(1000)
    google.insert_vm("node-7", **SPOT)
    google.insert_vm("node-8", **SPOT)
    google.pass_time(59)
    assert status(google, "node-7") == "RUNNING"
    google.pass_time(2)
    assert (status(google, "node-7"), status(google, "node-8")) == ("STOPPING", "RUNNING")


def test_what_is_planned_for_nobody_says_so():
    google = Google()
    google.twin.faults.incidents.plan({"what": "fail", "name": "x"}, at=google.clock.now() + 1)
    google.pass_time(2)
    assert outcome(google) == "nothing: No machine that runs is called 'x'."


def test_machines_are_found_by_label():
    google = Google()
    google.insert_vm("a", labels={"role": "worker"}, **SPOT)
    google.insert_vm("b", labels={"role": "head"}, **SPOT)
    google.twin.faults.incidents.fire({"what": "preempt", "name": "role=worker"})
    assert (status(google, "a"), status(google, "b")) == ("STOPPING", "RUNNING")


def test_a_stockout_ends_by_itself_or_when_it_is_cleared():
    google = Google()
    incidents = google.twin.faults.incidents
    stockout = {"what": "stockout", "zone": "us-central1-*", "kind": "nvidia-l4", "for": 3600.0}
    incidents.fire(stockout)
    assert google.insert_vm("short", **L4)["error"]["errors"][0]["code"].startswith("ZONE_RESOURCE")
    google.pass_time(3601)
    assert "error" not in google.insert_vm("fits", **L4)
    incidents.fire(stockout)
    assert incidents.clear() == 1
    assert "error" not in google.insert_vm("fits-too", **L4)


def test_what_was_turned_off_is_on_again_when_it_is_cleared():
    google = Google()
    incidents = google.twin.faults.incidents
    incidents.fire({"what": "api-off", "service": "compute"})
    incidents.fire({"what": "deny", "permission": "compute.instances.list"})
    incidents.fire({"what": "quota", "metric": "NVIDIA_L4_GPUS", "limit": 0.0})
    assert google.ask("GET", f"{ZONE}/instances")[0] == 403
    assert incidents.clear() == 3
    assert google.ask("GET", f"{ZONE}/instances")[0] == 200
    assert "error" not in google.insert_vm("fits", **L4)


def test_maintenance_is_told_to_the_guest_and_then_carried_out():
    google = Google()
    policy = {"onHostMaintenance": "TERMINATE", "automaticRestart": False}
    google.insert_vm("vm", scheduling=policy, **L4)
    google.twin.faults.incidents.fire({"what": "maintenance", "name": "vm", "notice": 60.0})
    instance = google.twin.compute.instances.find("twin-project/zones/us-central1-a/vm")
    assert instance.maintenance == "TERMINATE_ON_HOST_MAINTENANCE"
    google.pass_time(61)
    assert (status(google, "vm"), instance.maintenance) == ("TERMINATED", "NONE")


@pytest.mark.parametrize(
    ("incident", "said"),
    [
        ({"what": "earthquake"}, "There is no incident 'earthquake'"),
        ({"what": "preempt", "name": "nobody"}, "No machine that runs"),
        ({"what": "fail-resize", "name": "none"}, "No resize request"),
    ],
)
def test_what_cannot_happen_is_refused(incident, said):
    with pytest.raises(Refusal, match=said):
        Google().twin.faults.incidents.fire(incident)


def test_plans_outlive_a_restart(tmp_path):
    path = tmp_path / "state.db"
    first = Google(journal=SqliteJournal(path))
    first.insert_vm("node", **SPOT)
    plan = {"what": "preempt", "name": "node"}
    first.twin.faults.incidents.plan(plan, at=first.clock.now() + 50)
    first.cloud.commit()
    again = Google(journal=SqliteJournal(path), clock=first.clock)
    again.pass_time(51)
    assert status(again, "node") == "STOPPING"
