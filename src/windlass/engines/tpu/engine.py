"""The tpu engine: a gang is one queued resource, of one slice or several.

Must not remember anything: what there is, Google says, and what was asked for is marked in the
run's folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from windlass.catalog.query import Catalog
from windlass.engines import rented
from windlass.engines.base import ClaimRequest, Handle, Limits, Observation, Owned, Seen
from windlass.engines.labels import handle_of, split_handle
from windlass.engines.marks import Marks
from windlass.engines.rendering import Call
from windlass.engines.secret_names import references
from windlass.engines.tpu import rendering
from windlass.engines.tpu import request as requests
from windlass.engines.tpu.request import TpuRequest, queued_name
from windlass.engines.tpu.sight import claim_of, claim_of_node, condition, folder_of, name_of, seen
from windlass.errors import EngineTransient, OptionRefused, WindlassError
from windlass.google.secrets import Secrets
from windlass.google.session import Taken
from windlass.google.tpu import EVERYWHERE, Tpu

NODES_MAX = 4096


class TpuEngine:
    """Rents TPU slices for gangs."""

    name = "tpu"

    def __init__(
        self,
        google: Tpu,
        *,
        catalog: Catalog,
        marks: Marks,
        agent_url: Callable[[], str],
        defaults: Mapping[str, Any],
    ) -> None:
        self._google = google
        self._catalog = catalog
        self._marks = marks
        self._agent_url = agent_url
        self._defaults = defaults

    def limits(self) -> Limits:
        """See Engine."""
        return rented.limits(nodes_max=NODES_MAX)

    def render(self, claim: ClaimRequest) -> TpuRequest:
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

    def submit(self, request: TpuRequest) -> Handle:
        """See Engine. The mark is written before the call and says after it that it was taken:
        a claim that Google has once taken is never asked for again, even when it is gone."""
        handle = handle_of(request.zone, request.claim)
        mark = self._marks.of(request.folder, request.attempt, request.claim)
        if mark.is_asked:
            return handle
        try:
            operation = self._google.create_queued(
                request.zone,
                request.name,
                request.body,
                request_id=request.request_id,
                version=request.version,
            )
        except Taken as exc:
            operation = self._taken(request, str(exc))
        mark.asked(operation)
        return handle

    def observe(self, handles: Sequence[Handle]) -> Mapping[Handle, Observation]:
        """See Engine. One look at each zone."""
        found: dict[Handle, Observation] = {}
        for zone in sorted({split_handle(handle)[0] for handle in handles}):
            here = [handle for handle in handles if split_handle(handle)[0] == zone]
            found.update(self._observe_zone(zone, here))
        return found

    def cancel(self, handle: Handle, *, now: bool = False) -> None:
        """See Engine. Cloud TPU presses the power button of every host first: the agents tell
        their ranks, which have what is left of the guest's 90 seconds. Cloud TPU has no faster
        end; agents that are to hurry find that in the run's folder."""
        zone, claim = split_handle(handle)
        if not claim:
            return
        name = queued_name(claim)
        queued = self._google.get_queued(zone, name)
        if queued is None:
            self._cancel_nodes(zone, claim)
        elif claim_of(queued) == claim:
            if now:
                self._marks.hurry(folder_of(queued))
            if _state(queued) != "DELETING":
                self._google.delete_queued(zone, name)

    def owned(self) -> Sequence[Owned]:
        """See Engine. Queued resources have no labels; the nodes that they ask for have."""
        found: dict[Handle, Owned] = {}
        queued = ((claim_of(one), one) for one in self._google.queued(EVERYWHERE))
        nodes = ((claim_of_node(one), one) for one in self._google.nodes(EVERYWHERE))
        for claim, document in (*queued, *nodes):
            if claim:
                handle = handle_of(str(document["name"]).split("/")[3], claim)
                found[handle] = Owned(handle=handle, claim=claim)
        return list(found.values())

    def early_lines(self, handle: Handle, *, most: int) -> Sequence[str]:
        """See StreamsLogs: Cloud TPU shows no console, but says how slices and hosts are."""
        zone, claim = split_handle(handle)
        queued = self._google.get_queued(zone, queued_name(claim)) if claim else None
        nodes = [one for one in self._google.nodes(zone) if claim and claim_of_node(one) == claim]
        return condition(queued, nodes)[-most:]

    def calls(self, request: TpuRequest) -> Sequence[Call]:
        """See Renders."""
        return rendering.calls(request, project=self._google.project)

    def gcloud(self, request: TpuRequest) -> str:
        """See Renders."""
        return rendering.gcloud_script(request, project=self._google.project)

    def terraform(self, request: TpuRequest) -> str:
        """See Renders."""
        raise OptionRefused(
            "Terraform's google provider has no metadata for queued resources, and so no agent",
            remedy="Use `--format request` or `--format gcloud`.",
        )

    def inventory(self) -> Mapping[str, str]:
        """See Explains."""
        return {
            "project": self._google.project,
            "queued resources of ours": str(len(self.owned())),
        }

    def _taken(self, request: TpuRequest, why: str) -> str:
        """The name is in use: by this very claim, whose answer was lost, or by what is going."""
        queued = self._google.get_queued(request.zone, request.name)
        if queued is None or claim_of(queued) != request.claim:
            raise EngineTransient(why)
        return str(queued["name"])

    def _cancel_nodes(self, zone: str, claim: str) -> None:
        """Slices whose queued resource is gone; there should be none."""
        for node in self._google.nodes(zone):
            if claim_of_node(node) == claim and node.get("state") != "DELETING":
                self._google.delete_node(zone, name_of(node))

    def _observe_zone(self, zone: str, handles: Sequence[Handle]) -> dict[Handle, Observation]:
        if not all(split_handle(handle)[1] for handle in handles):
            return dict.fromkeys(handles, Observation(seen=Seen.GONE, reason="it is none of ours"))
        try:
            queued = {claim_of(one): one for one in self._google.queued(zone)}
            nodes = list(self._google.nodes(zone))
        except WindlassError as error:
            return dict.fromkeys(handles, Observation(seen=Seen.UNKNOWN, reason=error.message))
        found = {}
        for handle in handles:
            claim = split_handle(handle)[1]
            slices = [one for one in nodes if claim_of_node(one) == claim]
            found[handle] = seen(queued.get(claim), slices)
        return found


def _state(queued: Mapping[str, Any]) -> str:
    return str((queued.get("state") or {}).get("state", ""))
