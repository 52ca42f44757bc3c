"""Offers for tests of what is rented.

Must not decide anything.
"""

from __future__ import annotations

from windlass.controller.renting import Gang


def make_gang(zone: str = "us-east1-a", buy: str = "spot", **fields) -> Gang:
    """One big machine, in one zone."""
    kind = buy if buy in ("spot", "on-demand", "flex-start") else "on-demand"
    defaults = {
        "offer": f"{zone}/a3-highgpu-8g/{kind}",
        "buy": buy,
        "accelerators": "H100:8",
        "nodes": 2,
        "region": zone.rpartition("-")[0],
        "metric": f"{kind}-gpus",
        "usd_per_h": 36.0,
        "work_s": 36_000.0,
        "restart_s": 300.0,
    }
    return Gang(**{**defaults, **fields})


A, B, C = make_gang("us-east1-a"), make_gang("us-east1-b"), make_gang("us-west1-a")
ON_DEMAND = make_gang("us-east1-a", "on-demand", usd_per_h=108.0)
