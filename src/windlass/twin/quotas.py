"""How much of everything the project may use, and how much it does.

Must not refuse (services do, in their own words): it says which limit would be passed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from windlass.twin.billing import BUYS
from windlass.twin.discovery.api import load_api
from windlass.twin.market import Model, Wanted

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog
    from windlass.twin.cloud import Cloud

GLOBAL = "global"
FAMILY_METRICS = frozenset(
    {"a2", "c2", "c2d", "c3", "c4", "e2", "m1", "m2", "m3", "n2", "n2d", "t2a", "t2d"}
)
"""Machine families whose vCPUs have a quota of their own; others share CPUS."""
DEFAULTS = {
    "CPUS": 2400.0,
    "INSTANCES": 6000.0,
    "GPUS_ALL_REGIONS": 512.0,
    "IN_USE_ADDRESSES": 575.0,
    "SSD_TOTAL_GB": 40_960.0,
    "DISKS_TOTAL_GB": 102_400.0,
    "LOCAL_SSD_TOTAL_GB": 102_400.0,
    "NETWORKS": 50.0,
    "FIREWALLS": 200.0,
}
DEFAULT_CPUS = 2400.0
DEFAULT_GPUS = 128.0
DEFAULT_TPUS = 4096.0


class Spent(NamedTuple):
    """So much of one quota."""

    scope: str
    """A region, a zone (Cloud TPU), or GLOBAL."""
    metric: str
    """`NVIDIA_L4_GPUS`, or with a dimension `GPUS_PER_GPU_FAMILY:NVIDIA_H100`."""
    amount: float


class Exceeded(NamedTuple):
    """A limit that is in the way."""

    scope: str
    metric: str
    limit: float
    usage: float
    wanted: float


class Quotas:
    """Limits and usage of the twin's project."""

    def __init__(self, cloud: Cloud, *, catalog: Catalog) -> None:
        self._limits = cloud.documents("quotas.limits")
        self._known: dict[tuple[str, str], float] = {}
        self._used: defaultdict[tuple[str, str], float] = defaultdict(float)
        self._spending: dict[Wanted, tuple[Spent, ...]] = {}
        self._vcpus = {machine.name: machine.vcpus for machine in catalog.machines.values()}
        self._chips = {chip.google_name: chip for chip in catalog.chips.values()}

    def limit(self, scope: str, metric: str) -> float:
        """What the project may use."""
        known = self._known.get((scope, metric))
        if known is None:
            known = self._known[scope, metric] = self._looked_up(scope, metric)
        return known

    def _looked_up(self, scope: str, metric: str) -> float:
        for key in (f"{scope}/{metric}", f"*/{metric}"):
            document = self._limits.get(key)
            if document is not None:
                return float(document["limit"])
        return _default(metric)

    def set_limit(self, scope: str, metric: str, limit: float) -> None:
        """Google grants or takes quota; scope `*` is every place."""
        self._limits.put(f"{scope}/{metric}", {"limit": limit})
        self._known.clear()

    def unset_limit(self, scope: str, metric: str) -> None:
        """What a project has at first holds again."""
        self._limits.drop(f"{scope}/{metric}")
        self._known.clear()

    def usage(self, scope: str, metric: str) -> float:
        """What it uses now."""
        return self._used[scope, metric]

    def exceeded(self, wanted: Wanted, count: int = 1) -> Exceeded | None:
        """The first limit that so many more machines would pass."""
        for scope, metric, amount in self.spending(wanted):
            usage, limit = self.usage(scope, metric), self.limit(scope, metric)
            if usage + amount * count > limit:
                return Exceeded(scope, metric, limit, usage, amount * count)
        return None

    def take(self, wanted: Wanted, count: int = 1) -> None:
        """So many such machines run, or are held."""
        for scope, metric, amount in self.spending(wanted):
            self._used[scope, metric] += amount * count

    def give_back(self, wanted: Wanted) -> None:
        """One less."""
        for scope, metric, amount in self.spending(wanted):
            self._used[scope, metric] -= amount

    def spending(self, wanted: Wanted) -> tuple[Spent, ...]:
        """What one such machine uses of which quota."""
        found = self._spending.get(wanted)
        if found is None:
            found = tuple(self._spent(wanted))
            self._spending[wanted] = found
        return found

    def _spent(self, wanted: Wanted) -> Iterator[Spent]:
        chip = self._chips.get(wanted.chip)
        metric = chip.quota.get(BUYS[wanted.model]) if chip else None
        if chip is not None and chip.is_tpu:
            if metric is not None:
                yield Spent(wanted.zone, metric, wanted.chips)
            return
        if chip is not None and metric is not None:
            yield Spent(wanted.region, metric, wanted.chips)
        if chip is not None and wanted.model is Model.STANDARD:
            yield Spent(GLOBAL, "GPUS_ALL_REGIONS", wanted.chips)
        yield Spent(wanted.region, cpu_metric(wanted.type), self._vcpus.get(wanted.type, 0))
        yield Spent(wanted.region, "INSTANCES", 1)

    def regional(self, region: str) -> list[dict[str, Any]]:
        """As `regions.get` shows them: only the metrics that it has words for. Those of newer
        chips, and those with dimensions, are told by Cloud Quotas alone."""
        metrics = {"CPUS", "INSTANCES", "SSD_TOTAL_GB", "DISKS_TOTAL_GB", "IN_USE_ADDRESSES"}
        metrics |= {f"{family.upper()}_CPUS" for family in FAMILY_METRICS}
        for chip in self._chips.values():
            if not chip.is_tpu:
                metrics |= {name for name in chip.quota.values() if name}
        metrics &= _region_metrics()
        return [
            {
                "metric": metric,
                "limit": self.limit(region, metric),
                "usage": self.usage(region, metric),
            }
            for metric in sorted(metrics)
        ]


def _region_metrics() -> frozenset[str]:
    return frozenset(load_api("compute", "v1").schemas["Quota"]["properties"]["metric"]["enum"])


def cpu_metric(machine_type: str) -> str:
    """The quota that a machine's vCPUs count against."""
    family = machine_type.partition("-")[0]
    return f"{family.upper()}_CPUS" if family in FAMILY_METRICS else "CPUS"


def _default(metric: str) -> float:
    metric = metric.upper()  # Vertex AI's are in small letters.
    if metric in DEFAULTS:
        return DEFAULTS[metric]
    if metric.endswith("_CPUS"):
        return DEFAULT_CPUS
    return DEFAULT_TPUS if "TPU" in metric else DEFAULT_GPUS
