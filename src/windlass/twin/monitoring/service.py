"""Cloud Monitoring put together.

Must not hold logic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windlass.twin.call import Route
from windlass.twin.monitoring.series import TimeSeries
from windlass.twin.monitoring.settings import Kept
from windlass.twin.monitoring.uptime import Uptime

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.compute.instances import Instances
    from windlass.twin.fleet import Fleet

COLLECTIONS = ("alertPolicies", "notificationChannels")


def routes(cloud: Cloud, *, fleet: Fleet, instances: Instances) -> dict[str, Route]:
    """The methods that are modelled."""
    series = TimeSeries(cloud, own=Uptime(cloud, fleet=fleet, instances=instances))
    prefix = "monitoring.projects"
    found = {
        f"{prefix}.timeSeries.create": Route(series.create),
        f"{prefix}.timeSeries.list": Route(series.list_all),
        f"{prefix}.metricDescriptors.create": Route(series.create_descriptor),
        f"{prefix}.metricDescriptors.get": Route(series.get_descriptor),
        f"{prefix}.metricDescriptors.list": Route(series.list_descriptors),
        f"{prefix}.metricDescriptors.delete": Route(series.delete_descriptor),
    }
    for collection in COLLECTIONS:
        kept = Kept(cloud, collection)
        found[f"{prefix}.{collection}.create"] = Route(kept.create)
        found[f"{prefix}.{collection}.get"] = Route(kept.get)
        found[f"{prefix}.{collection}.list"] = Route(kept.list_all)
        found[f"{prefix}.{collection}.patch"] = Route(kept.patch)
        found[f"{prefix}.{collection}.delete"] = Route(kept.delete)
    return found
