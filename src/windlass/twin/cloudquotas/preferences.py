"""Quota preferences: what the project would like to have, which Google grants.

Must not grant anything but limits: they hold from the moment of the grant.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from windlass.twin.compute.filters import parsed
from windlass.twin.paging import page
from windlass.twin.quotas import GLOBAL
from windlass.twin.refusals import Refusal
from windlass.twin.wellknown import patched

if TYPE_CHECKING:
    from windlass.twin.call import Call
    from windlass.twin.cloud import Cloud
    from windlass.twin.cloudquotas.infos import Infos
    from windlass.twin.quotas import Quotas

ID = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9-]{0,62}")
MOST = 100
BELOW_USAGE = ("QUOTA_DECREASE_BELOW_USAGE", "1")
TOO_MUCH_LESS = ("QUOTA_DECREASE_PERCENTAGE_TOO_HIGH", "2")
LEAST_SHARE = 0.9
FIXED = ("name", "createTime", "updateTime", "etag", "reconciling", "service", "quotaId")
SAME = ("service", "quotaId", "dimensions")
"""There is one preference for each of these."""


class Preferences:
    """Wishes and what became of them. They are granted after as long as an operation takes."""

    def __init__(self, cloud: Cloud, *, infos: Infos, quotas: Quotas) -> None:
        self._cloud = cloud
        self._infos = infos
        self._quotas = quotas
        self._preferences = cloud.documents("cloudquotas.preferences")
        cloud.on("cloudquotas.granted", self._grant)

    def create(self, call: Call) -> dict[str, Any]:
        """Wish for a value."""
        id_ = call.query.get("quotaPreferenceId") or call.body.get("name", "").rpartition("/")[2]
        return self._create(call, id_ or f"wish-{int(self._cloud.new_id()):x}")

    def get(self, call: Call) -> dict[str, Any]:
        """One of them."""
        return self._find(self._name(call))

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those that pass the filter."""
        test = parsed(call.query.get("filter", ""))
        found = [one for _, one in self._preferences.items() if test(one)]
        size, token = call.query.get("pageSize"), call.query.get("pageToken", "")
        shown, following = page(found, size=size, token=token, usual=MOST, most=MOST)
        answer: dict[str, Any] = {"quotaPreferences": shown} if shown else {}
        if following:
            answer["nextPageToken"] = following
        return answer

    def patch(self, call: Call) -> dict[str, Any]:
        """Wish for another value."""
        name = self._name(call)
        allows_missing = call.query.get("allowMissing", "").lower() in ("true", "1")
        if name not in self._preferences and allows_missing:
            return self._create(call, name.rpartition("/")[2])
        before = self._find(name)
        if call.body.get("etag") and call.body["etag"] != before["etag"]:
            raise Refusal(409, "The preference was changed meanwhile.", status="ABORTED")
        change = {key: value for key, value in call.body.items() if key not in FIXED}
        changed = patched(before, change, call.query.get("updateMask", ""), fixed=FIXED)
        return self._wish(call, changed)

    def _create(self, call: Call, id_: str) -> dict[str, Any]:
        if not ID.fullmatch(id_):
            raise Refusal(400, f"Invalid quota preference id: {id_!r}.")
        name = f"{self._parent()}/quotaPreferences/{id_}"
        wish = [call.body.get(field) for field in SAME]
        for other, preference in self._preferences.items():
            if other == name or [preference.get(field) for field in SAME] == wish:
                raise Refusal(409, f"Quota preference {other} already exists.")
        fresh = {**call.body, "name": name, "createTime": self._cloud.stamp()}
        return self._wish(call, fresh)

    def _wish(self, call: Call, preference: dict[str, Any]) -> dict[str, Any]:
        scope, metric = self._meant(preference)
        config = preference.get("quotaConfig", {})
        wanted = float(config.get("preferredValue", -1))
        if wanted < -1 or "preferredValue" not in config:
            raise Refusal(400, "quotaConfig.preferredValue must be given.")
        self._check_decrease(call, scope, metric, wanted)
        seconds = self._cloud.settings.delays.operation
        preference |= {
            "quotaConfig": {
                **config,
                "grantedValue": str(int(self._quotas.limit(scope, metric))),
                "requestOrigin": "ORIGIN_UNSPECIFIED",
            },
            "reconciling": True,
            "updateTime": self._cloud.stamp(),
            "etag": f"{int(self._cloud.new_id()):x}",
        }
        if call.query.get("validateOnly", "").lower() in ("true", "1"):
            return preference
        self._preferences.put(preference["name"], preference)
        if seconds > 0:
            self._cloud.later(seconds, "cloudquotas.granted", preference["name"])
            return preference
        self._grant(preference["name"])
        return self._find(preference["name"])

    def _grant(self, name: str) -> None:
        preference = self._preferences.get(name)
        if preference is None or not preference["reconciling"]:
            return
        wanted = preference["quotaConfig"]["preferredValue"]
        self._quotas.set_limit(*self._meant(preference), float(wanted))
        granted = {**preference["quotaConfig"], "grantedValue": wanted}
        self._preferences.put(name, {**preference, "quotaConfig": granted, "reconciling": False})

    def _meant(self, preference: dict[str, Any]) -> tuple[str, str]:
        """The place and the metric of the limit; `*` for all places."""
        quota = self._infos.find(preference.get("service", ""), preference.get("quotaId", ""))
        dimensions = preference.get("dimensions", {})
        unknown = sorted(set(dimensions) - set(quota.dimensions))
        family = dimensions.get(quota.family, "") if quota.family else ""
        place = dimensions.get(quota.place, "*") if quota.place else GLOBAL
        if unknown or family not in quota.families or place not in ("*", *quota.scopes):
            message = f"Dimensions {dimensions} are not those of quota {quota.id}."
            raise Refusal(400, message)
        return place, quota.key(family)

    def _check_decrease(self, call: Call, scope: str, metric: str, wanted: float) -> None:
        pairs = parse_qsl(call.request.query)
        ignored = {value for name, value in pairs if name == "ignoreSafetyChecks"}
        if wanted < 0:
            return
        if wanted < self._quotas.usage(scope, metric) and not ignored & set(BELOW_USAGE):
            raise _unsafe(BELOW_USAGE[0])
        least = self._quotas.limit(scope, metric) * LEAST_SHARE
        if wanted < least and not ignored & set(TOO_MUCH_LESS):
            raise _unsafe(TOO_MUCH_LESS[0])

    def _parent(self) -> str:
        return f"projects/{self._cloud.settings.project_number}/locations/global"

    def _name(self, call: Call) -> str:
        return f"{self._parent()}/quotaPreferences/{call.params['name'].rpartition('/')[2]}"

    def _find(self, name: str) -> dict[str, Any]:
        preference = self._preferences.get(name)
        if preference is None:
            raise Refusal(404, f"Quota preference {name} was not found.")
        return preference


def _unsafe(check: str) -> Refusal:
    message = f"The request fails the safety check {check}; it can be ignored on purpose."
    return Refusal(400, message, status="FAILED_PRECONDITION", reason="failedPrecondition")
