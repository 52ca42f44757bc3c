"""Clusters and node pools as Kubernetes Engine fills them in and shows them.

Must not decide anything.
"""

from __future__ import annotations

import copy
import hashlib
from typing import Any

from windlass.twin.compute.links import link
from windlass.twin.container.authority import CERTIFICATE, ENDPOINT
from windlass.twin.container.kinds import USUAL_TYPE
from windlass.twin.container.names import Path
from windlass.twin.container.versions import DEFAULT, IMAGES

SCOPES = [
    f"https://www.googleapis.com/auth/{name}"
    for name in (
        "devstorage.read_only",
        "logging.write",
        "monitoring",
        "service.management.readonly",
        "servicecontrol",
        "trace.append",
    )
]
CONFIG: dict[str, Any] = {
    "machineType": USUAL_TYPE,
    "diskSizeGb": 100,
    "diskType": "pd-balanced",
    "imageType": IMAGES[0],
    "oauthScopes": SCOPES,
    "serviceAccount": "default",
    "metadata": {"disable-legacy-endpoints": "true"},
    "shieldedInstanceConfig": {"enableIntegrityMonitoring": True},
}
POOL: dict[str, Any] = {
    "initialNodeCount": 0,
    "management": {"autoRepair": True, "autoUpgrade": True},
    "upgradeSettings": {"maxSurge": 1, "strategy": "SURGE"},
    "maxPodsConstraint": {"maxPodsPerNode": "110"},
    "podIpv4CidrSize": 24,
    "version": DEFAULT,
}
CLUSTER: dict[str, Any] = {
    "network": "default",
    "subnetwork": "default",
    "clusterIpv4Cidr": "10.108.0.0/14",
    "servicesIpv4Cidr": "34.118.224.0/20",
    "loggingService": "logging.googleapis.com/kubernetes",
    "monitoringService": "monitoring.googleapis.com/kubernetes",
    "addonsConfig": {},
    "legacyAbac": {},
    "releaseChannel": {"channel": "REGULAR"},
    "databaseEncryption": {"state": "DECRYPTED"},
    "shieldedNodes": {"enabled": True},
    "defaultMaxPodsConstraint": {"maxPodsPerNode": "110"},
    "initialClusterVersion": DEFAULT,
}


def filled_pool(given: dict[str, Any]) -> dict[str, Any]:
    """A pool with what its maker left open."""
    pool = {**copy.deepcopy(POOL), **copy.deepcopy(given)}
    pool["config"] = {**copy.deepcopy(CONFIG), **(pool.get("config") or {})}
    pool["upgradeSettings"] = {**POOL["upgradeSettings"], **(pool["upgradeSettings"] or {})}
    return pool


def filled_cluster(given: dict[str, Any], path: Path, zones: list[str]) -> dict[str, Any]:
    """A cluster with what its maker left open; its pools are kept elsewhere."""
    cluster = {**copy.deepcopy(CLUSTER), **copy.deepcopy(given)}
    for made in ("nodePools", "nodeConfig", "initialNodeCount", "masterAuth", "locations"):
        cluster.pop(made, None)
    return cluster | {
        "selfLink": path.link,
        "location": path.location,
        "zone": path.location,
        "locations": given.get("locations") or zones,
        "endpoint": ENDPOINT,
        "masterAuth": {
            "clusterCaCertificate": CERTIFICATE,
            "clientCertificateConfig": {},
        },
        "labelFingerprint": fingerprint(given.get("resourceLabels", {})),
    }


def shown_pool(record: dict[str, Any], path: Path) -> dict[str, Any]:
    """A pool as it is now."""
    shown = {**record["shown"], "status": _pool_status(record), "etag": _etag(record["shown"])}
    cluster, pool = path.cluster[:16], shown["name"][:16]
    group = f"gke-{cluster}-{pool}-{_etag(record['key'])[:8]}-grp"
    shown["instanceGroupUrls"] = [
        link(path.project, f"zones/{zone}", "instanceGroupManagers", group)
        for zone in shown["locations"]
    ]
    if record["trouble"]:
        shown["conditions"] = [record["trouble"]]
        shown["statusMessage"] = record["trouble"]["message"]
    return shown


def _pool_status(record: dict[str, Any]) -> str:
    if record["doing"]:
        return str(record["doing"])
    if not record["trouble"]:
        return "RUNNING"
    return "RUNNING_WITH_ERROR" if record["nodes"] else "ERROR"


def shown_cluster(
    cluster: dict[str, Any], pools: list[dict[str, Any]], *, nodes: int, path: Path
) -> dict[str, Any]:
    """A cluster as it is now."""
    shown = {**cluster["shown"], "currentNodeCount": nodes}
    shown["nodePools"] = [shown_pool(record, path) for record in pools]
    troubles = [record["trouble"] for record in pools if record["trouble"]]
    shown["status"] = cluster["doing"] or ("ERROR" if troubles and not nodes else "RUNNING")
    if troubles:
        shown["conditions"] = troubles
        shown["statusMessage"] = troubles[0]["message"]
    if pools:
        shown["nodeConfig"] = shown["nodePools"][0]["config"]
        shown["currentNodeVersion"] = shown["nodePools"][0]["version"]
        urls = [url for pool in shown["nodePools"] for url in pool["instanceGroupUrls"]]
        shown["instanceGroupUrls"] = urls
    return shown | {"etag": _etag(shown)}


def fingerprint(labels: dict[str, str]) -> str:
    """Of labels: whoever changes them says which they saw."""
    return hashlib.sha256(repr(sorted(labels.items())).encode()).hexdigest()[:8]


def _etag(value: Any) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:32]
