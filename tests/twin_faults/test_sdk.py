"""The same faults as Google's own Python clients see them; skipped where they are not installed."""

from __future__ import annotations

import os

import pytest

from faulty_twin import IMAGE

compute_v1 = pytest.importorskip(
    "google.cloud.compute_v1", reason="google-cloud-compute is missing"
)
storage = pytest.importorskip("google.cloud.storage", reason="google-cloud-storage is missing")
exceptions = pytest.importorskip("google.api_core.exceptions")
credentials = pytest.importorskip("google.oauth2.credentials")


@pytest.fixture
def instances(twin, monkeypatch):
    """A client through the twin's proxy, as `windlass twin env` sets it up."""
    running = twin.home.running()
    for name, value in {
        "HTTPS_PROXY": running.url,
        "REQUESTS_CA_BUNDLE": str(twin.home.authority),
        "NO_PROXY": "127.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)
    return compute_v1.InstancesClient(credentials=credentials.Credentials(twin.token))


def vm(name: str, kind: str = "g2-standard-4"):
    return compute_v1.Instance(
        name=name,
        machine_type=f"zones/us-central1-a/machineTypes/{kind}",
        disks=[
            compute_v1.AttachedDisk(
                boot=True,
                initialize_params=compute_v1.AttachedDiskInitializeParams(source_image=IMAGE),
            )
        ],
        network_interfaces=[compute_v1.NetworkInterface(network="global/networks/default")],
    )


def insert(client, resource):
    return client.insert(
        project="twin-project", zone="us-central1-a", instance_resource=resource
    ).result(timeout=20)


def test_quota_is_forbidden(twin, instances):
    twin.fault(quota="NVIDIA_L4_GPUS", where="us-central1", limit=0)
    with pytest.raises(exceptions.Forbidden, match="Quota 'NVIDIA_L4_GPUS' exceeded"):
        insert(instances, vm("sdk-quota"))


def test_a_stockout_is_service_unavailable(twin, instances):
    twin.fault(stockout="L4", zone="us-central1-a", **{"for": "1h"})
    with pytest.raises(exceptions.ServiceUnavailable, match="ZONE_RESOURCE_POOL_EXHAUSTED"):
        insert(instances, vm("sdk-short"))


def test_refusals_have_the_classes_that_clients_expect(twin, instances):
    place = {"project": "twin-project", "zone": "us-central1-a"}
    with pytest.raises(exceptions.NotFound):
        instances.get(**place, instance="nobody")
    insert(instances, vm("sdk-twice"))
    with pytest.raises(exceptions.Conflict):
        insert(instances, vm("sdk-twice"))
    twin.fault(deny="compute.instances.create")
    with pytest.raises(exceptions.Forbidden, match=r"Required 'compute.instances.create'"):
        insert(instances, vm("sdk-denied"))
    twin.fault(method="compute.instances.list", error=429, count=1)
    with pytest.raises(exceptions.TooManyRequests):
        list(instances.list(**place))


def test_an_operation_that_fails_late_fails_the_wait(twin, instances):
    twin.fault(method="compute.instances.insert", kind="operation-fails-late", after="30s", count=1)
    with pytest.raises(exceptions.InternalServerError, match="INTERNAL_ERROR"):
        insert(instances, vm("sdk-late"))


def test_the_storage_client_gets_over_a_503_and_a_cut_upload(twin, instances):
    client = storage.Client(
        project="twin-project",
        credentials=credentials.Credentials(twin.token),
        client_options={"api_endpoint": twin.home.running().url},
    )
    bucket = client.create_bucket("sdk-bucket")
    twin.fault(method="storage.objects.insert", error=503, count=1)
    bucket.blob("small").upload_from_string("hello")
    rule = {"method": "storage.objects.insert", "kind": "cut-upload", "after_bytes": "300KiB"}
    twin.fault(**rule, count=1)
    content = os.urandom(2 << 20)
    blob = bucket.blob("large", chunk_size=1 << 20)
    blob.upload_from_string(content)
    assert bucket.blob("large").download_as_bytes() == content
    assert client.bucket("sdk-bucket").blob("small").download_as_bytes() == b"hello"
