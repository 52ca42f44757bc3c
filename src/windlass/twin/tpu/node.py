"""One TPU node: what was asked for, what has become of it, and how the API shows it.

Must not change anything elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from windlass.twin.market import Model
from windlass.twin.tpu.kinds import config_of
from windlass.twin.tpu.names import Place, last, place_of_name
from windlass.twin.tpu.shapes import PORT

if TYPE_CHECKING:
    from windlass.catalog.model import Slice
    from windlass.twin.cloud import Cloud

OUTPUT_ONLY = frozenset(
    {
        "name",
        "state",
        "health",
        "healthDescription",
        "createTime",
        "networkEndpoints",
        "id",
        "apiVersion",
        "symptoms",
        "queuedResource",
        "multisliceNode",
        "upcomingMaintenance",
    }
)
"""What a client may send and nobody reads."""
MODELS = {model.value: model for model in Model}
SCOPE = "https://www.googleapis.com/auth/cloud-platform"


@dataclass(slots=True, kw_only=True)
class Node:
    """A TPU VM, or a slice of several: one machine for each host."""

    name: str
    """In full; its key too."""
    id: str
    slice: str
    """The catalog's name of the kind."""
    model: str
    properties: dict[str, Any]
    """As asked for."""
    state: str = "CREATING"
    machines: list[str] = field(default_factory=list)
    """By worker."""
    number: int
    """The first worker's number in the project: addresses follow from it."""
    created: float
    operation: str = ""
    """The one that waits for it to be ready."""
    queued: str = ""
    """The queued resource that it belongs to."""
    slice_number: int = 0
    slices: int = 1
    """How many slices work together, and which of them it is."""
    is_warned: bool = False
    """Google has said that it will take it back."""

    @property
    def place(self) -> Place:
        """Where it is."""
        return place_of_name(self.name)

    @property
    def is_spot(self) -> bool:
        """Whether Google may take it back."""
        return self.model == Model.SPOT

    @property
    def metadata(self) -> dict[str, str]:
        """What its user tells its machines."""
        return self.properties.get("metadata") or {}

    def hostname(self, worker: int) -> str:
        """As a worker calls itself."""
        return f"t1v-n-{int(self.id) % 16**8:08x}-w-{worker}"

    def address(self, worker: int, live: str) -> str:
        """A worker's internal address: that of its processes, or one of the subnetwork's."""
        number = self.number + worker
        return live or f"10.164.{number // 250 % 256}.{number % 250 + 2}"

    def external_address(self, worker: int, live: str) -> str:
        """Its external address: of a block for documentation, unless there are processes."""
        return live or f"198.51.100.{(self.number + worker) % 250 + 2}"

    def account(self, default: str) -> tuple[str, list[str]]:
        """The service account of its machines, and what tokens it may ask for."""
        given = self.properties.get("serviceAccount") or {}
        email = given.get("email") or default
        return (default if email == "default" else email), given.get("scope") or [SCOPE]


def model_of(properties: dict[str, Any]) -> Model:
    """How a node is to be had."""
    scheduling = properties.get("schedulingConfig") or {}
    named = scheduling.get("provisioningModel", "PROVISIONING_MODEL_UNSPECIFIED")
    if named in MODELS:
        return MODELS[named]
    if scheduling.get("spot") or scheduling.get("preemptible"):
        return Model.SPOT
    is_reserved = scheduling.get("reserved") or scheduling.get("reservationName")
    return Model.RESERVED if is_reserved else Model.STANDARD


def asked(body: dict[str, Any]) -> dict[str, Any]:
    """What a body asks for."""
    return {name: value for name, value in body.items() if name not in OUTPUT_ONLY}


def shown(
    node: Node, *, cloud: Cloud, slice_: Slice, addresses: Sequence[str], ends_at: float | None
) -> dict[str, Any]:
    """In the widest shape; `addresses` are those of live workers, or empty."""
    email, scopes = node.account(cloud.settings.default_service_account)
    network = network_of(node)
    has_external = bool(network["enableExternalIps"])
    document: dict[str, Any] = {
        **node.properties,
        "name": node.name,
        "id": node.id,
        "acceleratorType": slice_.accelerator_type,
        "acceleratorConfig": config_of(slice_),
        "state": node.state,
        "createTime": cloud.stamp(node.created),
        "schedulingConfig": _scheduling(node, cloud, ends_at),
        "serviceAccount": {"email": email, "scope": scopes},
        "networkConfig": network,
        "shieldedInstanceConfig": node.properties.get("shieldedInstanceConfig") or {},
        "metadata": node.metadata,
        "networkEndpoints": [
            _endpoint(node, worker, live, has_external=has_external)
            for worker, live in enumerate(addresses)
        ],
    }
    if node.state == "READY":
        document["health"] = "HEALTHY"
    if node.state == "REPAIRING":
        document["health"] = "UNHEALTHY_MAINTENANCE"
    if node.queued:
        document["queuedResource"] = node.queued
    if node.slices > 1:
        document["multisliceNode"] = True
    return document


def network_of(node: Node) -> dict[str, Any]:
    """The network that its workers are in, by full names."""
    several = node.properties.get("networkConfigs") or [None]
    given = node.properties.get("networkConfig") or several[0]
    project, region = node.place.project, node.place.zone.rpartition("-")[0]
    network = dict(given or {})
    name = last(network.get("network") or "default")
    network["network"] = f"projects/{project}/global/networks/{name}"
    subnetwork = last(network.get("subnetwork") or name)
    network["subnetwork"] = f"projects/{project}/regions/{region}/subnetworks/{subnetwork}"
    # Whoever says nothing about the network gets the default one, with a way out.
    network["enableExternalIps"] = given is None or bool(network.get("enableExternalIps"))
    return network


def _scheduling(node: Node, cloud: Cloud, ends_at: float | None) -> dict[str, Any]:
    scheduling = dict(node.properties.get("schedulingConfig") or {})
    if node.is_spot and not scheduling.get("preemptible"):
        scheduling["spot"] = True
    if node.model == Model.RESERVED:
        scheduling["reserved"] = True
    if ends_at is not None:
        scheduling["terminationTimestamp"] = cloud.stamp(ends_at)
    return scheduling


def _endpoint(node: Node, worker: int, live: str, *, has_external: bool) -> dict[str, Any]:
    endpoint: dict[str, Any] = {"ipAddress": node.address(worker, live), "port": PORT}
    is_on = node.state in ("READY", "REPAIRING")
    endpoint["accessConfig"] = (
        {"externalIp": node.external_address(worker, live)} if has_external and is_on else {}
    )
    return endpoint
