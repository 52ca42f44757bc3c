"""TrainingPipelines follow the CustomJob behind them."""

from __future__ import annotations

import pytest

from trainings import PARENT, Programs, Stand

DEFINITION = "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml"
PACKAGE = {
    "executor_image_uri": "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.1-13.py310:latest",
    "python_module": "aiplatform_custom_trainer_script.task",
    "package_uris": ["gs://shelf/aiplatform_custom_trainer_script-0.1.tar.gz"],
    "args": ["--epochs", "3"],
}


def pipeline(**inputs):
    """As google-cloud-aiplatform sends one: free-form inputs with underscores and nulls."""
    spec = {
        "machine_spec": {"machine_type": "n1-standard-4"},
        "replica_count": 1.0,
        "python_package_spec": PACKAGE,
    }
    return {
        "displayName": "train",
        "trainingTaskDefinition": DEFINITION,
        "trainingTaskInputs": {
            "worker_pool_specs": [spec],
            "base_output_directory": {"output_uri_prefix": "gs://shelf/out"},
            **inputs,
        },
    }


@pytest.fixture
def stand():
    return Stand()


def create(stand, body):
    status, answer = stand.ask("POST", f"{PARENT}/trainingPipelines", body)
    assert status == 200, answer
    return answer["name"]


def test_a_pipeline_succeeds_with_its_training(stand):
    name = create(stand, pipeline())
    shown = stand.get(name)
    assert shown["state"] == "PIPELINE_STATE_RUNNING"
    behind = stand.get(shown["trainingTaskMetadata"]["backingCustomJob"])
    assert behind["displayName"] == "train-custom-job"
    stand.later(61.0)
    shown = stand.get(name)
    assert shown["state"] == "PIPELINE_STATE_SUCCEEDED"
    assert shown["endTime"] == stand.get(behind["name"])["endTime"]


def test_a_package_is_fetched_and_run_by_a_program_in_the_machine():
    programs = Programs()
    stand = Stand(bodies=programs)
    create(stand, pipeline())
    stand.tick()
    boot = programs.boots[programs.named("-0")]
    assert boot.argv[:3] == ("python3", "/opt/vertex/run_package.py", PACKAGE["python_module"])
    assert boot.argv[-2:] == ("--epochs", "3")
    assert "/opt/vertex/run_package.py" in boot.files
    assert boot.environment["AIP_MODEL_DIR"] == "gs://shelf/out/model/"


def test_a_pipeline_with_a_model_uploads_it_at_its_end(stand):
    body = pipeline()
    model = {"displayName": "m", "containerSpec": {"imageUri": "x"}}
    name = create(stand, {**body, "modelToUpload": model})
    stand.later(61.0)
    uploaded = stand.get(name)["modelToUpload"]
    assert stand.get(uploaded["name"])["displayName"] == "m"
    _, answer = stand.ask("GET", f"{PARENT}/models")
    assert [one["name"] for one in answer["models"]] == [uploaded["name"]]


def test_a_pipeline_over_quota_fails_with_the_words_of_the_quota(stand):
    stand.quotas.set_limit("us-central1", "custom_model_training_cpus", 1)
    shown = stand.get(create(stand, pipeline()))
    assert shown["state"] == "PIPELINE_STATE_FAILED"
    assert shown["error"]["code"] == 8
    assert "custom_model_training_cpus" in shown["error"]["message"]


def test_a_pipeline_is_cancelled_with_its_training(stand):
    name = create(stand, pipeline())
    assert stand.ask("POST", f"/v1/{name}:cancel", {}) == (200, {})
    assert stand.get(name)["state"] == "PIPELINE_STATE_CANCELLED"


def test_a_pipeline_outlives_its_training(stand):
    name = create(stand, pipeline())
    stand.later(61.0)
    behind = stand.get(name)["trainingTaskMetadata"]["backingCustomJob"]
    assert stand.ask("DELETE", f"/v1/{behind}")[0] == 200
    assert stand.get(name)["state"] == "PIPELINE_STATE_SUCCEEDED"
    assert stand.ask("DELETE", f"/v1/{name}")[0] == 200
    assert stand.ask("GET", f"{PARENT}/trainingPipelines") == (200, {})


def test_scheduling_is_understood_as_the_sdk_sends_it(stand):
    scheduling = {
        "timeout": "100s",
        "restart_job_on_worker_restart": False,
        "strategy": 4.0,
        "max_wait_duration": None,
    }
    shown = stand.get(create(stand, pipeline(scheduling=scheduling)))
    behind = stand.get(shown["trainingTaskMetadata"]["backingCustomJob"])
    assert behind["jobSpec"]["scheduling"] == {
        "timeout": "100s",
        "restartJobOnWorkerRestart": False,
        "strategy": "SPOT",
    }


def test_a_pipeline_for_something_else_is_said_not_to_be_modelled(stand):
    body = {**pipeline(), "trainingTaskDefinition": DEFINITION.replace("custom", "automl")}
    assert stand.ask("POST", f"{PARENT}/trainingPipelines", body)[0] == 501


def test_a_pipeline_with_a_wrong_spec_is_refused(stand):
    status, answer = stand.ask(
        "POST", f"{PARENT}/trainingPipelines", {**pipeline(), "trainingTaskInputs": {}}
    )
    assert status == 400
    assert "worker_pool_specs" in answer["error"]["message"]
