"""`windlass twin fault` and `windlass twin up --scenario`, against a twin in a process."""

from __future__ import annotations

import json
import urllib.request

import pytest

from windlass.assemble import open_home
from windlass.twin.server.home import TwinHome

SPOT_VM = {
    "name": "node-3",
    "machineType": "zones/us-central1-a/machineTypes/g2-standard-4",
    "disks": [
        {
            "boot": True,
            "initializeParams": {
                "sourceImage": "projects/debian-cloud/global/images/family/debian-12"
            },
        }
    ],
    "networkInterfaces": [{"network": "global/networks/default"}],
    "scheduling": {"provisioningModel": "SPOT"},
}


@pytest.fixture
def twin(windlass):
    home = TwinHome(open_home().path / "twin")
    yield home
    windlass("twin", "down")


def insert(home: TwinHome, *, project: str = "twin-project") -> dict:
    url = f"{home.running().url}/compute/v1/projects/{project}/zones/us-central1-a/instances"
    headers = {"Authorization": f"Bearer {home.token()}"}
    body = json.dumps(SPOT_VM).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        return json.load(answer)


def test_faults_are_fired_listed_and_ended(windlass, twin):
    assert windlass("twin", "up", "--live", "0").status == 0
    assert windlass("twin", "fault", "list").out == "Nothing goes wrong.\n"
    insert(twin)
    assert windlass("twin", "fault", "preempt", "node-3").out == "warned node-3\n"
    stockout = windlass("twin", "fault", "stockout", "us-central1", "H100", "--for", "2h")
    assert stockout.out == "no nvidia-h100-80gb in us-central1-*\n"
    rule = windlass("twin", "fault", "error", "compute.zones.*", "503", "--share", "10%")
    assert rule.out.startswith("compute.zones.* is struck from now on (rule-")
    late = ("storage.objects.list", "--kind", "stale-list", "--behind", "1m", "--count", "2")
    assert windlass("twin", "fault", "error", *late).status == 0
    listed = windlass("twin", "fault", "list").out.splitlines()
    assert len(listed) == 4
    assert any("compute.zones.*: error 503, 10% of calls; struck 0" in line for line in listed)
    assert any("preempt node-3: warned node-3" in line for line in listed)
    document = windlass("twin", "fault", "list", "--json").document
    assert [len(document[name]) for name in ("rules", "incidents")] == [2, 2]
    assert windlass("twin", "fault", "clear").out == "Ended 2 rules and 1 incidents.\n"


IMPOSSIBLE = [
    (("preempt", "nobody"), "No machine that runs is called 'nobody'"),
    (("fail", "nobody"), "No machine that runs is called 'nobody'"),
    (("maintenance", "nobody", "--notice", "soon"), "soon is no duration"),
    (("stockout", "mars", "H100"), "there is no zone mars"),
    (("error", "compute.*"), "it says neither an error nor a latency nor another kind"),
]


def test_a_fault_that_cannot_be_is_refused(windlass, twin):
    assert windlass("twin", "up", "--live", "0").status == 0
    for words, said in IMPOSSIBLE:
        result = windlass("twin", "fault", *words)
        assert (result.status, said in result.err) == (2, True), result.err


def test_without_a_twin_there_is_nothing_to_break(windlass):
    result = windlass("twin", "fault", "preempt", "x")
    assert (result.status, "twin-not-up" in result.err) == (3, True)


def test_a_scenario_is_played_and_survives_a_restart(windlass, twin, tmp_path):
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text("project: rehearsal-1\ncapacity: [{zone: us-central1-a, room: 0}]\n")
    assert windlass("twin", "up", "--live", "0", "--scenario", str(scenario)).status == 0
    code = insert(twin, project="rehearsal-1")["error"]["errors"][0]["code"]
    assert code == "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"
    assert "GOOGLE_CLOUD_PROJECT=rehearsal-1" in windlass("twin", "env").out
    windlass("twin", "down")
    assert windlass("twin", "up", "--live", "0").status == 0
    assert "error" in insert(twin, project="rehearsal-1")
    assert windlass("twin", "reset", "--yes").status == 0
    assert "error" not in insert(twin)


def test_a_wrong_scenario_starts_nothing(windlass, twin, tmp_path):
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text("capacty: []\nhazard: [{per_hour: often}]\n")
    result = windlass("twin", "up", "--scenario", str(scenario))
    assert result.status == 2
    assert f"{scenario}:1:1: capacty is not a key here" in result.err
    assert f"{scenario}:2:21: per_hour: often is no number" in result.err
    assert twin.running() is None
