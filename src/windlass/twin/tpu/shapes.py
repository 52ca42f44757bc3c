"""Answers in the shape of the version that is asked.

Versions differ, and clients crash on fields that they do not know.
Must not know where a resource comes from: it is given in the widest shape.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from windlass.twin.compute.filters import parsed
from windlass.twin.discovery.api import load_api
from windlass.twin.discovery.fitting import fitted
from windlass.twin.paging import page

if TYPE_CHECKING:
    from windlass.twin.call import Call

MOST = 1000
API_VERSIONS = {"v1": "V2_ALPHA1", "v2": "V2", "v2alpha1": "V2_ALPHA1"}
PORT = 8470


def shaped(version: str, schema: str, resource: dict[str, Any]) -> dict[str, Any]:
    """A resource as a version of the API shows it."""
    if schema == "Node":
        resource = {**resource, "apiVersion": API_VERSIONS[version]}
        if version == "v1":
            resource = _first_node(resource)
    return fitted(load_api("tpu", version), schema, resource)


def _first_node(node: dict[str, Any]) -> dict[str, Any]:
    """A TPU VM as v1 shows it, which knew only nodes without a machine of their own."""
    first = (node.get("networkEndpoints") or [{}])[0]
    shown = {
        **node,
        "tensorflowVersion": node.get("runtimeVersion", ""),
        "network": node.get("networkConfig", {}).get("network", ""),
        "serviceAccount": node.get("serviceAccount", {}).get("email", ""),
    }
    if first:
        shown |= {"ipAddress": first.get("ipAddress", ""), "port": str(PORT)}
    return shown


def paged(call: Call, field: str, found: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """A page of a list."""
    query = call.query
    test = parsed(query.get("filter", ""))
    items, token = page(
        [one for one in found if test(one)],
        size=query.get("pageSize"),
        token=query.get("pageToken", ""),
        usual=MOST,
        most=MOST,
    )
    answer: dict[str, Any] = {field: items} if items else {}
    if token:
        answer["nextPageToken"] = token
    return answer
