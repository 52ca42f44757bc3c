"""CustomJobs wait, run, are restarted and end as at Google."""

from __future__ import annotations

import json

import pytest

from trainings import PARENT, START, Programs, Stand, one_replica, pool
from windlass.catalog.load import load_catalog
from windlass.twin.journal import SqliteJournal
from windlass.twin.machine import State
from windlass.twin.market import Rule
from windlass.twin.settings import Delays

SPOT = {"strategy": "SPOT"}


@pytest.fixture
def programs():
    return Programs()


@pytest.fixture
def stand(programs):
    return Stand(bodies=programs)


def machine_of(stand, name, replica="workerpool0-0"):
    training = stand.vertex.trainings.find(name)
    return stand.fleet.get(training.replicas[replica])


def test_a_training_goes_through_its_states_in_order():
    stand = Stand(delays=Delays(replica=100.0))
    name = stand.create()
    seen = [stand.vertex.trainings.find(name).state]
    for seconds in (1.0, 100.0, 61.0):
        stand.later(seconds)
        seen.append(stand.get(name)["state"])
    states = ["QUEUED", "PENDING", "RUNNING", "SUCCEEDED"]
    assert seen == [f"JOB_STATE_{state}" for state in states]
    shown = stand.get(name)
    assert shown["createTime"] == "2027-01-15T08:00:00.000Z"
    assert shown["startTime"] == "2027-01-15T08:01:40.000Z"
    assert shown["endTime"] == shown["updateTime"] == "2027-01-15T08:02:40.000Z"
    assert "error" not in shown
    assert stand.fleet.all() == []


def test_machines_come_from_a_zone_that_has_their_type(programs):
    stand = Stand(bodies=programs)
    name = stand.create({"workerPoolSpecs": [pool("a3-ultragpu-8g")]})
    stand.later(1.0)
    # The catalog sells it in no other zone of the region.
    assert machine_of(stand, name).wanted.zone == "us-central1-b"


def test_a_replica_without_processes_runs_as_long_as_a_label_says():
    stand = Stand()
    name = stand.create(labels={"twin-seconds": "600"})
    stand.later(599.0)
    assert stand.get(name)["state"] == "JOB_STATE_RUNNING"
    stand.later(2.0)
    assert stand.get(name)["state"] == "JOB_STATE_SUCCEEDED"


def test_a_replica_without_processes_fails_when_a_label_says_so():
    stand = Stand()
    name = stand.create(labels={"twin-exit-status": "3"})
    stand.later(61.0)
    assert stand.get(name)["state"] == "JOB_STATE_FAILED"
    assert "non-zero status of 3." in stand.get(name)["error"]["message"]


def test_the_end_of_the_primary_replica_is_the_end_of_the_training(stand, programs):
    spec = {"workerPoolSpecs": [pool(), pool(replicas=2)]}
    name = stand.create(spec)
    stand.tick()
    assert stand.get(name)["state"] == "JOB_STATE_RUNNING"
    programs.statuses[machine_of(stand, name, "workerpool1-0").id] = 0
    stand.tick()
    assert stand.get(name)["state"] == "JOB_STATE_RUNNING"
    programs.statuses[machine_of(stand, name).id] = 0
    stand.tick()
    assert stand.get(name)["state"] == "JOB_STATE_SUCCEEDED"
    assert programs.running == []


def test_a_replica_that_fails_fails_the_training_in_googles_words(stand, programs):
    spec = {"workerPoolSpecs": [pool(), pool(replicas=2)]}
    name = stand.create(spec)
    stand.tick()
    programs.statuses[machine_of(stand, name, "workerpool1-1").id] = 1
    stand.tick()
    shown = stand.get(name)
    number = name.rpartition("/")[2]
    assert shown["state"] == "JOB_STATE_FAILED"
    assert shown["error"]["code"] == 3
    assert shown["error"]["message"].startswith(
        "The replica workerpool1-1 exited with a non-zero status of 1. To find out more about why "
        "your job exited please check the logs: https://console.cloud.google.com/logs/viewer?"
        f"project=415926535897&resource=ml_job%2Fjob_id%2F{number}&advancedFilter="
    )
    assert programs.running == []


