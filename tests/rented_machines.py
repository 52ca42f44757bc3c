"""Claims on machines of Compute Engine, one for each kind that is asked for differently.

Must not submit anything.
"""

from __future__ import annotations

import functools
from typing import Any

from rented import AGENT_URL, PROJECT, rented_claim
from windlass.catalog.load import load_catalog
from windlass.engines.base import ClaimRequest
from windlass.engines.compute.request import ComputeRequest, render

CLAIMS = {
    "a3-high": rented_claim("us-central1-a/a3-highgpu-8g/spot", nodes=2),
    "a3-mega": rented_claim(
        "us-central1-a/a3-megagpu-8g/on-demand", nodes=2, options={"network": "windlass"}
    ),
    "a3-ultra": rented_claim("us-central1-b/a3-ultragpu-8g/spot", nodes=2),
    "a4": rented_claim("us-central1-b/a4-highgpu-8g/spot", nodes=2),
    "a4-reservation": rented_claim(
        "us-central1-b/a4-highgpu-8g/calendar", nodes=2, buy="reservation/block-1"
    ),
    "a4-flex-start": rented_claim("us-central1-b/a4-highgpu-8g/flex-start", nodes=2),
    "a3-high-one-node": rented_claim("us-central1-a/a3-highgpu-8g/spot"),
    "g2": rented_claim(
        "us-central1-a/g2-standard-8/on-demand",
        options={
            "service_account": "runs@lab.iam.gserviceaccount.com",
            "network": "research",
            "subnetwork": "research-us",
            "local_ssds": 1,
            "disk_gb": 200,
            "kms_key": "projects/lab/locations/us-central1/keyRings/r/cryptoKeys/k",
        },
    ),
    "a2-flex-start": rented_claim("us-central1-a/a2-highgpu-1g/flex-start", nodes=2),
    "n1-t4": rented_claim("us-central1-a/n1-standard-8+T4:2/spot"),
    "n1-v100": rented_claim("us-central1-a/n1-standard-8+V100:1/spot"),
    "cpu": rented_claim(
        "us-central1-a/e2-standard-4/on-demand", options={"external_address": True}
    ),
    "reservation": rented_claim(
        "us-central1-a/a3-megagpu-8g/on-demand", nodes=2, buy="reservation/block-1"
    ),
}


@functools.cache
def rendered(name: str) -> ComputeRequest:
    return render_claim(CLAIMS[name])


def render_claim(claim: ClaimRequest, **defaults: Any) -> ComputeRequest:
    return render(
        claim, catalog=load_catalog(), defaults=defaults, agent_url=AGENT_URL, project=PROJECT
    )
