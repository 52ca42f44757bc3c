"""Random calls over several services: a refused one changes nothing, and a twin that is opened
again from its journal is the one that it was."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import counts
from buckets import HandClock
from doors import COMPUTE, IAM, PROJECT, ZONE, House
from windlass.twin.journal import SqliteJournal
from windlass.twin.settings import Delays

SLOW = Delays(operation=3.0, boot=25.0, stop=20.0, tpu=60.0, queue=30.0, cluster=60.0, replica=30.0)
USAGE = "serviceusage.googleapis.com"
CRM = "cloudresourcemanager.googleapis.com"
TPU = "tpu.googleapis.com"
AI = "us-central1-aiplatform.googleapis.com"
GLOBAL = f"/compute/v1/projects/{PROJECT}/global"
NODES = f"/v2/projects/{PROJECT}/locations/us-central2-b/nodes"
CUSTOM = f"/v1/projects/{PROJECT}/locations/us-central1/customJobs"
ACCOUNTS = f"/v1/projects/{PROJECT}/serviceAccounts"
DISK = {
    "boot": True,
    "autoDelete": True,
    "initializeParams": {
        "sourceImage": "projects/debian-cloud/global/images/family/debian-12",
    },
}
VM = {"machineType": "e2-small", "disks": [DISK]}
SPOT = {**VM, "scheduling": {"provisioningModel": "SPOT"}}
NODE = {"acceleratorType": "v4-8", "runtimeVersion": "tpu-ubuntu2204-base"}
POOL = {
    "machineSpec": {"machineType": "n1-standard-4"},
    "replicaCount": "1",
    "pythonPackageSpec": {"executorImageUri": "x", "packageUris": [], "pythonModule": "m"},
}
STEPS = 60
POLICY = {"bindings": [{"role": "roles/owner", "members": ["user:you@example.com"]}]}

REGION = f"/compute/v1/projects/{PROJECT}/regions/us-central1"
QUEUE = f"/v2/projects/{PROJECT}/locations/us-central2-b/queuedResources"
PLACEMENT = {"groupPlacementPolicy": {"collocation": "COLLOCATED"}}


def _queued(node_id: str, kind: str) -> dict[str, Any]:
    node = {**NODE, "acceleratorType": kind}
    parent = f"projects/{PROJECT}/locations/us-central2-b"
    return {"tpu": {"nodeSpec": [{"parent": parent, "nodeId": node_id, "node": node}]}}


BULKS = [
    {"count": "2", "namePattern": "b-#", "instanceProperties": VM},
    {"count": "2", "minCount": "3", "namePattern": "b-#", "instanceProperties": VM},
    {"count": "0", "namePattern": "b-#", "instanceProperties": VM},
    {"count": "2", "instanceProperties": {**VM, "machineType": "no-such"}},
    {"count": "2", "perInstanceProperties": {"one": {}, "p-2": {}}, "instanceProperties": VM},
]
SUBNETS = [
    {"network": "global/networks/one", "ipCidrRange": "10.1.0.0/24"},
    {"network": "global/networks/one", "ipCidrRange": "10.1.0.0/99"},
    {"network": "global/networks/none", "ipCidrRange": "10.2.0.0/24"},
]
RESERVATIONS = [
    {"specificReservation": {"count": "2", "instanceProperties": {"machineType": "e2-small"}}},
    {"specificReservation": {"count": "0", "instanceProperties": {"machineType": "e2-small"}}},
    {"specificReservation": {"count": "1", "instanceProperties": {"machineType": "no"}}},
]
TYPES = ["zones/us-central1-a/machineTypes/e2-medium", "no-such", ""]
SIZES = ["1", "20", "999999999"]
QUEUED = [_queued("one", "v4-8"), _queued("q-2", "v4-8"), _queued("q-3", "v4-7")]
NAMES = ["one", "two", "three", "one", "two", "three", "one", "Bad_Name"]
Step = tuple[str, str, str, Any]


def _vms(name: str, chance: random.Random) -> list[Step]:
    """Instances."""
    vm = f"{ZONE}/instances/{name}"
    return [
        ("POST", COMPUTE, f"{ZONE}/instances", {"name": name, **VM}),
        ("POST", COMPUTE, f"{ZONE}/instances", {"name": name, **SPOT}),
        ("POST", COMPUTE, f"{ZONE}/instances", {"name": name, **VM, "machineType": "no-such"}),
        ("POST", COMPUTE, f"{ZONE}/instances", {"name": name, **VM, "disks": [{"source": "x"}]}),
        ("DELETE", COMPUTE, vm, None),
        ("POST", COMPUTE, f"{vm}/stop", None),
        ("POST", COMPUTE, f"{vm}/start", None),
        ("POST", COMPUTE, f"{vm}/reset", None),
        ("POST", COMPUTE, f"{vm}/setLabels", {"labels": {"a": name.lower()}}),
        ("POST", COMPUTE, f"{vm}/setLabels", {"labels": {"A": "b"}, "labelFingerprint": "x"}),
        ("POST", COMPUTE, f"{vm}/setMetadata", {"items": [{"key": "k", "value": name}]}),
        ("POST", COMPUTE, f"{vm}/simulateMaintenanceEvent", None),
        ("POST", COMPUTE, f"{vm}/attachDisk", {"source": f"{ZONE[12:]}/disks/{name}"}),
        ("POST", COMPUTE, f"{ZONE}/instances/bulkInsert", chance.choice(BULKS)),
        ("POST", COMPUTE, f"{REGION}/instances/bulkInsert", chance.choice(BULKS)),
        ("POST", COMPUTE, f"{vm}/addResourcePolicies", {"resourcePolicies": [f"x/{name}"]}),
        ("POST", COMPUTE, f"{vm}/setMachineType", {"machineType": chance.choice(TYPES)}),
        ("POST", COMPUTE, f"{vm}/suspend", None),
        ("POST", COMPUTE, f"{vm}/resume", None),
        ("POST", COMPUTE, f"{vm}/detachDisk?deviceName=persistent-disk-1", None),
        ("POST", COMPUTE, f"{vm}/setDeletionProtection?deletionProtection=true", None),
        ("POST", COMPUTE, f"{vm}/addAccessConfig?networkInterface=nic{len(name)}", {}),
    ]


def _groups(name: str, _: random.Random) -> list[Step]:
    """Templates and groups."""
    mig = f"{ZONE}/instanceGroupManagers/{name}"
    return [
        ("POST", COMPUTE, f"{GLOBAL}/instanceTemplates", {"name": name, "properties": VM}),
        (
            "POST",
            COMPUTE,
            f"{ZONE}/instanceGroupManagers",
            {"name": name, "targetSize": 2, "instanceTemplate": f"global/instanceTemplates/{name}"},
        ),
        ("POST", COMPUTE, f"{mig}/resize?size=1", None),
        ("POST", COMPUTE, f"{mig}/resizeRequests", {"name": name, "resizeBy": 1}),
        ("POST", COMPUTE, f"{mig}/deleteInstances", {"instances": ["zones/x/instances/y"]}),
        ("POST", COMPUTE, f"{mig}/setInstanceTemplate", {"instanceTemplate": "no/such"}),
    ]


def _networks(name: str, chance: random.Random) -> list[Step]:
    """Networks and what belongs to them."""
    return [
        ("POST", COMPUTE, f"{GLOBAL}/networks", {"name": name, "autoCreateSubnetworks": True}),
        ("DELETE", COMPUTE, f"{GLOBAL}/networks/{name}", None),
        ("POST", COMPUTE, f"{REGION}/subnetworks", {"name": name, **chance.choice(SUBNETS)}),
        ("DELETE", COMPUTE, f"{REGION}/subnetworks/{name}", None),
        ("POST", COMPUTE, f"{GLOBAL}/firewalls", {"name": name, "network": "global/networks/one"}),
        ("DELETE", COMPUTE, f"{GLOBAL}/firewalls/{name}", None),
        ("POST", COMPUTE, f"{REGION}/addresses", {"name": name}),
        ("DELETE", COMPUTE, f"{REGION}/addresses/{name}", None),
        ("POST", COMPUTE, f"{REGION}/routers", {"name": name, "network": "global/networks/two"}),
        ("DELETE", COMPUTE, f"{REGION}/routers/{name}", None),
    ]


def _disks_and_more(name: str, chance: random.Random) -> list[Step]:
    """Disks, reservations and placement."""
    mig = f"{ZONE}/instanceGroupManagers/{name}"
    return [
        ("POST", COMPUTE, f"{ZONE}/disks", {"name": name, "sizeGb": "10"}),
        ("DELETE", COMPUTE, f"{ZONE}/disks/{name}", None),
        ("DELETE", COMPUTE, mig, None),
        ("POST", COMPUTE, f"{REGION}/resourcePolicies", {"name": name, **PLACEMENT}),
        ("POST", COMPUTE, f"{ZONE}/reservations", {"name": name, **chance.choice(RESERVATIONS)}),
        ("POST", COMPUTE, f"{ZONE}/reservations/{name}/resize", {"specificSkuCount": "1"}),
        ("DELETE", COMPUTE, f"{ZONE}/reservations/{name}", None),
        ("POST", COMPUTE, f"{ZONE}/disks/{name}/resize", {"sizeGb": chance.choice(SIZES)}),
        ("POST", COMPUTE, f"{ZONE}/disks/{name}/createSnapshot", {"name": name}),
        ("PATCH", COMPUTE, mig, {"targetSize": 3}),
    ]


def _others(name: str, chance: random.Random) -> list[Step]:
    """The other services."""
    return [
        ("POST", TPU, f"{QUEUE}?queuedResourceId={name}", chance.choice(QUEUED)),
        ("DELETE", TPU, f"{QUEUE}/{name}", None),
        ("POST", TPU, f"{NODES}/{name}:stop", {}),
        ("POST", TPU, f"{NODES}/{name}:start", {}),
        ("POST", TPU, f"{NODES}?nodeId={name}", NODE),
        ("POST", TPU, f"{NODES}?nodeId={name}", {**NODE, "acceleratorType": "v4-7"}),
        ("DELETE", TPU, f"{NODES}/{name}", None),
        (
            "POST",
            AI,
            CUSTOM,
            {"displayName": name, "jobSpec": {"workerPoolSpecs": [POOL]}},
        ),
        ("POST", IAM, ACCOUNTS, {"accountId": f"robot-{name}"}),
        ("DELETE", IAM, f"{ACCOUNTS}/robot-{name}@{PROJECT}.iam.gserviceaccount.com", None),
        ("POST", USAGE, f"/v1/projects/{PROJECT}/services/file.googleapis.com:enable", {}),
        ("POST", CRM, f"/v1/projects/{PROJECT}:setIamPolicy", {"policy": POLICY}),
        (
            "POST",
            CRM,
            f"/v1/projects/{PROJECT}:setIamPolicy",
            {"policy": {**POLICY, "etag": "eA=="}},
        ),
    ]


def step(chance: random.Random) -> Step:
    """A call, good or bad, or time that passes. What makes something comes more often."""
    name = chance.choice(NAMES)
    parts = (_vms, _groups, _networks, _disks_and_more, _others)
    choices = [one for part in parts for one in part(name, chance)]
    choices.append(("WAIT", "", "", chance.choice([1.0, 10.0, 40.0, 4000.0])))
    if chance.random() < 0.4:
        choices = [one for one in choices if one[0] == "POST" and _makes(one)]
    return chance.choice(choices)


def _makes(one: Step) -> bool:
    return "Id=" in one[2] or (isinstance(one[3], dict) and "name" in one[3])


LOOKS = (
    (COMPUTE, f"/compute/v1/projects/{PROJECT}/aggregated/instances"),
    (COMPUTE, f"/compute/v1/projects/{PROJECT}/aggregated/disks"),
    (COMPUTE, f"/compute/v1/projects/{PROJECT}/aggregated/operations"),
    (COMPUTE, f"/compute/v1/projects/{PROJECT}/regions/us-central1"),
    (COMPUTE, f"{ZONE}/instanceGroupManagers"),
    (COMPUTE, f"{GLOBAL}/networks"),
    (COMPUTE, f"{GLOBAL}/firewalls"),
    (COMPUTE, f"{REGION}/subnetworks"),
    (COMPUTE, f"{REGION}/routers"),
    (COMPUTE, f"{REGION}/addresses"),
    (COMPUTE, f"{REGION}/resourcePolicies"),
    (COMPUTE, f"{ZONE}/reservations"),
    (TPU, QUEUE),
    (COMPUTE, f"{GLOBAL}/instanceTemplates"),
    (TPU, NODES),
    (AI, CUSTOM),
    (IAM, ACCOUNTS),
    (USAGE, f"/v1/projects/{PROJECT}/services"),
)


def state(house: House) -> dict[str, Any]:
    """Everything that would be written, and what is yet to happen."""
    shelves = house.cloud._shelves
    found: dict[str, Any] = {
        name: {key: json.loads(shelf._text(key) or "null") for key in shelf._records}
        for name, shelf in shelves.items()
    }
    agenda = sorted(house.cloud._agenda._heap)
    return copy.deepcopy({"shelves": found, "agenda": agenda})


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4))
def test_refused_calls_change_nothing_and_a_restart_changes_nothing(
    part: int, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    seeds = range(part, max(24, counts.EXAMPLES // 4), 4)
    tally: Counter[int] = Counter()
    for seed in seeds:
        played(seed, tmp_path / f"{seed}.db", tally)
    assert tally[200] > 10 * len(seeds), "hardly anything was done"
    record_property("calls", dict(tally))


def played(seed: int, path: Path, tally: Counter[int]) -> None:
    """Play one sequence and compare what is left with what a restart finds."""
    chance = random.Random(seed)
    journal = SqliteJournal(path)
    clock = HandClock()
    house = House(journal=journal, clock=clock, delays=SLOW)
    for number in range(STEPS):
        method, host, where, body = step(chance)
        if method == "WAIT":
            house.pass_time(body)
            continue
        before = state(house)
        status, document = house.ask(method, host, where, body)
        tally[status] += 1
        what = (seed, number, method, where, document)
        assert status < 500, what
        if status >= 400:
            assert state(house) == before, what
    expected = state(house)
    seen = [house.ask("GET", *look) for look in LOOKS]
    # What was not written is lost: everything must have been.
    journal.close()
    journal = SqliteJournal(path)
    again = House(journal=journal, clock=clock, delays=SLOW)
    assert state(again) == expected, seed
    assert [again.ask("GET", *look) for look in LOOKS] == seen, seed
    journal.close()
