"""The versions of Kubernetes that the twin offers.

Must not be read as Google's list of today.
"""

from __future__ import annotations

from typing import Any

DEFAULT = "1.34.1-gke.1431000"
VALID = (DEFAULT, "1.33.5-gke.1080000", "1.32.9-gke.1108000")
IMAGES = ("COS_CONTAINERD", "UBUNTU_CONTAINERD")


def server_config() -> dict[str, Any]:
    """As `getServerConfig` answers."""
    return {
        "defaultClusterVersion": DEFAULT,
        "validNodeVersions": list(VALID),
        "validMasterVersions": list(VALID),
        "defaultImageType": IMAGES[0],
        "validImageTypes": list(IMAGES),
        "channels": [
            {"channel": channel, "defaultVersion": DEFAULT, "validVersions": list(VALID)}
            for channel in ("RAPID", "REGULAR", "STABLE")
        ],
    }


def chosen(wish: str) -> str:
    """The version that a wish comes to: `1.33`, `latest`, `-` or nothing are wishes too."""
    if wish in ("", "-", "latest"):
        return DEFAULT
    found = [one for one in VALID if one == wish or one.startswith(f"{wish}.")]
    return found[0] if found else ""
