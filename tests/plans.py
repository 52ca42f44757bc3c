"""Specs and catalogs for tests of the planner.

Must not plan anything.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from windlass.catalog.load import load_catalog
from windlass.catalog.model import Offer
from windlass.catalog.query import Catalog
from windlass.planner.gang import Gang
from windlass.spec.load import parse_spec
from windlass.spec.model import Spec

WORK = "work: {params: 7e9, tokens: 2e10}"
CHECKPOINT = "checkpoint: {to: gs://bucket/ckpt}"


@cache
def packaged() -> Catalog:
    """The catalog that comes with Windlass."""
    return load_catalog()


def make_spec(*lines: str, accelerators: str = "H100:8", nodes: str = "1") -> Spec:
    """A spec that asks for these accelerators."""
    head = f"name: a\nrun: b\nresources: {{accelerators: [{accelerators}], nodes: {nodes}}}\n"
    return parse_spec(head + "\n".join(lines), path="test.yaml", folder=None)


def offer_of(offer_id: str, **fields: object) -> Offer:
    """An offer of the packaged catalog, changed."""
    found = packaged().offer(offer_id)
    assert found is not None, offer_id
    return replace(found, **fields)


def gang_of(offer_id: str, nodes: int = 1) -> Gang:
    """So many of that offer."""
    offer = offer_of(offer_id)
    return Gang(
        machine=offer.machine,
        chip=offer.chip,
        chips_per_node=offer.chips,
        hosts_per_node=offer.hosts,
        nodes=nodes,
    )


H100 = "us-central1-a/a3-highgpu-8g/on-demand"
H100_SPOT = "us-central1-a/a3-highgpu-8g/spot"
A100_80 = "us-central1-a/a2-ultragpu-8g/on-demand"
L4 = "us-central1-a/g2-standard-4/on-demand"
V5E = "us-central1-a/v5e-16/on-demand"