def test_a_replica_gets_its_command_and_what_vertex_ai_sets(stand, programs):
    spec = {
        "workerPoolSpecs": [pool(), pool(replicas=2)],
        "baseOutputDirectory": {"outputUriPrefix": "gs://shelf/out/"},
    }
    spec["workerPoolSpecs"][1]["containerSpec"]["env"] = [{"name": "LOG", "value": "info"}]
    name = stand.create(spec)
    stand.tick()
    boot = programs.boots[machine_of(stand, name, "workerpool1-1").id]
    assert boot.argv == ("python", "train.py", "--epochs=1")
    assert boot.environment["LOG"] == "info"
    assert boot.environment["AIP_MODEL_DIR"] == "gs://shelf/out/model/"
    assert boot.environment["AIP_CHECKPOINT_DIR"] == "gs://shelf/out/checkpoints/"
    assert boot.environment["CLOUD_ML_JOB_ID"] == name.rpartition("/")[2]
    cluster = json.loads(boot.environment["CLUSTER_SPEC"])
    assert cluster["task"] == {"type": "workerpool1", "index": 1}
    assert [len(hosts) for hosts in cluster["cluster"].values()] == [1, 2]
    assert cluster["cluster"]["workerpool1"][1] == f"{boot.hostname}:2222"
    primary = machine_of(stand, name)
    assert boot.neighbours[cluster["cluster"]["workerpool0"][0].partition(":")[0]] == primary.id
    assert len(boot.neighbours) == 2
    tensorflow = json.loads(boot.environment["TF_CONFIG"])
    assert tensorflow["task"] == {"type": "worker", "index": 1}
    assert list(tensorflow["cluster"]) == ["chief", "worker"]


def test_what_a_replica_prints_is_logged_line_by_line(stand, programs):
    name = stand.create()
    stand.tick()
    machine = machine_of(stand, name)
    programs.printed[machine.id] = b"step 1\nstep 2\nste"
    stand.tick()
    programs.printed[machine.id] += b"p 3"
    programs.statuses[machine.id] = 0
    stand.tick()
    number = name.rpartition("/")[2]
    query = f'resource.type="ml_job" AND resource.labels.job_id="{number}"'
    entries = stand.read_logs(f'{query} AND resource.labels.task_name="workerpool0-0"')
    assert [entry["jsonPayload"]["message"] for entry in entries] == ["step 1", "step 2", "step 3"]
    said = [entry["jsonPayload"]["message"] for entry in stand.read_logs(query)]
    assert any("its container image is not used" in text for text in said)
    assert said[-1] == "Job completed successfully."


def test_a_cancelled_training_is_over_when_its_machines_which_are_told_have_ended(stand, programs):
    name = stand.create()
    stand.tick()
    machine = machine_of(stand, name)
    assert stand.ask("POST", f"/v1/{name}:cancel", {}) == (200, {})
    assert stand.get(name)["state"] == "JOB_STATE_CANCELLING"
    assert programs.warned == [machine.id]
    stand.later(31.0)
    assert programs.running == []
    shown = stand.get(name)
    assert shown["state"] == "JOB_STATE_CANCELLED"
    assert shown["error"] == {"code": 1, "message": "CANCELED"}


def test_cancelling_takes_as_long_as_stopping():
    stand = Stand(delays=Delays(stop=20.0))
    name = stand.create()
    stand.ask("POST", f"/v1/{name}:cancel", {})
    assert stand.get(name)["state"] == "JOB_STATE_CANCELLING"
    stand.later(21.0)
    assert stand.get(name)["state"] == "JOB_STATE_CANCELLED"


def test_cancelling_one_that_is_over_changes_nothing():
    stand = Stand()
    name = stand.create()
    stand.later(61.0)
    before = stand.get(name)
    assert stand.ask("POST", f"/v1/{name}:cancel", {}) == (200, {})
    assert stand.get(name) == before


def test_a_training_that_fits_nowhere_fails_for_want_of_resources():
    stand = Stand()
    stand.market.add(Rule(zone="us-central1-*", what="nvidia-l4", room=0))
    spec = {"workerPoolSpecs": [pool("g2-standard-8")]}
    error = stand.get(stand.create(spec))["error"]
    assert error == {
        "code": 8,
        "message": "Resources are insufficient in region: us-central1. Please try a different "
        "region or use a different accelerator.",
    }


