"""Quotas as Cloud Quotas tells them: what each is, and its limit in every place.

Must not change a limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from windlass.twin.cloudquotas.limits import Quota, known
from windlass.twin.paging import page
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog
    from windlass.twin.call import Call
    from windlass.twin.cloud import Cloud
    from windlass.twin.quotas import Quotas

USUAL, MOST = 100, 500
NOWHERE = "-"
"""A place that nobody set a limit for: what holds there holds by default."""


class Infos:
    """The quotas of the project."""

    def __init__(self, cloud: Cloud, *, catalog: Catalog, quotas: Quotas) -> None:
        self._cloud = cloud
        self._quotas = quotas
        self._catalog = catalog

    @cached_property
    def _known(self) -> dict[str, dict[str, Quota]]:
        """Found out when first asked: it looks at all offers."""
        return known(self._catalog)

    def find(self, service: str, id_: str) -> Quota:
        """One quota, or a refusal."""
        quota = self._known.get(service, {}).get(id_)
        if quota is None:
            raise Refusal(404, f"Quota {id_!r} of service {service!r} was not found.")
        return quota

    def get(self, call: Call) -> dict[str, Any]:
        """One of them."""
        words = call.params["name"].split("/")
        self._check_place(words)
        return self._shown(self.find(words[5], words[7]))

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of a service; of services without quotas there are none."""
        words = call.params["parent"].split("/")
        self._check_place(words)
        found = list(self._known.get(words[5], {}).values())
        size, token = call.query.get("pageSize"), call.query.get("pageToken", "")
        shown, following = page(found, size=size, token=token, usual=USUAL, most=MOST)
        answer: dict[str, Any] = (
            {"quotaInfos": [self._shown(one) for one in shown]} if shown else {}
        )
        if following:
            answer["nextPageToken"] = following
        return answer

    def _check_place(self, words: list[str]) -> None:
        settings = self._cloud.settings
        if words[1] not in (settings.project, settings.project_number):
            raise Refusal(403, f"Permission denied on resource project {words[1]}.")
        if words[3] != "global":
            raise Refusal(400, f"Location must be global, not {words[3]}.")

    def _shown(self, quota: Quota) -> dict[str, Any]:
        parent = f"projects/{self._cloud.settings.project_number}/locations/global"
        places = f" per {quota.place}" if quota.place else ""
        shown = {
            "name": f"{parent}/services/{quota.service}/quotaInfos/{quota.id}",
            "quotaId": quota.id,
            "metric": quota.full_metric,
            "service": quota.service,
            "isPrecise": True,
            "containerType": "PROJECT",
            "metricDisplayName": quota.title,
            "quotaDisplayName": f"{quota.title} per project{places}",
            "metricUnit": "1",
            "isConcurrent": True,
            "quotaIncreaseEligibility": {"isEligible": True},
            "dimensionsInfos": list(self._infos(quota)),
        }
        if quota.dimensions:
            shown["dimensions"] = quota.dimensions
        return shown

    def _infos(self, quota: Quota) -> Iterator[dict[str, Any]]:
        """Places with a limit of their own one by one, then all others together."""
        for family in quota.families:
            key = quota.key(family)
            shared = {quota.family: family} if family else {}
            usual = self._quotas.limit(NOWHERE, key)
            others = []
            for scope in quota.scopes:
                value = self._quotas.limit(scope, key)
                if value == usual:
                    others.append(scope)
                else:
                    own = {quota.place: scope} if quota.place else {}
                    yield _info({**shared, **own}, value, [scope])
            if others:
                yield _info(shared, usual, others)


def _info(dimensions: dict[str, str], value: float, locations: list[str]) -> dict[str, Any]:
    info: dict[str, Any] = {"dimensions": dimensions} if dimensions else {}
    return info | {"details": {"value": str(int(value))}, "applicableLocations": locations}
