"""Published availability traces as markets: probes of a zone, brought to the steps of a replay.

Must not judge a trace, nor invent what was not probed: a probe stands until the next.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from windlass.planner.buying.study.replay import STEP_H, Market

STEP_S = round(STEP_H * 3600)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One zone over time."""

    key: str
    set: str
    zone: str
    gpu: str
    nodes: int
    """How many instances the gang needs."""
    gap_s: int
    counts: npt.NDArray[np.uint8]
    """Instances that could be had at each probe."""
    prices: npt.NDArray[np.float64] | None
    """Of spot, where on-demand costs 1, at each probe."""
    spot_usd: float | None
    on_demand_usd: float | None

    def is_up(self, *, nodes: int | None = None) -> npt.NDArray[np.bool_]:
        """Whether so many instances, by default the gang, could be had, at each step."""
        wanted = self.nodes if nodes is None else nodes
        up: npt.NDArray[np.bool_] = (self.counts >= wanted)[self._probes()]
        return up

    def spot_prices(self, price: float | None = None) -> npt.NDArray[np.float64]:
        """The price at each step: the one given, or the series where there is one."""
        probes = self._probes()
        if price is not None or self.prices is None:
            return np.full(len(probes), price if price is not None else np.nan)
        series: npt.NDArray[np.float64] = self.prices[probes]
        return series

    def _probes(self) -> npt.NDArray[np.intp]:
        steps = np.arange(len(self.counts) * self.gap_s // STEP_S)
        return np.minimum(steps * STEP_S // self.gap_s, len(self.counts) - 1)


def load_traces(folder: Path) -> Sequence[Trace]:
    """Every trace that `manifest.json` names, from `traces.npz` beside it."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    with np.load(folder / "traces.npz") as arrays:
        return [
            Trace(
                key=entry["key"],
                set=entry["set"],
                zone=entry["zone"],
                gpu=entry["gpu"],
                nodes=entry["nodes"],
                gap_s=entry["gap_s"],
                counts=arrays[entry["key"]],
                prices=(
                    arrays[f"price:{entry['key']}"] / 10_000
                    if f"price:{entry['key']}" in arrays
                    else None
                ),
                spot_usd=entry.get("spot_usd_8gpu_h"),
                on_demand_usd=entry.get("od_usd_8gpu_h"),
            )
            for entry in manifest["traces"]
        ]


def one_price(traces: Sequence[Trace], *, spot: float) -> Market:
    """Zones side by side where spot costs the same everywhere and on-demand costs 1."""
    return _market(traces, [trace.is_up() for trace in traces], spot=[spot] * len(traces))


def real_prices(traces: Sequence[Trace], *, nodes: int | None = None) -> Market:
    """Zones side by side at the prices they had, where the cheapest on-demand costs 1."""
    known = [trace.on_demand_usd for trace in traces if trace.on_demand_usd is not None]
    unit = min(known, default=1.0)
    return _market(
        traces,
        [trace.is_up(nodes=nodes) for trace in traces],
        spot=[None if trace.spot_usd is None else trace.spot_usd / unit for trace in traces],
        on_demand=[(trace.on_demand_usd or unit) / unit for trace in traces],
    )


def _market(
    traces: Sequence[Trace],
    ups: Sequence[npt.NDArray[np.bool_]],
    *,
    spot: Sequence[float | None],
    on_demand: Sequence[float] | None = None,
) -> Market:
    steps = min(len(up) for up in ups)
    prices = [trace.spot_prices(price) for trace, price in zip(traces, spot, strict=True)]
    return Market(
        names=tuple(trace.zone for trace in traces),
        up=np.stack([up[:steps] for up in ups]),
        spot=np.stack([price[:steps] for price in prices]),
        on_demand=tuple(on_demand or [1.0] * len(traces)),
    )
