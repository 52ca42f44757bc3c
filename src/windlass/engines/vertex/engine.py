"""The vertex engine: a gang is one custom training of Vertex AI.

Must not remember anything: what there is, Google says, and what was asked for is marked in the
run's folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from windlass.catalog.query import Catalog
from windlass.engines import rented
from windlass.engines.base import ClaimRequest, Handle, Limits, Observation, Owned, Seen
from windlass.engines.labels import CLAIM_LABEL, OURS, handle_of, label_value, split_handle
from windlass.engines.marks import Marks, claim_folder
from windlass.engines.rendering import Call
from windlass.engines.secret_names import references
from windlass.engines.vertex import rendering
from windlass.engines.vertex import request as requests
from windlass.engines.vertex.request import VertexRequest
from windlass.engines.vertex.sight import LIVE, folder_of, is_live, seen
from windlass.errors import EngineRejected, OptionRefused, WindlassError
from windlass.google.logging import Logging, text_of
from windlass.google.secrets import Secrets
from windlass.google.vertex import Vertex

NODES_MAX = 1000
ALIVE = " OR ".join(f'state="{state}"' for state in sorted(LIVE))


class VertexEngine:
    """Has Vertex AI run gangs."""

    name = "vertex"

    def __init__(
        self,
        google: Vertex,
        *,
        logs: Logging,
        catalog: Catalog,
        marks: Marks,
        agent_url: Callable[[], str],
        defaults: Mapping[str, Any],
    ) -> None:
        self._google = google
        self._logs = logs
        self._catalog = catalog
        self._marks = marks
        self._agent_url = agent_url
        self._defaults = defaults

    def limits(self) -> Limits:
        """See Engine."""
        return rented.limits(nodes_max=NODES_MAX, runs_containers=True)

    def render(self, claim: ClaimRequest) -> VertexRequest:
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

    def submit(self, request: VertexRequest) -> Handle:
        """See Engine. Vertex AI knows no request ids: where a mark says that an ask may have been
        made, whatever it has made is looked for first."""
        handle = handle_of(request.region, request.claim)
        mark = self._marks.of(request.folder, request.attempt, request.claim)
        if mark.is_asked:
            return handle
        folder = claim_folder(request.folder, request.attempt, request.claim)
        made = [one for one in self._of(handle) if folder_of(one) == folder]
        made.sort(key=lambda one: str(one.get("createTime", "")))
        if not made:
            made = [self._google.create(request.region, request.body)]
        mark.asked(str(made[0].get("name", "")))
        for double in made[1:]:
            self._google.cancel(str(double["name"]))
        return handle

    def observe(self, handles: Sequence[Handle]) -> Mapping[Handle, Observation]:
        """See Engine. One look at what lives in each region, then at claims that do not."""
        found: dict[Handle, Observation] = {}
        for region in sorted({split_handle(handle)[0] for handle in handles}):
            here = [handle for handle in handles if split_handle(handle)[0] == region]
            found.update(self._observe_region(region, here))
        return found

    def cancel(self, handle: Handle, *, now: bool = False) -> None:
        """See Engine. Vertex AI tells the containers, whose agents tell their ranks. It has no
        faster end; agents that are to hurry find that in the run's folder. What was cancelled
        stays in Vertex AI's lists, and costs nothing."""
        if not split_handle(handle)[1]:
            return
        for training in self._of(handle):
            if now and is_live(training):
                self._marks.hurry(folder_of(training))
            if is_live(training) and training.get("state") != "JOB_STATE_CANCELLING":
                self._google.cancel(str(training["name"]))

    def owned(self) -> Sequence[Owned]:
        """See Engine. Vertex AI is asked region by region: it has no list of all."""
        found: dict[Handle, Owned] = {}
        for region in self._regions():
            for training in self._living(region):
                claim = str(training.get("displayName", ""))
                handle = handle_of(region, claim)
                found[handle] = Owned(handle=handle, claim=claim)
        return list(found.values())

    def calls(self, request: VertexRequest) -> Sequence[Call]:
        """See Renders."""
        return rendering.calls(request, project=self._google.project)

    def gcloud(self, request: VertexRequest) -> str:
        """See Renders."""
        return rendering.gcloud_script(request, project=self._google.project)

    def terraform(self, request: VertexRequest) -> str:
        """See Renders."""
        raise OptionRefused(
            "Terraform's google provider has no custom jobs of Vertex AI",
            remedy="Use `--format request` or `--format gcloud`.",
        )

    def inventory(self) -> Mapping[str, str]:
        """See Explains."""
        return {
            "project": self._google.project,
            "custom trainings of ours": str(len(self.owned())),
        }

    def early_lines(self, handle: Handle, *, most: int) -> Sequence[str]:
        """See StreamsLogs."""
        ids = [str(one["name"]).rpartition("/")[2] for one in self._of(handle)]
        if not ids:
            return ()
        wanted = " OR ".join(f'"{one}"' for one in ids)
        where = f'resource.type="ml_job" AND resource.labels.job_id=({wanted})'
        return [text_of(entry) for entry in self._logs.newest(where, most=most)]

    def _observe_region(self, region: str, handles: Sequence[Handle]) -> dict[Handle, Observation]:
        if not all(split_handle(handle)[1] for handle in handles):
            return dict.fromkeys(handles, Observation(seen=Seen.GONE, reason="it is none of ours"))
        try:
            alive = list(self._living(region))
            found = {}
            for handle in handles:
                claim = split_handle(handle)[1]
                own = [one for one in alive if one.get("displayName") == claim]
                found[handle] = seen(own or self._of(handle))
        except WindlassError as error:
            return dict.fromkeys(handles, Observation(seen=Seen.UNKNOWN, reason=error.message))
        return found

    def _living(self, region: str) -> Iterator[dict[str, Any]]:
        where = f"labels.{OURS}=true AND ({ALIVE})"
        try:
            yield from self._google.listed(region, where=where)
        except EngineRejected:
            # Vertex AI is not in this region, and so nothing of ours is.
            return

    def _of(self, handle: Handle) -> list[dict[str, Any]]:
        region, claim = split_handle(handle)
        where = f"labels.{CLAIM_LABEL}={label_value(claim)}"
        found = self._google.listed(region, where=where)
        return [one for one in found if one.get("displayName") == claim]

    def _regions(self) -> list[str]:
        return sorted({zone.rpartition("-")[0] for zone in self._catalog.zones})
