"""Names of Compute Engine's resources as URLs: made, taken apart, and brought into one form.

Must not look anything up: whether a resource is there is asked elsewhere.
"""

from __future__ import annotations

import re
from typing import Any

BASE = "https://www.googleapis.com/compute/v1/"
FULL = re.compile(
    r"https?://[^/\s]+/(?:compute/(?:v1|beta|alpha)/)?(?P<rest>projects/[^\s]+)", re.ASCII
)
PARTIAL = re.compile(r"(?:projects|zones|regions|global)/\S+")
# What users write is theirs: a start-up script may well hold a URL.
OPAQUE = frozenset({"metadata", "commonInstanceMetadata", "labels", "description", "userData"})
# Fields that name a resource, by the collection that a bare name is of; empty where one must not
# be bare.
COLLECTIONS = {
    "machineType": "zones/{zone}/machineTypes",
    "acceleratorType": "zones/{zone}/acceleratorTypes",
    "diskType": "zones/{zone}/diskTypes",
    "network": "global/networks",
    "subnetwork": "regions/{region}/subnetworks",
    "sourceImage": "global/images",
    "source": "zones/{zone}/disks",
    "instanceTemplate": "global/instanceTemplates",
    "sourceInstanceTemplate": "global/instanceTemplates",
    "resourcePolicies": "regions/{region}/resourcePolicies",
}


def link(project: str, scope: str, collection: str = "", name: str = "") -> str:
    """The URL of a resource; `scope` is `global`, `zones/…` or `regions/…`."""
    parts = ["projects", project, scope, collection, name]
    return BASE + "/".join(part for part in parts if part)


def last(url: str) -> str:
    """The resource's own name."""
    return url.rstrip("/").rpartition("/")[2]


def parts(url: str) -> dict[str, str]:
    """What a URL names, by collection: `{"projects": "p", "zones": "z", "machineTypes": "t"}`."""
    words = url.removeprefix(BASE).split("/")
    words = [word for word in words if word != "global"]
    return dict(zip(words[::2], words[1::2], strict=False))


def normalised(value: Any, *, project: str, zone: str, field: str = "") -> Any:
    """A request's body with every resource named in full, as Google keeps it: clients send whole
    URLs with any endpoint, partial ones and, for some fields, bare names."""
    if isinstance(value, dict):
        return {
            key: inner
            if key in OPAQUE
            else normalised(inner, project=project, zone=zone, field=key)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [normalised(inner, project=project, zone=zone, field=field) for inner in value]
    return _url(value, project=project, zone=zone, field=field) if isinstance(value, str) else value


def _url(text: str, *, project: str, zone: str, field: str) -> str:
    whole = FULL.fullmatch(text)
    if whole:
        return BASE + whole["rest"]
    if field not in COLLECTIONS or not text:
        return text
    if PARTIAL.fullmatch(text):
        return BASE + (text if text.startswith("projects/") else f"projects/{project}/{text}")
    if "/" in text:
        return text
    # In a template a machine type has no zone, and stays a name.
    if "{zone}" in COLLECTIONS[field] and not zone:
        return text
    region = zone.rpartition("-")[0] if zone else ""
    return link(project, COLLECTIONS[field].format(zone=zone, region=region), "", text)
