"""Queued resources as they are asked for: kept as golden files, and as Google's documents have
them."""

from __future__ import annotations

import dataclasses
import functools

import pytest

from rented import AGENT_URL, MADE_AT, PROJECT, readable, rented_claim
from windlass.catalog.load import load_catalog
from windlass.engines.tpu.request import TpuRequest, queued_name, render
from windlass.errors import EngineRejected
from windlass.twin.discovery.api import load_api
from windlass.twin.discovery.check import check

CLAIMS = {
    "v4-8": rented_claim("us-central2-b/v4-8/on-demand"),
    "v5litepod-16": rented_claim("us-central1-a/v5e-16/spot", nodes=4),
    "v6e-256": rented_claim(
        "us-east5-b/v6e-256/spot",
        nodes=64,
        options={
            "service_account": "runs@lab.iam.gserviceaccount.com",
            "network": "research",
            "subnetwork": "research-us-east5",
            "kms_key": "projects/lab/locations/us-east5/keyRings/r/cryptoKeys/k",
            "secure_boot": True,
        },
    ),
    "multislice": rented_claim("us-central1-a/v5e-16/spot", nodes=8),
    "flex-start": rented_claim("us-east5-b/v6e-1/flex-start"),
    "flex-start-multislice": rented_claim("us-east5-b/v6e-1/flex-start", nodes=2),
    "reservation": rented_claim("us-central2-b/v4-8/on-demand", buy="reservation/block-1"),
}


@functools.cache
def rendered(name: str) -> TpuRequest:
    return render_claim(CLAIMS[name])


def render_claim(claim, **defaults) -> TpuRequest:
    return render(
        claim, catalog=load_catalog(), defaults=defaults, agent_url=AGENT_URL, project=PROJECT
    )


def script_of(request: TpuRequest) -> str:
    return request.body["tpu"]["nodeSpec"][0]["node"]["metadata"]["startup-script"]


@pytest.mark.parametrize("name", CLAIMS)
def test_a_request_is_rendered_as_it_is_kept(name, golden):
    golden.check(f"tpu/{name}.json", readable(dataclasses.asdict(rendered(name))))


def test_a_workers_script_is_as_it_is_kept(golden):
    golden.check("tpu/multislice.sh", script_of(rendered("multislice")))


@pytest.mark.parametrize("name", CLAIMS)
def test_a_body_is_what_googles_document_says(name):
    request = rendered(name)
    assert check(load_api("tpu", request.version), "QueuedResource", request.body) == []


def test_names_hold_the_claim_and_leave_room_for_the_number_of_a_slice():
    long = queued_name(f"{'long-name-' * 9}x7k2p-12-1")
    assert queued_name("train-1-0") == "w-train-1-0"
    assert len(long) == 58
    assert long != queued_name(f"{'long-name-' * 9}x7k2p-12-2")


def test_several_slices_are_asked_for_together():
    (spec,) = rendered("multislice").body["tpu"]["nodeSpec"]
    assert spec["multisliceParams"] == {"nodeCount": 2, "nodeIdPrefix": "w-train-1-0"}
    assert '"slice_hosts": 4' in script_of(rendered("multislice"))


def test_a_request_that_waits_is_not_granted_after_the_claims_end():
    assert rendered("v4-8").body["queueingPolicy"] == {"validUntilDuration": "86400s"}


def test_workers_know_when_everything_has_to_be_given_back():
    script = script_of(rendered("v4-8"))
    assert f"expire.py {MADE_AT + 86_400:.0f} " in script
    url = "https://tpu.googleapis.com/v2/projects/lab/locations/us-central2-b/queuedResources"
    assert f"give_back.py '{url}/w-train-1-0?force=true'" in script


def test_flex_start_runs_for_a_week_at_most():
    request = render_claim(rented_claim("us-east5-b/v6e-1/flex-start", hours=400))
    assert request.version == "v2alpha1"
    assert request.body["runDuration"] == {"maxRunDuration": "604800s"}


def test_a_run_without_an_end_gets_one_of_a_week():
    claim = dataclasses.replace(CLAIMS["v4-8"], expires_at=None)
    assert render_claim(claim).body["queueingPolicy"] == {"validUntilDuration": "604800s"}


def test_the_configurations_options_are_under_those_of_the_spec():
    claim = rented_claim("us-central2-b/v4-8/spot", options={"network": "mine"})
    node = render_claim(claim, network="ours", runtime_version="tpu-vm-base").body["tpu"][
        "nodeSpec"
    ][0]["node"]
    assert node["networkConfig"] == {"network": "mine", "enableExternalIps": False}
    assert node["runtimeVersion"] == "tpu-vm-base"


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (rented_claim("us-central1-a/v5e-16/spot", nodes=6), "no whole number"),
        (rented_claim("us-central1-a/g2-standard-4/spot"), "names no TPU slice"),
        (rented_claim(""), "names no TPU slice to rent (nothing)"),
        (rented_claim("us-central2-b/v4-8/spot", options={"zone": "a"}), "has no option 'zone'"),
        (rented_claim("us-central2-b/v4-8/spot", options={"network": 3}), "network is 3"),
    ],
    ids=["part of a slice", "no slice", "no offer", "unknown option", "option of another type"],
)
def test_what_makes_no_sense_is_refused(claim, why):
    with pytest.raises(EngineRejected) as refused:
        render_claim(claim)
    assert why in refused.value.message


def test_nodes_are_told_where_secrets_are_and_no_value(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "the-value-itself")
    claim = rented_claim("us-central2-b/v4-8/spot", secrets={"TOKEN": "HF_TOKEN"})
    text = str(render_claim(claim))
    assert '"TOKEN": "projects/lab/secrets/HF_TOKEN/versions/latest"' in text
    assert "the-value-itself" not in text
