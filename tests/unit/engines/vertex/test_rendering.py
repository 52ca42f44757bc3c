"""Custom trainings in other words. The gcloud form is kept as a golden file."""

from __future__ import annotations

import json
import subprocess

from rented import AGENT_URL, PROJECT, rented_claim
from windlass.catalog.load import load_catalog
from windlass.engines.vertex.rendering import calls, gcloud_script
from windlass.engines.vertex.request import VertexRequest, render

CLAIM = rented_claim(
    "us-central1-a/a3-highgpu-8g/flex-start",
    nodes=2,
    options={"kms_key": "projects/lab/locations/us-central1/keyRings/r/cryptoKeys/k"},
)


def rendered() -> VertexRequest:
    return render(CLAIM, catalog=load_catalog(), defaults={}, agent_url=AGENT_URL, project=PROJECT)


def test_the_command_of_gcloud_is_as_it_is_kept(golden):
    script = gcloud_script(rendered(), project=PROJECT)
    subprocess.run(["bash", "-n", "-c", script], check=True)
    golden.check("vertex/flex-start.gcloud.sh", script[script.index("\ngcloud ") + 1 :])


def test_gcloud_reads_the_same_from_a_file():
    script = gcloud_script(rendered(), project=PROJECT)
    config = script[script.index("{") : script.index("\nWINDLASS_FILE")]
    assert json.loads(config) == rendered().body["jobSpec"]


def test_a_request_is_one_call():
    (call,) = calls(rendered(), project=PROJECT)
    assert call.url == (
        "https://us-central1-aiplatform.googleapis.com/v1/projects/lab/locations/us-central1"
        "/customJobs"
    )
    assert call.body == rendered().body
