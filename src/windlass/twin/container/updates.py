"""Updates of clusters and pools: their many `desired` fields, put where they belong.

Must not drop anything in silence: what the twin has no place for is refused.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from windlass.twin.container.versions import chosen
from windlass.twin.refusals import Refusal

OTHER_NAMES = {
    "desiredMasterVersion": "currentMasterVersion",
    "desiredClusterAutoscaling": "autoscaling",
    "desiredK8sBetaApis": "enableK8sBetaApis",
}
MERGED = frozenset({"addonsConfig"})
"""Settings of which an update names those that change."""
IN_NETWORK = frozenset(
    {"datapathProvider", "dnsConfig", "gatewayApiConfig", "enableMultiNetworking"}
)
IN_POOL = frozenset(
    {"locations", "upgradeSettings", "queuedProvisioning", "maintenancePolicy", "nodeDrainConfig"}
)
WRAPPED = frozenset({"labels", "taints", "tags"})
"""A pool's update has these one level deeper than its configuration."""
ADDRESSES = frozenset({"name", "projectId", "zone", "clusterId", "nodePoolId", "etag"})


def changed(
    cluster: dict[str, Any], update: dict[str, Any], *, fields: Container[str]
) -> dict[str, Any]:
    """The cluster after a `ClusterUpdate`."""
    result = dict(cluster)
    for name, value in update.items():
        if name == "etag":
            continue
        plain = name.removeprefix("desired")
        field = OTHER_NAMES.get(name, plain[:1].lower() + plain[1:])
        if field == "currentMasterVersion":
            value = chosen(value)
        if field in IN_NETWORK:
            result["networkConfig"] = {**result.get("networkConfig", {}), field: value}
        elif field not in fields or not value and field == "currentMasterVersion":
            raise Refusal(501, f"The twin does not model {name} in an update of a cluster.")
        elif field in MERGED:
            result[field] = {**result.get(field, {}), **value}
        else:
            result[field] = value
    return result


def changed_pool(
    pool: dict[str, Any], update: dict[str, Any], *, fields: Container[str]
) -> dict[str, Any]:
    """The pool after an `UpdateNodePoolRequest`. `fields` are those of a node's configuration."""
    result = {**pool, "config": dict(pool["config"])}
    for name, value in update.items():
        if name in ADDRESSES:
            continue
        if name == "nodeVersion":
            result["version"] = chosen(value) or pool["version"]
        elif name == "nodeNetworkConfig":
            result["networkConfig"] = value
        elif name in IN_POOL:
            result[name] = value
        elif name in WRAPPED:
            result["config"][name] = value.get(name, {})
        elif name == "resourceLabels":
            result["config"][name] = value.get("labels", {})
        elif name == "diskSizeGb":
            result["config"][name] = int(value)
        elif name in fields:
            result["config"][name] = value
        else:
            raise Refusal(501, f"The twin does not model {name} in an update of a node pool.")
    return result
