"""google-cloud-aiplatform, -container, -logging and -secret-manager, each a life cycle."""

from __future__ import annotations

from pathlib import Path

import pytest

from client_twin import ClientTwin, need_package
from patience import wait_until

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("env")]

PROJECT = "twin-project"
REGION = "us-central1"
SCRIPT = """
import os, sys
print("epochs", sys.argv[1:])
print("model goes to", os.environ["AIP_MODEL_DIR"])
"""


@pytest.mark.usefixtures("machines")
def test_a_training_job_of_vertex_ai_succeeds(env: ClientTwin, tmp_path: Path):
    aiplatform = need_package("google.cloud.aiplatform")
    storage = need_package("google.cloud.storage")
    storage.Client().create_bucket("sdk-staging", location=REGION)
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    aiplatform.init(
        project=PROJECT, location=REGION, staging_bucket="gs://sdk-staging", api_transport="rest"
    )
    training = aiplatform.CustomTrainingJob(
        display_name="my-custom-training",
        script_path=str(script),
        container_uri="us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.1-13.py310:latest",
    )
    training.run(
        args=["--epochs=3"],
        replica_count=1,
        machine_type="a2-highgpu-1g",
        accelerator_type="NVIDIA_TESLA_A100",
        accelerator_count=1,
        base_output_dir="gs://sdk-staging/out",
        sync=True,
    )
    assert training.state.name == "PIPELINE_STATE_SUCCEEDED"
    found = aiplatform.CustomTrainingJob.list(filter='display_name="my-custom-training"')
    assert [one.resource_name for one in found] == [training.resource_name]
    training.delete()


def test_a_cluster_of_gke_lives():
    container = need_package("google.cloud.container_v1")
    client = container.ClusterManagerClient(transport="rest")
    parent = f"projects/{PROJECT}/locations/us-central1-c"
    name = f"{parent}/clusters/sdk-cluster"

    def finish(operation) -> None:
        place = f"{parent}/operations/{operation.name}"
        done = container.Operation.Status.DONE
        wait_until(lambda: client.get_operation(name=place).status == done)

    cluster = container.Cluster(name="sdk-cluster", initial_node_count=1)
    finish(client.create_cluster(parent=parent, cluster=cluster))
    assert client.get_cluster(name=name).status == container.Cluster.Status.RUNNING
    pool = container.NodePool(
        name="gpus",
        initial_node_count=1,
        config=container.NodeConfig(
            machine_type="g2-standard-4",
            spot=True,
            accelerators=[
                container.AcceleratorConfig(accelerator_type="nvidia-l4", accelerator_count=1)
            ],
        ),
    )
    finish(client.create_node_pool(parent=name, node_pool=pool))
    pools = client.list_node_pools(parent=name).node_pools
    assert [one.name for one in pools] == ["default-pool", "gpus"]
    finish(client.set_node_pool_size(request={"name": f"{name}/nodePools/gpus", "node_count": 2}))
    finish(client.delete_node_pool(name=f"{name}/nodePools/gpus"))
    finish(client.delete_cluster(name=name))
    clusters = client.list_clusters(parent=parent).clusters
    assert [one.name for one in clusters] == []


def test_logs_are_written_and_read():
    logs = need_package("google.cloud.logging")
    client = logs.Client(_use_grpc=False)
    logger = client.logger("sdk-log")
    logger.log_text("hello", severity="WARNING", labels={"by": "sdk"})
    logger.log_struct({"message": "step", "loss": 0.5})
    # The first time, the library also says who it is.
    ours = 'log_id("sdk-log") AND NOT jsonPayload."logging.googleapis.com/diagnostic":*'
    found = list(client.list_entries(filter_=ours, order_by=logs.ASCENDING))
    assert [one.payload for one in found] == ["hello", {"message": "step", "loss": 0.5}]
    assert (found[0].severity, found[0].labels["by"]) == ("WARNING", "sdk")
    severe = client.list_entries(filter_=f"{ours} AND severity>=WARNING")
    assert [one.payload for one in severe] == ["hello"]
    logger.delete()
    assert list(client.list_entries(filter_='log_id("sdk-log")')) == []


def test_a_secret_lives(env: ClientTwin):
    secrets = need_package("google.cloud.secretmanager_v1")
    exceptions = need_package("google.api_core.exceptions")
    # A project's owner: editors, which the account for programs is, may not read what is secret.
    credentials = need_package("google.oauth2.credentials").Credentials(env.token)
    client = secrets.SecretManagerServiceClient(transport="rest", credentials=credentials)
    parent = f"projects/{PROJECT}"
    secret = client.create_secret(
        parent=parent, secret_id="sdk-secret", secret={"replication": {"automatic": {}}}
    )
    client.add_secret_version(parent=secret.name, payload={"data": b"one"})
    second = client.add_secret_version(parent=secret.name, payload={"data": b"two"})
    latest = client.access_secret_version(name=f"{secret.name}/versions/latest")
    assert (latest.name, latest.payload.data) == (second.name, b"two")
    client.disable_secret_version(name=second.name)
    with pytest.raises(exceptions.BadRequest):
        client.access_secret_version(name=second.name)
    client.destroy_secret_version(name=second.name)
    states = [one.state.name for one in client.list_secret_versions(parent=secret.name)]
    assert states == ["DESTROYED", "ENABLED"]
    client.delete_secret(name=secret.name)
    assert "sdk-secret" not in [one.name for one in client.list_secrets(parent=parent)]
