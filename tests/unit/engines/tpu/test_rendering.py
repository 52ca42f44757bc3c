"""Queued resources in other words. gcloud forms are kept as golden files."""

from __future__ import annotations

import subprocess

import pytest

from rented import AGENT_URL, PROJECT, rented_claim
from windlass.catalog.load import load_catalog
from windlass.engines.tpu.rendering import calls, gcloud_script
from windlass.engines.tpu.request import TpuRequest, render

CLAIMS = {
    "spot": rented_claim("us-central1-a/v5e-16/spot", nodes=4),
    "on-demand": rented_claim("us-central2-b/v4-8/on-demand"),
    "multislice": rented_claim("us-central1-a/v5e-16/spot", nodes=8),
    "flex-start": rented_claim("us-east5-b/v6e-1/flex-start"),
    "reservation": rented_claim(
        "us-central2-b/v4-8/on-demand",
        buy="reservation/block-1",
        options={
            "service_account": "runs@lab.iam.gserviceaccount.com",
            "subnetwork": "research",
            "secure_boot": True,
            "kms_key": "projects/lab/locations/us-central2/keyRings/r/cryptoKeys/k",
        },
    ),
}


def rendered(name: str) -> TpuRequest:
    return render(
        CLAIMS[name], catalog=load_catalog(), defaults={}, agent_url=AGENT_URL, project=PROJECT
    )


@pytest.mark.parametrize("name", CLAIMS)
def test_the_command_of_gcloud_is_as_it_is_kept(name, golden):
    script = gcloud_script(rendered(name), project=PROJECT)
    subprocess.run(["bash", "-n", "-c", script], check=True)
    command = script[script.index("\ngcloud ") + 1 :]
    golden.check(f"tpu/{name}.gcloud.sh", command)


def test_the_script_is_in_a_file_of_its_own():
    request = rendered("spot")
    (spec,) = request.body["tpu"]["nodeSpec"]
    assert spec["node"]["metadata"]["startup-script"] in gcloud_script(request, project=PROJECT)


def test_a_request_is_one_call():
    (call,) = calls(rendered("flex-start"), project=PROJECT)
    assert call.url == (
        "https://tpu.googleapis.com/v2alpha1/projects/lab/locations/us-east5-b/queuedResources"
    )
    assert call.query["queuedResourceId"] == "w-train-1-0"
    assert call.body == rendered("flex-start").body
