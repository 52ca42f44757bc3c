"""Random calls over several services: a refused one changes nothing, and a twin that is opened
again from its journal is the one that it was."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
POLICY = {"bindings": [{"role": "roles/owner", "members": ["user:you@example.com"]}]}

names = st.sampled_from(["one", "two", "three", "Bad_Name"])
Step = tuple[str, str, str, Any]


@st.composite
def steps(draw: st.DrawFn) -> Step:
    """A call, good or bad, or time that passes."""
    name = draw(names)
    vm = f"{ZONE}/instances/{name}"
    mig = f"{ZONE}/instanceGroupManagers/{name}"
    choices: list[Step] = [
        ("WAIT", "", "", draw(st.sampled_from([1.0, 10.0, 40.0, 4000.0]))),
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
        ("POST", COMPUTE, f"{ZONE}/disks", {"name": name, "sizeGb": "10"}),
        ("POST", COMPUTE, f"{vm}/attachDisk", {"source": f"{ZONE[12:]}/disks/{name}"}),
        ("DELETE", COMPUTE, f"{ZONE}/disks/{name}", None),
        ("POST", COMPUTE, f"{GLOBAL}/networks", {"name": name, "autoCreateSubnetworks": True}),
        ("DELETE", COMPUTE, f"{GLOBAL}/networks/{name}", None),
        ("POST", COMPUTE, f"{GLOBAL}/instanceTemplates", {"name": name, "properties": VM}),
        (
            "POST",
            COMPUTE,
            f"{ZONE}/instanceGroupManagers",
            {"name": name, "targetSize": 2, "instanceTemplate": f"global/instanceTemplates/{name}"},
        ),
        ("POST", COMPUTE, f"{mig}/resize?size=1", None),
        ("DELETE", COMPUTE, mig, None),
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
    return draw(st.sampled_from(choices))


LOOKS = (
    (COMPUTE, f"/compute/v1/projects/{PROJECT}/aggregated/instances"),
    (COMPUTE, f"/compute/v1/projects/{PROJECT}/aggregated/disks"),
    (COMPUTE, f"/compute/v1/projects/{PROJECT}/aggregated/operations"),
    (COMPUTE, f"/compute/v1/projects/{PROJECT}/regions/us-central1"),
    (COMPUTE, f"{ZONE}/instanceGroupManagers"),
    (COMPUTE, f"{GLOBAL}/networks"),
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
@settings(
    max_examples=max(25, counts.EXAMPLES // 4),
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(steps(), min_size=1, max_size=25))
def test_refused_calls_change_nothing_and_a_restart_changes_nothing(played: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        journal = SqliteJournal(path)
        clock = HandClock()
        house = House(journal=journal, clock=clock, delays=SLOW)
        for method, host, where, body in played:
            if method == "WAIT":
                house.pass_time(body)
                continue
            before = state(house)
            status, document = house.ask(method, host, where, body)
            assert status < 500, (method, where, document)
            if status >= 400:
                assert state(house) == before, (method, where, document)
        expected = state(house)
        seen = [house.ask("GET", *look) for look in LOOKS]
        # What was not acknowledged would be lost: nothing may be left to write.
        journal.close()
        again_journal = SqliteJournal(path)
        again = House(journal=again_journal, clock=clock, delays=SLOW)
        assert state(again) == expected
        assert [again.ask("GET", *look) for look in LOOKS] == seen
        again_journal.close()
