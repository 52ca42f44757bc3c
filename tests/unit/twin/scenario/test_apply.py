"""A scenario is put into a twin once, and stays there."""

from __future__ import annotations

from pathlib import Path

import pytest

from buckets import HandClock
from vms import CATALOG, TOKEN, Google, NoKeys
from windlass.errors import OptionRefused
from windlass.ports.entropy import seeded
from windlass.twin.assembly import Parts, build
from windlass.twin.cloud import Cloud
from windlass.twin.journal import SqliteJournal
from windlass.twin.scenario.apply import Director
from windlass.twin.scenario.load import load_scenario

TEXT = """
project: rehearsal-1
delays: {boot: 20s}
capacity:
  - {zone: us-central1-a, what: L4, room: 1, until: 1h}
quotas: [{metric: NVIDIA_T4_GPUS, where: us-central1, limit: 1}]
denied: [compute.disks.create]
apis_off: [tpu]
api: [{method: compute.zones.*, error: 503, count: 1}]
faults:
  - {at: 90s, preempt: node-1}
"""


L4 = {"machineType": "zones/us-central1-a/machineTypes/g2-standard-4"}


class Play(Google):
    """A twin with a scenario, as the server makes it."""

    def __init__(self, folder: Path, text: str | None, clock: HandClock | None = None) -> None:
        self.clock = clock or HandClock()
        journal = SqliteJournal(folder / "state.db")
        self.cloud = Cloud(clock=self.clock, chance=seeded(7), journal=journal)
        scenario = None
        if text is not None:
            path = folder / "scenario.yaml"
            path.write_text(text)
            scenario = load_scenario(path, catalog=CATALOG)
        director = Director(self.cloud, scenario)
        self.twin = build(self.cloud, catalog=CATALOG, parts=Parts(token=TOKEN, rsa=NoKeys()))
        self.was_new = director.apply(self.twin)
        self.asked: set[str] = set()
        self.cloud.commit()


def test_everything_in_it_holds(tmp_path):
    play = Play(tmp_path, TEXT)
    twin, settings = play.twin, play.cloud.settings
    assert (settings.project, settings.delays.boot, settings.delays.stop) == ("rehearsal-1", 20, 0)
    assert twin.market.rules()[0].until == play.clock.now() + 3600
    assert twin.quotas.limit("us-central1", "NVIDIA_T4_GPUS") == 1
    assert twin.policies.denied() == [("*", "compute.disks.create")]
    assert not twin.apis.is_enabled("tpu")
    assert len(twin.faults.rules.documents()) == 1
    assert twin.faults.incidents.documents()[0]["at"] == play.clock.now() + 90


def test_a_restart_does_not_put_it_in_twice_and_keeps_its_settings(tmp_path):
    first = Play(tmp_path, TEXT)
    again = Play(tmp_path, TEXT, clock=first.clock)
    assert (first.was_new, again.was_new) == (True, False)
    without = Play(tmp_path, None, clock=first.clock)
    for play in (again, without):
        assert play.cloud.settings.project == "rehearsal-1"
        assert len(play.twin.market.rules()) == 1
        assert len(play.twin.faults.rules.documents()) == 1
        assert len(play.twin.faults.incidents.documents()) == 1


def test_another_scenario_is_refused_until_the_twin_is_emptied(tmp_path):
    Play(tmp_path, TEXT)
    with pytest.raises(OptionRefused, match="another scenario"):
        Play(tmp_path, "notice: 5s\n")


def test_room_that_shrinks_takes_spot_machines_back(tmp_path):
    text = "capacity: [{zone: us-central1-a, what: L4, model: spot, room: 1, from: 1h}]\n"
    play = Play(tmp_path, text)
    spot = {"scheduling": {"provisioningModel": "SPOT"}, **L4}
    play.insert_vm("older", **spot)
    play.pass_time(60)
    play.insert_vm("younger", **spot)
    play.pass_time(3600)
    assert (play.vm("older")["status"], play.vm("younger")["status"]) == ("RUNNING", "TERMINATED")


def test_a_hazard_takes_spot_machines_back_sooner_or_later(tmp_path):
    play = Play(tmp_path, "hazard: [{what: L4, model: spot, per_hour: 10}]\n")
    play.insert_vm("doomed", scheduling={"provisioningModel": "SPOT"}, **L4)
    play.insert_vm("safe", **L4)
    play.pass_time(24 * 3600)
    assert (play.vm("doomed")["status"], play.vm("safe")["status"]) == ("TERMINATED", "RUNNING")
