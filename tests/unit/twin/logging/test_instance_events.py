"""What Google does to instances stands in the audit log."""

from __future__ import annotations

from random import Random

import pytest

from trainings import Clock
from windlass.catalog.load import load_catalog
from windlass.twin.access.keys import RsaKeys
from windlass.twin.assembly import Parts, build
from windlass.twin.cloud import Cloud
from windlass.twin.compute.asks import Ask
from windlass.twin.compute.scopes import Scope
from windlass.twin.logging.filters import parsed
from windlass.twin.market import Model, Wanted


@pytest.fixture
def twin():
    cloud = Cloud(clock=Clock(), chance=Random(1))
    return build(cloud, catalog=load_catalog(), parts=Parts(token="t", rsa=RsaKeys()))


def test_a_preempted_instance_is_told_once(twin):
    scope = Scope("twin-project", "zones", "us-central1-a")
    wanted = Wanted(scope.place, "e2-small", "", 0, Model.SPOT)
    properties = {"machineType": scope.link("machineTypes", "e2-small"), "scheduling": {}}
    instance = twin.compute.instances.create(scope, "vm", Ask(properties, wanted, None))
    twin.compute.instances.preempt(instance)
    test = parsed('resource.type=gce_instance protoPayload.methodName:"instances.preempted"')
    (entry,) = [entry for entry in twin.logs.entries() if test(entry)]
    assert entry["logName"].endswith("/logs/cloudaudit.googleapis.com%2Fsystem_event")
    assert entry["resource"]["labels"]["instance_id"] == instance.id
    assert entry["protoPayload"]["resourceName"].endswith("/instances/vm")