def test_machines_are_searched_for_before_a_training_is_refused():
    stand = Stand(delays=Delays(search=300.0))
    rule = Rule(zone="us-central1-*", what="nvidia-l4", room=0)
    stand.market.add(rule._replace(until=stand.clock.now() + 100.0))
    found = stand.create({"workerPoolSpecs": [pool("g2-standard-8")]})
    stand.later(99.0)
    assert stand.get(found)["state"] == "JOB_STATE_PENDING"
    stand.later(30.0)
    assert stand.get(found)["state"] == "JOB_STATE_RUNNING"
    stand.market.add(rule)
    refused = stand.create({"workerPoolSpecs": [pool("g2-standard-8")]})
    stand.later(299.0)
    assert stand.get(refused)["state"] == "JOB_STATE_PENDING"
    stand.later(2.0)
    assert stand.get(refused)["error"]["message"].startswith("Resources are insufficient")


def test_a_training_takes_a_zone_that_has_room_for_all_of_it():
    stand = Stand()
    zones = stand.vertex.trainings._kinds.zones["us-central1"]
    stand.market.add(Rule(zone=zones[0], what="nvidia-l4", room=2))
    spec = {"workerPoolSpecs": [pool("g2-standard-8"), pool("g2-standard-8", 2)]}
    name = stand.create(spec)
    stand.later(0.0)
    assert machine_of(stand, name).wanted.zone == zones[1]


def test_a_flexible_start_waits_for_machines_until_they_come():
    stand = Stand()
    until = START + 1000.0
    stand.market.add(Rule(zone="us-central1-*", what="nvidia-l4", room=0, until=until))
    scheduling = {"strategy": "FLEX_START", "maxWaitDuration": "3600s"}
    name = stand.create({"workerPoolSpecs": [pool("g2-standard-8")], "scheduling": scheduling})
    stand.later(900.0)
    assert stand.get(name)["state"] == "JOB_STATE_PENDING"
    stand.later(200.0)
    assert stand.get(name)["state"] in ("JOB_STATE_RUNNING", "JOB_STATE_SUCCEEDED")


def test_a_flexible_start_gives_up_after_its_longest_wait():
    stand = Stand()
    stand.market.add(Rule(zone="us-central1-*", what="nvidia-l4", room=0))
    scheduling = {"strategy": "FLEX_START", "maxWaitDuration": "100s"}
    name = stand.create({"workerPoolSpecs": [pool("g2-standard-8")], "scheduling": scheduling})
    stand.later(101.0)
    shown = stand.get(name)
    assert shown["state"] == "JOB_STATE_FAILED"
    assert shown["endTime"] == "2027-01-15T08:01:40.000Z"


def test_a_preempted_training_starts_again_as_a_whole(stand, programs):
    spec = {"workerPoolSpecs": [pool(), pool()], "scheduling": SPOT}
    name = stand.create(spec)
    stand.tick()
    first = machine_of(stand, name)
    stand.fleet.preempt(machine_of(stand, name, "workerpool1-0"))
    stand.later(31.0)
    shown = stand.get(name)
    assert shown["state"] == "JOB_STATE_RUNNING"
    assert shown["startTime"] == "2027-01-15T08:00:00.000Z"
    assert stand.fleet.get(first.id) is None
    assert len(programs.running) == 2
    programs.statuses[machine_of(stand, name).id] = 0
    stand.tick()
    assert stand.get(name)["state"] == "JOB_STATE_SUCCEEDED"


def test_a_program_that_heeds_the_notice_has_not_failed(stand, programs):
    name = stand.create(one_replica(**SPOT))
    stand.tick()
    machine = machine_of(stand, name)
    stand.fleet.preempt(machine)
    programs.statuses[machine.id] = 75
    stand.tick()
    stand.tick()
    assert stand.get(name)["state"] == "JOB_STATE_RUNNING"
    assert machine_of(stand, name).id != machine.id


def test_a_preempted_training_without_retries_fails(stand):
    name = stand.create(one_replica(strategy="SPOT", disableRetries=True))
    stand.tick()
    stand.fleet.preempt(machine_of(stand, name))
    stand.later(31.0)
    shown = stand.get(name)
    assert shown["state"] == "JOB_STATE_FAILED"
    assert shown["error"]["code"] == 8
    assert "preempted" in shown["error"]["message"]


def test_a_training_is_preempted_six_times_and_not_more(stand):
    name = stand.create(one_replica(**SPOT))
    for _ in range(7):
        stand.tick()
        assert stand.get(name)["state"] == "JOB_STATE_RUNNING"
        stand.fleet.preempt(machine_of(stand, name))
        stand.later(31.0)
    assert stand.get(name)["state"] == "JOB_STATE_FAILED"


