"""The compute engine: a gang is a set of Compute Engine instances, asked for in one call.

Must not remember anything: what there is, Google says, and what was asked for is marked in the
run's folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from windlass.agent.folder import Folder
from windlass.catalog.query import Catalog
from windlass.engines.base import ClaimRequest, Handle, Limits, Observation, Owned, Seen
from windlass.engines.compute import request as requests
from windlass.engines.compute.naming import claim_of
from windlass.engines.compute.request import ComputeRequest
from windlass.engines.labels import CLAIM_LABEL, OURS, handle_of, label_value, split_handle
from windlass.errors import EngineTransient, WindlassError
from windlass.google.compute import Compute, operation_errors
from windlass.google.refusals import operation_error
from windlass.ports.clock import Clock

NODES_MAX = 1000
START_TIMEOUT_S = 900.0
"""Drivers, packages and `setup` come after the machine; only heartbeats count here."""
STALE_S = 10.0
NOTICE_S = 30.0
REPEATABLE_S = 1800.0
"""For so long Google knows a request id again; after that, asking again would make machines."""
COMING = frozenset({"PROVISIONING", "STAGING"})
UP = frozenset({"RUNNING", "REPAIRING"})


class ComputeEngine:
    """Rents VMs for gangs."""

    name = "compute"

    def __init__(
        self,
        google: Compute,
        *,
        catalog: Catalog,
        clock: Clock,
        open_folder: Callable[[str], Folder],
        agent_url: Callable[[], str],
        defaults: Mapping[str, Any],
    ) -> None:
        self._google = google
        self._catalog = catalog
        self._clock = clock
        self._open_folder = open_folder
        self._agent_url = agent_url
        self._defaults = defaults

    def limits(self) -> Limits:
        """See Engine."""
        return Limits(
            nodes_max=NODES_MAX,
            start_timeout_s=START_TIMEOUT_S,
            stale_s=STALE_S,
            notice_s=NOTICE_S,
            is_rented=True,
        )

    def render(self, claim: ClaimRequest) -> ComputeRequest:
        """See Engine."""
        return requests.render(
            claim, catalog=self._catalog, defaults=self._defaults, agent_url=self._agent_url()
        )

    def submit(self, request: ComputeRequest) -> Handle:
        """See Engine. The mark is written before the call: a claim whose request id Google has
        forgotten is never asked for again."""
        handle = handle_of(request.zone, request.claim)
        mark = self._mark(request)
        if self._clock.now() - mark["asked_at"] > REPEATABLE_S:
            return handle
        operation = self._google.bulk_insert(
            request.zone, request.body, request_id=request.request_id
        )
        self._folder(request.folder).write(
            _mark_name(request.attempt, request.claim),
            json.dumps({**mark, "operation": operation["name"]}).encode(),
        )
        errors = operation_errors(operation)
        if errors:
            raise operation_error(errors, what=f"asking for {len(request.names)} in {request.zone}")
        return handle

    def observe(self, handles: Sequence[Handle]) -> Mapping[Handle, Observation]:
        """See Engine. One look at all instances of ours, then at the operations of claims that
        have none."""
        if not handles:
            return {}
        try:
            found = self._instances()
        except WindlassError as error:
            unknown = Observation(seen=Seen.UNKNOWN, reason=error.message)
            return dict.fromkeys(handles, unknown)
        return {handle: self._seen(handle, found.get(_claim(handle), ())) for handle in handles}

    def cancel(self, handle: Handle, *, now: bool = False) -> None:
        """See Engine. Compute Engine presses the power button first: the agent tells its ranks,
        which have what is left of the guest's 90 seconds. Deleting is the only end."""
        zone, claim = split_handle(handle)
        if not claim:
            return
        where = f"labels.{CLAIM_LABEL}={label_value(claim)}"
        for instance in self._google.listed(f"zones/{zone}", "instances", where=where):
            is_ending = instance.get("status") == "STOPPING" and not now
            if claim_of(instance) == claim and not is_ending:
                self._google.delete_instance(zone, str(instance["name"]), at_once=now)

    def owned(self) -> Sequence[Owned]:
        """See Engine."""
        found: dict[str, Owned] = {}
        for scope, instance in self._google.everywhere("instances", where=f"labels.{OURS}=true"):
            claim = claim_of(instance)
            if claim:
                zone = scope.rpartition("/")[2]
                found[claim] = Owned(handle=handle_of(zone, claim), claim=claim)
        return list(found.values())

    def inventory(self) -> Mapping[str, str]:
        """See Explains."""
        live = list(self._google.everywhere("instances", where=f"labels.{OURS}=true"))
        return {
            "project": self._google.project,
            "instances of ours": str(len(live)),
        }

    def _instances(self) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for _, instance in self._google.everywhere("instances", where=f"labels.{OURS}=true"):
            found.setdefault(claim_of(instance), []).append(instance)
        return found

    def _seen(self, handle: Handle, instances: Iterable[Mapping[str, Any]]) -> Observation:
        """A machine that is stopping or off is still there: it is missed, and has to be deleted."""
        found = {_node(one): str(one.get("status")) for one in instances}
        if not found:
            return Observation(seen=Seen.GONE)
        if all(status in COMING for status in found.values()):
            return Observation(seen=Seen.PENDING, reason="its machines are being made")
        missing = tuple(
            node for node in range(max(found) + 1) if found.get(node, "") not in (*COMING, *UP)
        )
        return Observation(seen=Seen.RUNNING, missing=missing)

    def _mark(self, request: ComputeRequest) -> dict[str, Any]:
        """When the claim was first asked for; now, if it was not."""
        folder = self._folder(request.folder)
        name = _mark_name(request.attempt, request.claim)
        mark = {"asked_at": self._clock.now(), "zone": request.zone}
        try:
            if folder.create(name, json.dumps(mark).encode()):
                return mark
            return dict(json.loads(folder.read(name) or b"{}")) or mark
        except OSError as error:
            raise EngineTransient(f"the run's folder cannot be written: {error}") from error

    def _folder(self, url: str) -> Folder:
        return self._open_folder(url)


def _claim(handle: Handle) -> str:
    return split_handle(handle)[1]


def _node(instance: Mapping[str, Any]) -> int:
    return int(str(instance["name"]).rpartition("-")[2])


def _mark_name(attempt: int, claim: str) -> str:
    return f"attempts/{attempt}/{claim}/compute.json"
