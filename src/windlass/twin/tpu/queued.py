"""One queued resource: the ask, how far it is, and how the API shows it.

Must not change anything elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from windlass.twin.market import Model
from windlass.twin.tpu.names import last
from windlass.twin.tpu.node import MODELS, asked, model_of

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud

WAITING = "WAITING_FOR_RESOURCES"
DATA = {
    "ACCEPTED": "acceptedData",
    "PROVISIONING": "provisioningData",
    "ACTIVE": "activeData",
    "FAILED": "failedData",
    "DELETING": "deletingData",
    "SUSPENDING": "suspendingData",
    "SUSPENDED": "suspendedData",
}
"""Each state comes with a field of its own."""
OUTPUT_ONLY = frozenset({"name", "createTime", "state"})
SEVERAL = ("multisliceParams", "multiNodeParams")
"""What v2 and v2alpha1 call a number of slices that work together."""
MOST_SLICES = 256


@dataclass(slots=True, kw_only=True)
class Queued:
    """A request for slices that waits until they can be had together."""

    name: str
    number: int
    """Its place in the queue: those before it are looked at first."""
    body: dict[str, Any]
    """As asked for, node by node."""
    created: float
    after: float | None
    until: float | None
    state: str = WAITING
    initiator: str = ""
    """Who brought it into its state: USER or SERVICE."""
    error: dict[str, Any] = field(default_factory=dict)
    nodes: list[str] = field(default_factory=list)
    """Names of those that it was granted."""
    operation: str = ""
    """The one that lasts until it is gone."""

    def move(self, state: str, *, initiator: str = "", error: dict[str, Any] | None = None) -> None:
        """It is in another state."""
        self.state = state
        self.initiator = initiator
        self.error = error or {}

    def specs(self) -> list[tuple[str, dict[str, Any]]]:
        """The nodes that it asks for: each one's id and what it is to be."""
        return [
            (spec["nodeId"], _with_tier(asked(spec.get("node") or {}), self.body))
            for spec in self.body["tpu"]["nodeSpec"]
        ]

    def model(self, properties: dict[str, Any]) -> Model:
        """How its nodes are to be had."""
        named = MODELS.get(self.body.get("provisioningModel", ""))
        return named or model_of(properties)


def normal(name: str, body: dict[str, Any]) -> dict[str, Any]:
    """A body with every node of it spelled out. So Google shows several slices too: gcloud counts
    them, and finds them by id, in what it is answered."""
    body = {key: value for key, value in body.items() if key not in OUTPUT_ONLY}
    specs = []
    for spec in (body.get("tpu") or {}).get("nodeSpec", []):
        several = next((spec[field] for field in SEVERAL if field in spec), None)
        one = {key: value for key, value in spec.items() if key not in SEVERAL}
        if several is None:
            specs.append({**one, "nodeId": spec.get("nodeId") or last(name)})
            continue
        prefix = several.get("nodeIdPrefix") or last(name)
        count = min(int(several.get("nodeCount", 0)), MOST_SLICES + 1)
        specs += [{**one, "nodeId": f"{prefix}-{number}"} for number in range(count)]
    return {**body, "tpu": {"nodeSpec": specs}}


def _with_tier(properties: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """The request's tier says how its nodes are scheduled."""
    scheduling = dict(properties.get("schedulingConfig") or {})
    if "spot" in body or body.get("provisioningModel") == "SPOT":
        scheduling["spot"] = True
    elif "bestEffort" in body:
        scheduling["preemptible"] = True
    elif (body.get("guaranteed") or {}).get("reserved") or body.get("reservationName"):
        scheduling["reserved"] = True
    return {**properties, "schedulingConfig": scheduling}


def shown(queued: Queued, *, cloud: Cloud) -> dict[str, Any]:
    """In the widest shape."""
    state: dict[str, Any] = {"state": queued.state}
    if queued.state in DATA:
        state[DATA[queued.state]] = {"error": queued.error} if queued.error else {}
    if queued.initiator:
        state["stateInitiator"] = queued.initiator
    return {
        **queued.body,
        "name": queued.name,
        "createTime": cloud.stamp(queued.created),
        "state": state,
    }
