from __future__ import annotations

from vms import ZONE, Google
from windlass.twin.compute.instance import Instance

ONE = f"{ZONE}/instances/one"


def _one(google: Google) -> Instance:
    instance = google.twin.compute.instances.find("twin-project/zones/us-central1-a/one")
    assert instance is not None
    return instance


def test_maintenance_is_announced_and_happens_at_its_time() -> None:
    google = Google()
    google.insert_vm("one", machine_type="g2-standard-4", scheduling={"automaticRestart": False})
    google.twin.compute.maintenance.announce(_one(google), in_s=3600)
    upcoming = google.vm("one")["resourceStatus"]["upcomingMaintenance"]
    assert (upcoming["maintenanceStatus"], upcoming["windowStartTime"]) == (
        "PENDING",
        google.cloud.stamp(google.clock.at + 3600),
    )
    google.pass_time(3599)
    assert google.vm("one")["status"] == "RUNNING"
    google.pass_time(1)
    shown = google.vm("one")
    assert (shown["status"], "resourceStatus" in shown) == ("TERMINATED", False)


def test_maintenance_can_be_had_early_and_then_does_not_come_again() -> None:
    google = Google()
    google.insert_vm("one", machine_type="g2-standard-4")
    assert google.refused("POST", f"{ONE}/performMaintenance")[0] == 400
    google.twin.compute.maintenance.announce(_one(google), in_s=3600)
    google.good("POST", f"{ONE}/performMaintenance")
    (machine,) = google.twin.fleet.all()
    assert (google.vm("one")["status"], machine.starts) == ("RUNNING", 2)
    google.pass_time(7200)
    assert machine.starts == 2
