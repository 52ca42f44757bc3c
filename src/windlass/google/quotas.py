"""Cloud Quotas: the limits of a project, also those that `regions.get` has no words for.

Must not work out what is free: a limit says nothing about what is in use.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from windlass.google.session import Session

BASE = "https://cloudquotas.googleapis.com/v1"
COMPUTE = "compute.googleapis.com"
TPU = "tpu.googleapis.com"
PAGE = "500"
FAMILIES = ("gpu_family", "tpu_family")
"""Dimensions that make several metrics of one."""


class Limit(NamedTuple):
    """How much of one metric may be used in one place."""

    metric: str
    """As regions.get and the catalog name it: `NVIDIA_L4_GPUS`,
    `GPUS_PER_GPU_FAMILY:NVIDIA_H100`, `TPUV5PPerProjectPerZoneForTPUAPI`."""
    place: str
    """A region, a zone or `global`."""
    value: float


class CloudQuotas:
    """The quotas of one project."""

    def __init__(self, session: Session, project: str) -> None:
        self._session = session
        self._parent = f"{BASE}/projects/{project}/locations/global/services"

    def limits(self, service: str) -> Iterator[Limit]:
        """Every limit of a service, by metric and place."""
        url = f"{self._parent}/{service}/quotaInfos"
        what = f"reading the quotas of {service}"
        for page in self._session.pages(url, what=what, query={"pageSize": PAGE}):
            for info in page.get("quotaInfos", ()):
                yield from _limits(info)


def _limits(info: dict[str, object]) -> Iterator[Limit]:
    """A limit of its own place is told before the one that holds everywhere else."""
    metric = _metric(info)
    seen: set[tuple[str, str]] = set()
    dimensions_infos = info.get("dimensionsInfos")
    for one in dimensions_infos if isinstance(dimensions_infos, list) else ():
        dimensions = one.get("dimensions") or {}
        family = next((dimensions[name] for name in FAMILIES if name in dimensions), "")
        name = f"{metric}:{family}" if family else metric
        value = float((one.get("details") or {}).get("value", 0))
        for place in one.get("applicableLocations", ()):
            if (name, place) not in seen:
                seen.add((name, place))
                # What has no limit is told as -1.
                yield Limit(name, str(place), value if value >= 0 else float("inf"))


def _metric(info: dict[str, object]) -> str:
    """Compute Engine's ids are its metrics in dashes; Cloud TPU's are what errors and the catalog
    call them."""
    if info.get("service") == TPU:
        return str(info.get("quotaId", ""))
    return str(info.get("metric", "")).rpartition("/")[2].upper()
