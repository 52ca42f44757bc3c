"""The compute engine: a gang is a set of Compute Engine instances, asked for in one call.

Must not remember anything: what there is, Google says, and what was asked for is marked in the
run's folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from windlass.catalog.query import Catalog
from windlass.engines import rented
from windlass.engines.base import ClaimRequest, Handle, Limits, Observation, Owned, Seen
from windlass.engines.compute import request as requests
from windlass.engines.compute.calls import calls
from windlass.engines.compute.gcloud import gcloud_script
from windlass.engines.compute.inserts import GROUPS, POLICIES, RESIZES, TEMPLATES, Insert
from windlass.engines.compute.naming import claim_name, claim_of, described_claim, resize_name
from windlass.engines.compute.request import ComputeRequest
from windlass.engines.compute.sight import QUEUED, of_machines, of_queue, of_refusal
from windlass.engines.compute.terraform import terraform_text
from windlass.engines.labels import CLAIM_LABEL, OURS, handle_of, label_value, split_handle
from windlass.engines.marks import Marks
from windlass.engines.rendering import Call
from windlass.engines.secret_names import references
from windlass.errors import EngineRejected, EngineTransient, WindlassError
from windlass.google.compute import Compute, operation_errors
from windlass.google.refusals import operation_error
from windlass.google.secrets import Secrets
from windlass.google.session import Missing, Taken

NODES_MAX = 1000
CONSOLES_MAX = 4
"""Of so many machines of a gang consoles are read."""
CONSOLE_BYTES = 8192
REPEATABLE_S = 1800.0
"""For so long Google knows a request id again; after that, asking again would make machines."""


class ComputeEngine:
    """Rents VMs for gangs."""

    name = "compute"

    def __init__(
        self,
        google: Compute,
        *,
        catalog: Catalog,
        marks: Marks,
        agent_url: Callable[[], str],
        defaults: Mapping[str, Any],
    ) -> None:
        self._google = google
        self._catalog = catalog
        self._marks = marks
        self._asked: dict[Handle, tuple[str, str]] = {}
        """Operations that were started here and may yet fail, by scope and name."""
        self._agent_url = agent_url
        self._defaults = defaults

    def limits(self) -> Limits:
        """See Engine."""
        return rented.limits(nodes_max=NODES_MAX)

    def render(self, claim: ClaimRequest) -> ComputeRequest:
        """See Engine."""
        return requests.render(
            claim,
            catalog=self._catalog,
            defaults=self._defaults,
            agent_url=self._agent_url(),
            project=self._google.project,
        )

    def check_secrets(self, secrets: Mapping[str, str]) -> None:
        """See KeepsSecrets."""
        named = references(secrets, self._google.project)
        Secrets(self._google.session).check(named)

    def submit(self, request: ComputeRequest) -> Handle:
        """See Engine. The mark is written before the first call and says after the last that it
        was taken: a claim whose request ids Google may have forgotten is never asked for again."""
        handle = handle_of(request.zone, request.claim)
        mark = self._marks.of(request.folder, request.attempt, request.claim)
        if mark.is_asked:
            return handle
        if self._marks.age_s(mark) > REPEATABLE_S:
            self._drop_empty_group(request)
            return handle
        for insert in request.inserts[:-1]:
            if self._insert(request, insert).get("status", "DONE") != "DONE":
                made = insert.collection.rpartition("/")[2]
                raise EngineTransient(f"{made} for {request.claim} are being made")
        last = request.inserts[-1]
        operation = self._insert(request, last)
        if operation:
            self._asked[handle] = (last.scope, str(operation["name"]))
        mark.asked(str(operation.get("name", "")))
        return handle

    def observe(self, handles: Sequence[Handle]) -> Mapping[Handle, Observation]:
        """See Engine. One look at all instances of ours, then at what else there is of claims that
        have none."""
        if not handles:
            return {}
        try:
            machines = self._machines()
            is_bare = any(_claim(handle) not in machines for handle in handles)
            queued = self._described(GROUPS) if is_bare else {}
            return {
                handle: self._seen(
                    handle, machines.get(_claim(handle), []), is_queued=_claim(handle) in queued
                )
                for handle in handles
            }
        except WindlassError as error:
            unknown = Observation(seen=Seen.UNKNOWN, reason=error.message)
            return dict.fromkeys(handles, unknown)

    def cancel(self, handle: Handle, *, now: bool = False) -> None:
        """See Engine. Compute Engine presses the power button first: the agent tells its ranks,
        which have what is left of the guest's 90 seconds. Deleting is the only end. What was made
        with the machines cannot go before them."""
        zone, claim = split_handle(handle)
        if not claim:
            return
        machines = self._of(zone, claim)
        has_group = self._cancel_group(zone, claim)
        for instance in machines:
            is_ending = instance.get("status") == "STOPPING" and not now
            if not is_ending and (now or not has_group):
                self._google.delete_instance(zone, str(instance["name"]), at_once=now)
        if not machines and not has_group:
            region = f"regions/{zone.rpartition('-')[0]}"
            for collection in (TEMPLATES, POLICIES):
                self._google.delete(region, collection, claim_name(claim))

    def owned(self) -> Sequence[Owned]:
        """See Engine."""
        places: dict[str, str] = {}
        for collection in (POLICIES, TEMPLATES, GROUPS):
            places |= self._described(collection)
        for claim, instances in self._machines().items():
            places[claim] = str(instances[0]["zone"]).rpartition("/")[2]
        return [
            Owned(handle=handle_of(place, claim), claim=claim)
            for claim, place in places.items()
            if claim
        ]

    def inventory(self) -> Mapping[str, str]:
        """See Explains."""
        live = list(self._google.everywhere("instances", where=f"labels.{OURS}=true"))
        return {
            "project": self._google.project,
            "instances of ours": str(len(live)),
        }

    def early_lines(self, handle: Handle, *, most: int) -> Sequence[str]:
        """See StreamsLogs: the ends of the serial consoles, of a few machines."""
        zone, claim = split_handle(handle)
        names = sorted(str(one["name"]) for one in self._of(zone, claim))[:CONSOLES_MAX]
        lines: list[str] = []
        for name in names:
            said = self._google.console(zone, name, most=CONSOLE_BYTES).splitlines()
            prefix = f"{name}: " if len(names) > 1 else ""
            lines += [f"{prefix}{line}" for line in said[-(most // len(names)) :]]
        return lines

    def calls(self, request: ComputeRequest) -> Sequence[Call]:
        """See Renders."""
        return calls(request, project=self._google.project)

    def gcloud(self, request: ComputeRequest) -> str:
        """See Renders."""
        return gcloud_script(request, project=self._google.project)

    def terraform(self, request: ComputeRequest) -> str:
        """See Renders."""
        return terraform_text(request, project=self._google.project)

    def _of(self, zone: str, claim: str) -> list[dict[str, Any]]:
        where = f"labels.{CLAIM_LABEL}={label_value(claim)}"
        found = self._google.listed(f"zones/{zone}", "instances", where=where)
        return [one for one in found if claim_of(one) == claim]

    def _of_operation(self, handle: Handle) -> Observation:
        """A claim without machines: they are on their way, were refused, or are gone. A later
        controller does not know the operation, and takes the claim for gone."""
        if handle not in self._asked:
            return Observation(seen=Seen.GONE)
        operation = self._google.operation(*self._asked[handle])
        if operation is not None and operation.get("status") != "DONE":
            return Observation(seen=Seen.PENDING, reason="its machines are being made")
        del self._asked[handle]
        return of_refusal(operation or {})

    def _insert(self, request: ComputeRequest, insert: Insert) -> dict[str, Any]:
        """Ask for one thing; the operation, or nothing where it is there already or comes too
        late."""
        try:
            operation = self._google.insert(
                insert.scope, insert.collection, insert.body, request_id=insert.request_id
            )
        except Taken:
            return {}
        except Missing as exc:
            if claim_name(request.claim) in str(exc):
                # What was made for it before is gone: it was cancelled meanwhile, and stays so.
                return {}
            raise EngineRejected(
                f"asking for {request.nodes} machines in {request.zone}: {exc}",
                remedy="Check the names in the spec and in the configuration.",
            ) from exc
        errors = operation_errors(operation)
        if errors:
            raise operation_error(
                errors, what=f"asking for {request.nodes} machines in {request.zone}"
            )
        return operation

    def _machines(self) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for _, instance in self._google.everywhere("instances", where=f"labels.{OURS}=true"):
            found.setdefault(claim_of(instance), []).append(instance)
        return found

    def _described(self, collection: str) -> dict[str, str]:
        """The claims of what there is of ours in a collection without labels, and their zones."""
        found = (described_claim(one) for _, one in self._google.everywhere(collection))
        return {claim: zone for zone, claim in found if claim}

    def _seen(
        self, handle: Handle, machines: list[dict[str, Any]], *, is_queued: bool
    ) -> Observation:
        if machines:
            return of_machines(machines)
        if not is_queued:
            return self._of_operation(handle)
        zone, claim = split_handle(handle)
        requests = f"{GROUPS}/{claim_name(claim)}/{RESIZES}"
        return of_queue(self._google.get(f"zones/{zone}", requests, resize_name(claim)))

    def _drop_empty_group(self, request: ComputeRequest) -> None:
        """A group that was made for a claim and never asked to grow would wait for ever."""
        zone, claim = request.zone, request.claim
        requests = f"{GROUPS}/{claim_name(claim)}/{RESIZES}"
        if not request.inserts[-1].collection.endswith(RESIZES):
            return
        if self._google.get(f"zones/{zone}", requests, resize_name(claim)) is None:
            self._cancel_group(zone, claim)

    def _cancel_group(self, zone: str, claim: str) -> bool:
        """Delete the group of a claim, which takes its machines with it; whether there is one."""
        scope, name = f"zones/{zone}", claim_name(claim)
        if self._google.get(scope, GROUPS, name) is None:
            return False
        requests = f"{GROUPS}/{name}/{RESIZES}"
        resize = self._google.get(scope, requests, resize_name(claim))
        if resize is not None and resize.get("state") in QUEUED:
            self._google.act(scope, requests, resize_name(claim), "cancel")
        self._google.delete(scope, GROUPS, name)
        return True


def _claim(handle: Handle) -> str:
    return split_handle(handle)[1]
