"""Which quotas there are, how Cloud Quotas names them, and where they hold.

Must not keep limits: the twin's quotas do.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from windlass.twin.quotas import DEFAULTS, FAMILY_METRICS, GLOBAL

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog

COMPUTE = "compute.googleapis.com"
TPU = "tpu.googleapis.com"
EVERYWHERE = frozenset({"GPUS_ALL_REGIONS", "NETWORKS", "FIREWALLS"})
FAMILIES = {"GPUS_PER_GPU_FAMILY": "gpu_family", "TPUS_PER_TPU_FAMILY": "tpu_family"}
"""Metrics whose limit is one for each family of chips."""
OF_TPU_API = "PerProjectPerZoneForTPUAPI"
_WORDS = re.compile(r"TPUV\d+[a-zA-Z]?(?=[A-Z]|$)|[A-Z][a-z]+")


class Quota(NamedTuple):
    """One quota of a service."""

    service: str
    id: str
    metric: str
    """As the twin's quotas name it, without its family."""
    place: str
    """`region` or `zone`; empty for one limit everywhere."""
    locations: tuple[str, ...]
    family: str = ""
    """The dimension that its families are, or empty."""
    families: tuple[str, ...] = ("",)

    @property
    def dimensions(self) -> list[str]:
        """What limits may differ by."""
        return [name for name in (self.place, self.family) if name]

    def key(self, family: str) -> str:
        """The metric of a family, as the twin's quotas name it."""
        return f"{self.metric}:{family}" if family else self.metric

    @property
    def full_metric(self) -> str:
        """As Google names it."""
        if self.service == COMPUTE:
            return f"{COMPUTE}/{self.metric.lower()}"
        words = _WORDS.findall(self.metric.removesuffix(OF_TPU_API))
        return f"{TPU}/{'-'.join(words).lower().replace('tpuv', 'tpu-v')}"

    @property
    def title(self) -> str:
        """As people read it."""
        if self.service == COMPUTE:
            return self.metric.replace("_", " ").title().replace("Gpu", "GPU").replace("Tpu", "TPU")
        return self.full_metric.rpartition("/")[2]

    @property
    def scopes(self) -> tuple[str, ...]:
        """The places that have a limit of their own."""
        return self.locations if self.place else (GLOBAL,)


def known(catalog: Catalog) -> dict[str, dict[str, Quota]]:
    """Every quota, by service and id."""
    zones = tuple(sorted(catalog.zones))
    regions = tuple(sorted({zone.rpartition("-")[0] for zone in zones}))
    families: defaultdict[str, set[str]] = defaultdict(set)
    metrics = set(DEFAULTS) | {f"{family.upper()}_CPUS" for family in FAMILY_METRICS}
    tpus: defaultdict[str, set[str]] = defaultdict(set)
    for chip in catalog.chips.values():
        sold = {offer.zone for offer in catalog.offers_with(chip.name)} or set(zones)
        for name in filter(None, chip.quota.values()):
            metric, _, family = name.partition(":")
            if family:
                families[metric].add(family)
            elif chip.is_tpu:
                tpus[name] |= sold
            else:
                metrics.add(name)
    found = [_compute(metric, regions) for metric in metrics]
    for metric, those in families.items():
        place, where = ("zone", zones) if metric.startswith("TPU") else ("region", regions)
        id_ = f"{metric.replace('_', '-')}-per-project-{place}"
        kinds = tuple(sorted(those))
        found.append(Quota(COMPUTE, id_, metric, place, where, FAMILIES[metric], kinds))
    found += [Quota(TPU, name, name, "zone", tuple(sorted(sold))) for name, sold in tpus.items()]
    by_service: dict[str, dict[str, Quota]] = {COMPUTE: {}, TPU: {}}
    for quota in sorted(found):
        by_service[quota.service][quota.id] = quota
    return by_service


def _compute(metric: str, regions: tuple[str, ...]) -> Quota:
    dashed = metric.replace("_", "-")
    if metric in EVERYWHERE:
        return Quota(COMPUTE, f"{dashed}-per-project", metric, "", (GLOBAL,))
    return Quota(COMPUTE, f"{dashed}-per-project-region", metric, "region", regions)
