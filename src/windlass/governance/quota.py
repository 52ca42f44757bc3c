"""How much of each quota a project has free, from Google: for the planner and for preflight.

Must not decide anything. Cloud Quotas knows every limit and no use; `regions.get` knows the use of
the metrics that it has words for; the use of the others is counted from what runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from windlass.catalog.model import Buy
from windlass.catalog.query import Catalog
from windlass.errors import ApiDisabled
from windlass.google.compute import BASE, Compute
from windlass.google.quotas import COMPUTE, TPU, CloudQuotas
from windlass.google.session import Session
from windlass.google.tpu import EVERYWHERE, Tpu
from windlass.governance.prices import BUYS, OFF
from windlass.planner.quota import Quota

Used = dict[tuple[str, str], float]
"""By place and metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Limits and use, by place and metric."""

    limits: Mapping[tuple[str, str], float] = field(default_factory=dict)
    used: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def free(self, place: str, metric: str) -> float | None:
        """What is left; None when the limit is not known."""
        limit = self.limits.get((place, metric))
        return None if limit is None else max(limit - self.used.get((place, metric), 0.0), 0.0)

    def quota(self) -> Quota:
        """As the planner takes it. A zone with quotas of its own has its region's as well."""
        free: dict[str, dict[str, float]] = defaultdict(dict)
        for place, metric in self.limits:
            left = self.free(place, metric)
            if left is not None and left != float("inf"):
                free[place][metric] = left
        for place in list(free):
            if _is_zone(place):
                free[place] = {**free.get(place.rpartition("-")[0], {}), **free[place]}
        return Quota(dict(free))


def read_room(session: Session, project: str, catalog: Catalog) -> Room:
    """What Google says now."""
    wanted = {name for chip in catalog.chips.values() for name in chip.quota.values() if name}
    limits, used = {}, dict(_counted(session, project, catalog))
    quotas = CloudQuotas(session, project)
    for service in (COMPUTE, TPU):
        for limit in quotas.limits(service):
            if limit.metric in wanted:
                limits[limit.place, limit.metric] = limit.value
    for place, one in _regional(session, project):
        if one["metric"] in wanted:
            limits[place, one["metric"]] = float(one["limit"])
            used[place, one["metric"]] = float(one["usage"])
    return Room(limits=limits, used=used)


def _regional(session: Session, project: str) -> Iterator[tuple[str, dict[str, Any]]]:
    url = f"{BASE}/projects/{project}/regions"
    for page in session.pages(url, what="reading the quotas of regions"):
        for region in page.get("items", ()):
            for one in region.get("quotas", ()):
                yield str(region["name"]), one


def _counted(session: Session, project: str, catalog: Catalog) -> Used:
    used: Used = defaultdict(float)
    for scope, instance in Compute(session, project).everywhere("instances"):
        if instance.get("status") not in OFF:
            _count_instance(used, scope.rpartition("/")[2], instance, catalog)
    try:
        for node in Tpu(session, project).nodes(EVERYWHERE):
            _count_slice(used, node, catalog)
    except ApiDisabled:
        pass  # Nothing is there that could be counted.
    return used


def _count_instance(used: Used, zone: str, instance: Mapping[str, Any], catalog: Catalog) -> None:
    scheduling = instance.get("scheduling") or {}
    buy = BUYS.get(str(scheduling.get("provisioningModel", "STANDARD")), Buy.ON_DEMAND)
    region = zone.rpartition("-")[0]
    names = {chip.google_name: chip for chip in catalog.chips.values()}
    guests = instance.get("guestAccelerators") or ()
    for guest in guests:
        chip = names.get(str(guest.get("acceleratorType", "")).rpartition("/")[2])
        if chip is not None and (metric := chip.quota.get(buy)):
            used[region, metric] += int(guest.get("acceleratorCount", 0))
    machine = catalog.machines.get(str(instance.get("machineType", "")).rpartition("/")[2])
    if guests or machine is None or machine.chip is None:
        return
    if metric := catalog.chips[machine.chip].quota.get(buy):
        used[region, metric] += machine.chips


def _count_slice(used: Used, node: Mapping[str, Any], catalog: Catalog) -> None:
    zone = str(node["name"]).split("/")[3]
    scheduling = node.get("schedulingConfig") or {}
    is_spot = scheduling.get("spot") or scheduling.get("preemptible")
    buy = Buy.SPOT if is_spot else Buy.ON_DEMAND
    for one in catalog.slices.values():
        if one.accelerator_type == node.get("acceleratorType"):
            if metric := catalog.chips[one.chip].quota.get(buy):
                used[zone, metric] += one.chips
            return


def _is_zone(place: str) -> bool:
    return place.count("-") == 2
