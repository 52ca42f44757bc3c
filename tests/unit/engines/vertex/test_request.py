"""Custom trainings as they are asked for: golden files, and as Google's document has them."""

from __future__ import annotations

import dataclasses
import functools

import pytest

from rented import AGENT_URL, MADE_AT, PROJECT, readable, rented_claim
from windlass.catalog.load import load_catalog
from windlass.engines.vertex.request import VertexRequest, render
from windlass.engines.vertex.sold import ACCELERATORS
from windlass.errors import EngineRejected
from windlass.twin.discovery.api import load_api
from windlass.twin.discovery.check import check

RTX = next(
    offer.id
    for offer in load_catalog().all_offers()
    if offer.label == "g4-standard-48" and offer.buy.value == "flex-start"
)
SCHEMA = "GoogleCloudAiplatformV1CustomJob"
CLAIMS = {
    "spot": rented_claim("us-central1-a/g2-standard-4/spot", nodes=2),
    "flex-start": rented_claim("us-central1-a/a3-highgpu-8g/flex-start", nodes=4),
    "a3-high": rented_claim(
        "us-central1-a/a3-highgpu-8g/on-demand",
        nodes=2,
        options={
            "service_account": "runs@lab.iam.gserviceaccount.com",
            "network": "projects/123/global/networks/research",
            "kms_key": "projects/lab/locations/us-central1/keyRings/r/cryptoKeys/k",
            "disk_gb": 500,
        },
    ),
    "reservation": rented_claim("us-central1-a/a3-highgpu-8g/on-demand", buy="reservation/block-1"),
    "v5e-16": rented_claim("us-central1-a/v5e-16/on-demand", nodes=4),
}


@functools.cache
def rendered(name: str) -> VertexRequest:
    return render_claim(CLAIMS[name])


def render_claim(claim, **defaults) -> VertexRequest:
    return render(
        claim, catalog=load_catalog(), defaults=defaults, agent_url=AGENT_URL, project=PROJECT
    )


def script_of(request: VertexRequest) -> str:
    bash, option, script = request.body["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["command"]
    assert (bash, option) == ("bash", "-c")
    return script


@pytest.mark.parametrize("name", CLAIMS)
def test_a_request_is_rendered_as_it_is_kept(name, golden):
    golden.check(f"vertex/{name}.json", readable(dataclasses.asdict(rendered(name))))


def test_a_replicas_script_is_as_it_is_kept(golden):
    golden.check("vertex/spot.sh", script_of(rendered("spot")))


@pytest.mark.parametrize("name", CLAIMS)
def test_a_body_is_what_googles_document_says(name):
    assert check(load_api("aiplatform", "v1"), SCHEMA, rendered(name).body) == []


def test_the_accelerators_that_are_named_are_those_of_googles_document():
    spec = load_api("aiplatform", "v1").schemas["GoogleCloudAiplatformV1MachineSpec"]
    assert set(spec["properties"]["acceleratorType"]["enum"]) >= ACCELERATORS


def test_the_first_replica_has_a_pool_of_its_own():
    first, second = rendered("flex-start").body["jobSpec"]["workerPoolSpecs"]
    assert (first["replicaCount"], second["replicaCount"]) == ("1", "3")
    assert first["machineSpec"] == second["machineSpec"]


def test_a_slice_is_one_replica_by_its_topology():
    (pool,) = rendered("v5e-16").body["jobSpec"]["workerPoolSpecs"]
    assert pool["machineSpec"] == {"machineType": "ct5lp-hightpu-4t", "tpuTopology": "4x4"}
    assert pool["replicaCount"] == "1"


@pytest.mark.parametrize("name", CLAIMS)
def test_nobody_but_the_controller_restarts(name):
    scheduling = rendered(name).body["jobSpec"]["scheduling"]
    assert (scheduling["disableRetries"], scheduling["restartJobOnWorkerRestart"]) == (True, False)


def test_a_training_ends_with_its_claim_however_long_it_has_waited():
    request = rendered("flex-start")
    assert request.body["jobSpec"]["scheduling"]["timeout"] == "86425s"
    assert f"expire.py {MADE_AT + 86_400:.0f} " in script_of(request)


@pytest.mark.parametrize(
    ("zone", "registry"),
    [("us-central1-a", "us"), ("europe-west4-a", "europe"), ("asia-southeast1-b", "asia")],
)
def test_the_image_comes_from_a_registry_nearby(zone, registry):
    request = render_claim(rented_claim(f"{zone}/g2-standard-4/spot"))
    image = request.body["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["imageUri"]
    assert image.startswith(f"{registry}-docker.pkg.dev/vertex-ai/training/pytorch-gpu.")


def test_another_image_may_be_named():
    claim = rented_claim("us-central1-a/g2-standard-4/spot", options={"image": "lab/own:1"})
    pool = render_claim(claim).body["jobSpec"]["workerPoolSpecs"][0]
    assert pool["containerSpec"]["imageUri"] == "lab/own:1"
    claim = dataclasses.replace(claim, options={}, image="spec/own:2")
    pool = render_claim(claim).body["jobSpec"]["workerPoolSpecs"][0]
    assert pool["containerSpec"]["imageUri"] == "spec/own:2", "the spec's `image`"


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (rented_claim("us-central1-a/v5e-16/on-demand", nodes=8), "trains on one slice"),
        (rented_claim("us-central1-a/v5e-16/spot", nodes=4), "does not sell v5e-16 as spot"),
        (rented_claim("us-east5-b/v6e-1/flex-start"), "does not sell v6e-1 as flex-start"),
        (rented_claim(RTX), "does not sell g4-standard-48 as flex-start"),
        (rented_claim("us-central2-b/v4-8/spot"), "does not train on v4-8"),
        (rented_claim(""), "names nothing to rent"),
        (rented_claim("us-central1-a/g2-standard-4/spot", options={"x": 1}), "no option 'x'"),
    ],
    ids=[
        "two slices",
        "hosts that may be taken back one by one",
        "a slice that is waited for",
        "a GPU that is not waited for",
        "a TPU that is not sold",
        "no offer",
        "unknown option",
    ],
)
def test_what_vertex_ai_cannot_do_is_refused(claim, why):
    with pytest.raises(EngineRejected) as refused:
        render_claim(claim)
    assert why in refused.value.message


def test_nodes_are_told_where_secrets_are_and_no_value(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "the-value-itself")
    claim = rented_claim("us-central1-a/g2-standard-4/spot", secrets={"TOKEN": "HF_TOKEN"})
    text = str(render_claim(claim))
    assert '"TOKEN": "projects/lab/secrets/HF_TOKEN/versions/latest"' in text
    assert "the-value-itself" not in text


def test_a_slice_of_one_host_can_be_had_as_spot():
    request = render_claim(rented_claim("us-central1-a/v5e-4/spot"))
    assert request.body["jobSpec"]["scheduling"]["strategy"] == "SPOT"


def test_only_what_is_waited_for_has_an_end_of_its_wait():
    plans = {name: rendered(name).body["jobSpec"]["scheduling"] for name in CLAIMS}
    assert [name for name in CLAIMS if "maxWaitDuration" in plans[name]] == ["flex-start"]
