"""What Vertex AI trains on, and how each can be bought there.

Must not ask anything of Google. Pure.
"""

from __future__ import annotations

from windlass.catalog.model import Buy, Offer

STRATEGIES = {Buy.ON_DEMAND: "STANDARD", Buy.SPOT: "SPOT", Buy.FLEX_START: "FLEX_START"}
TPU_CHIPS = frozenset({"v5e", "v6e"})
"""Those that Vertex AI trains on by machine type and topology."""
ACCELERATORS = frozenset(
    """NVIDIA_TESLA_P100 NVIDIA_TESLA_V100 NVIDIA_TESLA_P4 NVIDIA_TESLA_T4 NVIDIA_TESLA_A100
    NVIDIA_A100_80GB NVIDIA_L4 NVIDIA_H100_80GB NVIDIA_H100_MEGA_80GB NVIDIA_H200_141GB NVIDIA_B200
    NVIDIA_GB200 NVIDIA_RTX_PRO_6000""".split()
)
FLEX_START = frozenset(
    """NVIDIA_L4 NVIDIA_TESLA_A100 NVIDIA_A100_80GB NVIDIA_H100_80GB NVIDIA_H100_MEGA_80GB
    NVIDIA_H200_141GB NVIDIA_B200""".split()
)
"""Those that can be waited for."""


def unsold(offer: Offer) -> str:
    """Why it cannot be had of Vertex AI; empty when it can. Of slices it has only those of one host
    as spot, and none to wait for."""
    if offer.slice is not None:
        is_known, what = offer.slice.chip in TPU_CHIPS, offer.slice.name
        is_missing = offer.buy is Buy.FLEX_START or (offer.buy is Buy.SPOT and offer.hosts > 1)
    else:
        name = accelerator_name(offer)
        is_known, what = name in ("", *ACCELERATORS), offer.chip.name if offer.chip else offer.label
        is_missing = offer.buy is Buy.FLEX_START and name not in FLEX_START
    if not is_known:
        return f"Vertex AI does not train on {what}"
    if is_missing or offer.buy not in STRATEGIES:
        return f"Vertex AI does not sell {offer.label} as {offer.buy.value}"
    return ""


def accelerator_name(offer: Offer) -> str:
    """A GPU as Vertex AI names it: as Compute Engine does, in capitals. Empty for none."""
    return offer.chip.google_name.upper().replace("-", "_") if offer.chip is not None else ""
