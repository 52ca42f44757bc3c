"""The container that replicas run: one of Google's own, from a registry near the region.

Must not build one: the agent is fetched when it starts. Pure.
"""

from __future__ import annotations

from windlass.catalog.model import Offer

REGISTRIES = ("us", "europe", "asia")
CPU = "tf-cpu.2-17.py310"
GPU = "pytorch-gpu.2-4.py310"
TPU = "tf-tpu.2-15.cp310"


def image_for(offer: Offer) -> str:
    """Vertex AI's prebuilt container for an offer."""
    continent = offer.region.partition("-")[0]
    registry = continent if continent in REGISTRIES else "us"
    name = CPU
    if offer.chip is not None:
        name = TPU if offer.chip.is_tpu else GPU
    return f"{registry}-docker.pkg.dev/vertex-ai/training/{name}:latest"
