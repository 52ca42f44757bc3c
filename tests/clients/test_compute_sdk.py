"""google-cloud-compute and google-cloud-tpu: machines from their birth to their end."""

from __future__ import annotations

import pytest

from client_twin import need_package

# What Google's packages say about Python versions and each other is not ours to mend.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("env")]

PROJECT = "twin-project"
ZONE = "us-central1-a"
PLACE = {"project": PROJECT, "zone": ZONE}


@pytest.fixture
def compute():
    return need_package("google.cloud.compute_v1")


@pytest.fixture
def tpu():
    return need_package("google.cloud.tpu_v2")


def test_a_vm_lives(compute):
    images, instances = compute.ImagesClient(), compute.InstancesClient()
    image = images.get_from_family(project="debian-cloud", family="debian-12")
    params = compute.AttachedDiskInitializeParams(source_image=image.self_link, disk_size_gb=50)
    wanted = compute.Instance(
        name="sdk-vm",
        machine_type=f"zones/{ZONE}/machineTypes/g2-standard-4",
        disks=[compute.AttachedDisk(boot=True, auto_delete=True, initialize_params=params)],
        network_interfaces=[compute.NetworkInterface(network="global/networks/default")],
        scheduling=compute.Scheduling(
            provisioning_model="SPOT",
            instance_termination_action="STOP",
            on_host_maintenance="TERMINATE",
        ),
        labels={"by": "sdk"},
    )
    instances.insert(**PLACE, instance_resource=wanted).result(timeout=60)
    found = instances.get(**PLACE, instance="sdk-vm")
    assert (found.status, found.scheduling.provisioning_model) == ("RUNNING", "SPOT")
    assert found.guest_accelerators[0].accelerator_type.endswith("/nvidia-l4")
    fresh = compute.InstancesSetLabelsRequest(
        labels={"by": "sdk", "more": "yes"}, label_fingerprint=found.label_fingerprint
    )
    instances.set_labels(
        **PLACE, instance="sdk-vm", instances_set_labels_request_resource=fresh
    ).result(timeout=60)
    named = compute.ListInstancesRequest(**PLACE, filter="labels.more=yes")
    assert [one.name for one in instances.list(request=named)] == ["sdk-vm"]
    instances.stop(**PLACE, instance="sdk-vm").result(timeout=60)
    assert instances.get(**PLACE, instance="sdk-vm").status == "TERMINATED"
    instances.start(**PLACE, instance="sdk-vm").result(timeout=60)
    assert instances.get(**PLACE, instance="sdk-vm").status == "RUNNING"
    instances.delete(**PLACE, instance="sdk-vm").result(timeout=60)
    everywhere = instances.aggregated_list(project=PROJECT)
    assert "sdk-vm" not in [vm.name for _, scope in everywhere for vm in scope.instances]
    disks = compute.DisksClient().list(**PLACE)
    assert "sdk-vm" not in [one.name for one in disks]


def test_what_a_zone_has(compute):
    kind = compute.MachineTypesClient().get(**PLACE, machine_type="a3-highgpu-8g")
    assert (kind.guest_cpus, kind.accelerators[0].guest_accelerator_count) == (208, 8)
    accelerators = compute.AcceleratorTypesClient().list(**PLACE)
    assert "nvidia-l4" in {one.name for one in accelerators}
    region = compute.RegionsClient().get(project=PROJECT, region="us-central1")
    assert {one.metric: one.limit for one in region.quotas}["NVIDIA_L4_GPUS"] > 0


def test_a_template_a_group_and_its_size(compute):
    properties = compute.InstanceProperties(
        machine_type="e2-small",
        disks=[
            compute.AttachedDisk(
                boot=True,
                initialize_params=compute.AttachedDiskInitializeParams(
                    source_image="projects/debian-cloud/global/images/family/debian-12"
                ),
            )
        ],
        network_interfaces=[compute.NetworkInterface(network="global/networks/default")],
    )
    template = compute.InstanceTemplate(name="sdk-template", properties=properties)
    templates = compute.InstanceTemplatesClient()
    templates.insert(project=PROJECT, instance_template_resource=template).result(timeout=60)
    groups = compute.InstanceGroupManagersClient()
    wanted = compute.InstanceGroupManager(
        name="sdk-group",
        base_instance_name="sdk-group",
        instance_template=f"projects/{PROJECT}/global/instanceTemplates/sdk-template",
        target_size=1,
    )
    groups.insert(**PLACE, instance_group_manager_resource=wanted).result(timeout=60)
    groups.resize(**PLACE, instance_group_manager="sdk-group", size=2).result(timeout=60)
    members = groups.list_managed_instances(**PLACE, instance_group_manager="sdk-group")
    assert len(list(members)) == 2
    groups.delete(**PLACE, instance_group_manager="sdk-group").result(timeout=60)
    templates.delete(project=PROJECT, instance_template="sdk-template").result(timeout=60)


def test_a_tpu_node_lives(tpu):
    client = tpu.TpuClient(transport="rest")
    parent = f"projects/{PROJECT}/locations/us-central1-b"
    node = tpu.Node(accelerator_type="v2-8", runtime_version="tpu-ubuntu2204-base")
    made = client.create_node(parent=parent, node=node, node_id="sdk-tpu").result(timeout=60)
    assert made.name == f"{parent}/nodes/sdk-tpu"
    found = client.get_node(name=made.name)
    assert (found.state, len(found.network_endpoints)) == (tpu.Node.State.READY, 1)
    assert [one.name for one in client.list_nodes(parent=parent)] == [made.name]
    client.stop_node(request={"name": made.name}).result(timeout=60)
    assert client.get_node(name=made.name).state == tpu.Node.State.STOPPED
    client.start_node(request={"name": made.name}).result(timeout=60)
    client.delete_node(name=made.name).result(timeout=60)
    assert list(client.list_nodes(parent=parent)) == []


def test_a_tpu_slice_is_queued_for(tpu):
    client = tpu.TpuClient(transport="rest")
    parent = f"projects/{PROJECT}/locations/us-west4-a"
    spec = tpu.QueuedResource.Tpu.NodeSpec(
        parent=parent,
        node_id="sdk-slice",
        node=tpu.Node(accelerator_type="v5litepod-16", runtime_version="v2-alpha-tpuv5-lite"),
    )
    wanted = tpu.QueuedResource(tpu={"node_spec": [spec]}, spot={})
    made = client.create_queued_resource(
        parent=parent, queued_resource=wanted, queued_resource_id="sdk-queue"
    ).result(timeout=60)
    active = tpu.QueuedResourceState.State.ACTIVE
    assert client.get_queued_resource(name=made.name).state.state == active
    assert len(client.get_node(name=f"{parent}/nodes/sdk-slice").network_endpoints) == 4
    client.delete_queued_resource(request={"name": made.name, "force": True}).result(timeout=60)
    assert list(client.list_queued_resources(parent=parent)) == []
