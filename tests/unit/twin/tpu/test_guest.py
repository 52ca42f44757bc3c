from __future__ import annotations

from slices import V4, Bodies, Slices

NODES = f"/locations/{V4}/nodes"


def environment(attributes: dict[str, str]) -> dict[str, str]:
    """As libraries on TPU VMs read `tpu-env`."""
    lines = (line.partition(":") for line in attributes["tpu-env"].splitlines())
    return {name: value.strip().strip("'") for name, _, value in lines}


def test_workers_know_who_they_are_and_where_the_others_are() -> None:
    twin = Slices(bodies=Bodies())
    twin.create("pod", "v4-32", metadata={"mine": "yes"})
    workers = twin.workers("pod")
    found = [twin.tpu.guest.attributes(worker) for worker in workers]
    assert [one["agent-worker-number"] for one in found] == ["0", "1", "2", "3"]
    peers = [one.rpartition(":")[2] for one in found[3]["worker-network-endpoints"].split(",")]
    assert peers == [worker.address for worker in workers]
    assert found[0]["accelerator-type"] == "v4-32"
    assert found[0]["mine"] == "yes"
    values = environment(found[2])
    assert values["WORKER_ID"] == "2"
    assert values["TPU_PROCESS_BOUNDS"] == "1,1,4"
    assert values["TPU_CHIPS_PER_PROCESS_BOUNDS"] == "2,2,1"
    assert "MEGASCALE_NUM_SLICES" not in values


def test_slices_that_work_together_know_of_each_other() -> None:
    twin = Slices()
    spec = {"multisliceParams": {"nodeCount": 3, "nodeIdPrefix": "part"}}
    twin.enqueue("q", "v4-16", spec=spec)
    values = environment(twin.tpu.guest.attributes(twin.workers("part-2")[1]))
    first = twin.node("part-0")["networkEndpoints"][0]["ipAddress"]
    assert values["MEGASCALE_COORDINATOR_ADDRESS"] == f"{first}:8080"
    assert (values["MEGASCALE_NUM_SLICES"], values["MEGASCALE_SLICE_ID"]) == ("3", "2")


def test_worker_is_described_to_its_metadata_server() -> None:
    twin = Slices()
    account = {"email": "robot@x.iam.gserviceaccount.com", "scope": ["s"]}
    network = {"network": "mine", "enableExternalIps": False}
    twin.create("pod", "v4-16", serviceAccount=account, networkConfig=network, tags=["t"])
    found = twin.tpu.guest.described(twin.workers("pod")[1])
    assert found is not None
    assert found.name.endswith("-w-1")
    assert (found.service_account, found.scopes) == (account["email"], ["s"])
    assert (found.network, found.external_address, found.zone) == ("mine", "", V4)
    assert found.project_attributes == {"ssh-keys": "me:ssh-rsa AAAA"}
    assert found.is_preempted is False


def test_machine_of_a_node_that_is_gone_is_nobody() -> None:
    twin = Slices()
    twin.create("one", "v4-8")
    (worker,) = twin.workers("one")
    twin.tpu.guest.set_guest_attribute(worker, "a/b", "c")
    twin.done("DELETE", f"{NODES}/one")
    assert twin.tpu.guest.described(worker) is None
    assert twin.tpu.guest.guest_attributes(worker) is None
    assert twin.tpu.guest.attributes(worker) == {}


def test_what_workers_tell_is_read_through_the_api() -> None:
    twin = Slices()
    twin.create("pod", "v4-16")
    assert twin.done("POST", f"{NODES}/pod:getGuestAttributes", {"workerIds": [""]}) == {}
    for number, worker in enumerate(twin.workers("pod")):
        twin.tpu.guest.set_guest_attribute(worker, "hostkeys/ssh-rsa", f"key{number}")
        twin.tpu.guest.set_guest_attribute(worker, "other/x", "y")
    asked = {"queryPath": "hostkeys/", "workerIds": ["1"]}
    answer = twin.done("POST", f"{NODES}/pod:getGuestAttributes", asked)
    (found,) = answer["guestAttributes"]
    assert found["queryValue"]["items"] == [
        {"namespace": "hostkeys", "key": "ssh-rsa", "value": "key1"}
    ]
    twin.tpu.guest.set_guest_attribute(twin.workers("pod")[0], "other/x", None)
    assert twin.tpu.guest.guest_attributes(twin.workers("pod")[0]) == {"hostkeys/ssh-rsa": "key0"}
