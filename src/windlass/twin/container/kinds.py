"""What the nodes of a pool are: the machines that its configuration asks for.

Must not look for room.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from windlass.twin.compute.asks import UNLISTED
from windlass.twin.market import Model, Wanted
from windlass.twin.refusals import Refusal
from windlass.twin.wellknown import duration_s

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog

LONGEST_FLEX_S = 7 * 86_400.0
USUAL_TYPE = "e2-medium"


class Kinds:
    """Machine types, by the catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._machines = {machine.name: machine for machine in catalog.machines.values()}
        self._chips = catalog.chips

    def wanted(self, pool: dict[str, Any], zone: str) -> Wanted:
        """The machine of one node, or a refusal."""
        config = pool["config"]
        type_ = config["machineType"]
        chip, chips = self._accelerators(config, type_)
        return Wanted(zone, type_, chip, chips, model_of(pool))

    def check_topology(self, pool: dict[str, Any]) -> None:
        """The nodes of a TPU slice are made together, as many as its topology has hosts."""
        topology = (pool.get("placementPolicy") or {}).get("tpuTopology", "")
        machine = self._machines.get(pool["config"]["machineType"])
        if not topology:
            return
        if machine is None or machine.chip is None or not self._chips[machine.chip].is_tpu:
            raise Refusal(400, "TPU topology is only supported for TPU machine types.")
        chips = math.prod(int(side) for side in topology.split("x"))
        hosts = max(1, chips // machine.chips)
        count = int(pool.get("initialNodeCount", 0))
        if count not in (0, hosts):
            message = (
                f"Node pool with TPU topology {topology} and machine type {machine.name} must have "
                f"{hosts} nodes, not {count}."
            )
            raise Refusal(400, message)

    def _accelerators(self, config: dict[str, Any], type_: str) -> tuple[str, int]:
        machine = self._machines.get(type_)
        if machine is None and not UNLISTED.fullmatch(type_):
            raise Refusal(400, f'Machine type with name "{type_}" does not exist.')
        given = (config.get("accelerators") or [{}])[0]
        kind = given.get("acceleratorType", "")
        if machine is None or machine.chip is None or machine.family == "n1":
            return kind, int(given.get("acceleratorCount", 1)) if kind else 0
        own = self._chips[machine.chip]
        if kind and kind != own.google_name:
            message = f"Accelerator type {kind} cannot be used with machine type {type_}."
            raise Refusal(400, message)
        return own.google_name, machine.chips


def model_of(pool: dict[str, Any]) -> Model:
    """How its nodes are provisioned."""
    config = pool["config"]
    if config.get("spot") or config.get("preemptible"):
        return Model.SPOT
    if config.get("flexStart") or (pool.get("queuedProvisioning") or {}).get("enabled"):
        return Model.FLEX_START
    affinity = (config.get("reservationAffinity") or {}).get("consumeReservationType", "")
    return Model.RESERVED if affinity == "SPECIFIC_RESERVATION" else Model.STANDARD


def run_seconds(pool: dict[str, Any]) -> float | None:
    """How long a node may run; None for as long as it likes."""
    longest = pool["config"].get("maxRunDuration")
    if longest:
        return duration_s(longest)
    return LONGEST_FLEX_S if model_of(pool) is Model.FLEX_START else None
