"""How much of each quota is free, by place and metric.

Must not ask Google: what is free comes from a file, or later from whoever asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from windlass.errors import OptionRefused

_EXAMPLE = "us-central1: {PREEMPTIBLE_NVIDIA_H100_GPUS: 16}"


@dataclass(frozen=True, slots=True)
class Quota:
    """Free units by place and metric. What is not named is not known, and refuses nothing."""

    free: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def place_of(self, zone: str, region: str) -> str:
        """Where the quota of a zone is kept: some are per zone, most per region."""
        return zone if zone in self.free else region

    def left(self, place: str, metric: str | None) -> float | None:
        """What is free; None when it is not known."""
        if metric is None:
            return None
        return self.free.get(place, {}).get(metric)


def read_quota(document: Any, *, source: str) -> Quota:
    """A quota from a parsed file: `region: {metric: free}`; zones may stand for regions."""
    if not isinstance(document, Mapping):
        raise _refused(source, "it is not a mapping of regions")
    free: dict[str, Mapping[str, float]] = {}
    for place, metrics in document.items():
        if not isinstance(metrics, Mapping):
            raise _refused(source, f"`{place}` has no metrics")
        for metric, left in metrics.items():
            if isinstance(left, bool) or not isinstance(left, int | float) or not left >= 0:
                raise _refused(source, f"`{place}: {metric}` is not a number from 0 on")
        free[str(place)] = {str(metric): float(left) for metric, left in metrics.items()}
    return Quota(free)


def _refused(source: str, why: str) -> OptionRefused:
    return OptionRefused(
        f"{source} holds no quota: {why}", remedy=f"Write lines such as `{_EXAMPLE}`."
    )
