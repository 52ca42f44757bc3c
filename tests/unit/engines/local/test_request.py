"""Requests as they are rendered: kept as golden files, and the same after a trip through JSON."""

from __future__ import annotations

import json

import pytest

from claims import make_claim_request
from windlass.engines.local.request import from_json, render

GIB = 2**30
CLAIMS = {
    "cpu": make_claim_request("train-1-0", environment={"PATH": "/usr/bin", "LANG": "C.UTF-8"}),
    "cpu-sized": make_claim_request(
        "train-1-0", nodes=3, cpus_per_node=0.5, memory_bytes_per_node=2 * GIB
    ),
    "gpu": make_claim_request("train-2-0", on="H100:8,A100-80:8", nodes=2),
    "any-gpu": make_claim_request("train-1-0", on="GPU:1"),
    "gpu-emulated": make_claim_request("train-1-0", on="H100:8", is_emulated=True),
    "tpu": make_claim_request("train-1-0", on="v5e-16", nodes=4, accelerators_per_node=4),
    "tpu-emulated": make_claim_request(
        "train-1-0", on="v5e-16", nodes=4, accelerators_per_node=4, is_emulated=True
    ),
    "unicode": make_claim_request(
        "train-1-0", folder="file:///caf%C3%A9%20x/r", environment={"WHO": "grüß dich"}
    ),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_request_is_rendered_as_it_is_kept(name, golden):
    shown = json.dumps(render(CLAIMS[name]).to_json(), indent=2, ensure_ascii=False)
    golden.check(f"local/{name}.json", f"{shown}\n")


@pytest.mark.parametrize("name", CLAIMS)
def test_a_request_survives_json(name):
    request = render(CLAIMS[name])
    assert from_json(json.loads(json.dumps(request.to_json()))) == request


def test_secrets_are_not_part_of_a_request():
    request = render(make_claim_request(secrets={"HF_TOKEN": "MY_TOKEN"}))
    assert "TOKEN" not in json.dumps(request.to_json())


def test_what_all_nodes_count_for_is_their_sum():
    request = render(CLAIMS["cpu-sized"])
    assert (request.cpus_in_all, request.memory_in_all) == (1.5, 6 * GIB)


def test_without_a_number_a_node_counts_for_one_processor():
    request = render(CLAIMS["cpu"])
    assert (request.cpus_in_all, request.has_cpus) == (1.0, False)