def test_a_preempted_training_looks_for_machines_a_few_times(stand):
    name = stand.create(one_replica(**SPOT))
    stand.tick()
    stand.market.add(Rule(zone="us-central1-*", room=0, until=stand.clock.now() + 200.0))
    stand.later(61.0)
    assert stand.get(name)["state"] == "JOB_STATE_PENDING"
    stand.later(200.0)
    assert stand.get(name)["state"] == "JOB_STATE_RUNNING"


@pytest.mark.parametrize(("is_whole", "others"), [(False, "stay"), (True, "start again")])
def test_of_a_host_that_dies_only_the_worker_starts_again(stand, is_whole, others):
    spec = {
        "workerPoolSpecs": [pool(), pool()],
        "scheduling": {"restartJobOnWorkerRestart": is_whole},
    }
    name = stand.create(spec)
    stand.tick()
    primary = machine_of(stand, name)
    stand.fleet.fail(machine_of(stand, name, "workerpool1-0"))
    stand.tick()
    assert stand.get(name)["state"] == "JOB_STATE_RUNNING"
    assert (machine_of(stand, name).id == primary.id) == (others == "stay")


def test_a_training_ends_at_its_timeout(stand, programs):
    name = stand.create(one_replica(timeout="3600s"))
    stand.tick()
    stand.later(3601.0)
    shown = stand.get(name)
    assert shown["state"] == "JOB_STATE_FAILED"
    assert shown["error"] == {"code": 4, "message": "The job has exceeded its timeout of 3600s."}
    assert programs.running == []


def test_the_same_seed_gives_the_same_life():
    def life():
        stand = Stand()
        stand.market.add(Rule(hazard_per_h=20.0, model="SPOT"))
        name = stand.create(one_replica(**SPOT), labels={"twin-seconds": "900"})
        stand.later(7200.0)
        return stand.get(name), stand.read_logs()

    assert life() == life()


def test_a_training_outlives_the_twin(tmp_path):
    journal = SqliteJournal(tmp_path / "twin.db")
    stand = Stand(journal=journal)
    name = stand.create()
    stand.later(30.0)
    assert stand.get(name)["state"] == "JOB_STATE_RUNNING"
    journal.close()
    again = Stand(journal=SqliteJournal(tmp_path / "twin.db"), clock=stand.clock)
    assert again.get(name)["state"] == "JOB_STATE_RUNNING"
    assert [machine.state for machine in again.fleet.all()] == [State.RUNNING]
    again.later(31.0)
    assert again.get(name)["state"] == "JOB_STATE_SUCCEEDED"
    assert len(again.read_logs()) == 3


def test_a_replica_that_cannot_be_started_again_ends_all_the_same(tmp_path, programs):
    journal = SqliteJournal(tmp_path / "twin.db")
    stand = Stand(bodies=programs, journal=journal)
    name = stand.create()
    stand.tick()
    journal.close()
    fewer = Programs()
    fewer.is_full = True
    again = Stand(bodies=fewer, journal=SqliteJournal(tmp_path / "twin.db"), clock=stand.clock)
    again.fleet.revive()
    again.tick()
    assert again.get(name)["state"] == "JOB_STATE_RUNNING"
    again.later(61.0)
    assert again.get(name)["state"] == "JOB_STATE_SUCCEEDED"


def test_replicas_use_none_of_compute_engines_quota(stand):
    stand.create({"workerPoolSpecs": [pool("g2-standard-8")]})
    stand.tick()
    assert len(stand.fleet.all()) == 1
    assert stand.quotas.usage("us-central1", "NVIDIA_L4_GPUS") == 0


def test_lists_are_of_one_region():
    stand = Stand()
    stand.create()
    other = PARENT.replace("us-central1", "europe-west4")
    host = "europe-west4-aiplatform.googleapis.com"
    assert stand.ask("GET", f"{other}/customJobs", host=host) == (200, {})


def test_the_bill_has_vertex_ais_fee_on_the_on_demand_price():
    stand = Stand()
    stand.create({"workerPoolSpecs": [pool("g2-standard-8")], "scheduling": SPOT})
    stand.later(3600.0)
    (line,) = stand.billing.lines()
    spot, listed = (
        load_catalog().offer(f"{line['zone']}/g2-standard-8/{buy}").usd_per_h
        for buy in ("spot", "on-demand")
    )
    assert line["usd"] == pytest.approx(line["hours"] * (spot + 0.15 * listed))
