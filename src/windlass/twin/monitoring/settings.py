"""What people set in Cloud Monitoring: alert policies and notification channels.

Must not alert anybody: they are kept and shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.compute.filters import parsed
from windlass.twin.paging import page
from windlass.twin.refusals import Refusal
from windlass.twin.wellknown import patched

if TYPE_CHECKING:
    from windlass.twin.call import Call
    from windlass.twin.cloud import Cloud

MOST = 1000
FIXED = ("name", "creationRecord")


class Kept:
    """One collection of such resources."""

    def __init__(self, cloud: Cloud, collection: str) -> None:
        self._cloud = cloud
        self._collection = collection
        self._shelf = cloud.documents(f"monitoring.{collection}")

    def create(self, call: Call) -> dict[str, Any]:
        """Keep one under a number of Google's own."""
        project = self._cloud.settings.project
        name = f"projects/{project}/{self._collection}/{self._cloud.new_id()}"
        resource = {"enabled": True, **call.body, "name": name, "creationRecord": self._now(call)}
        for condition in resource.get("conditions", []):
            condition["name"] = f"{name}/conditions/{self._cloud.new_id()}"
        return self._put(call, resource)

    def get(self, call: Call) -> dict[str, Any]:
        """One of them."""
        _, _, rest = call.params["name"].split("/", 2)
        name = f"projects/{self._cloud.settings.project}/{rest}"
        resource = self._shelf.get(name)
        if resource is None:
            raise Refusal(404, f"{name} was not found.")
        return resource

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those that pass the filter."""
        test = parsed(call.query.get("filter", ""))
        found = [one for _, one in self._shelf.items() if test(one)]
        size, token = call.query.get("pageSize"), call.query.get("pageToken", "")
        shown, following = page(found, size=size, token=token, usual=MOST, most=MOST)
        answer: dict[str, Any] = {"totalSize": len(found)}
        if shown:
            answer[self._collection] = shown
        if following:
            answer["nextPageToken"] = following
        return answer

    def patch(self, call: Call) -> dict[str, Any]:
        """Change what the mask names."""
        mask = call.query.get("updateMask", "")
        change = {key: value for key, value in call.body.items() if key not in FIXED}
        return self._put(call, patched(self.get(call), change, mask, fixed=FIXED))

    def delete(self, call: Call) -> dict[str, Any]:
        """It is gone."""
        self._shelf.drop(self.get(call)["name"])
        return {}

    def _put(self, call: Call, resource: dict[str, Any]) -> dict[str, Any]:
        if self._collection == "alertPolicies":
            resource["mutationRecord"] = self._now(call)
        else:
            resource["mutationRecords"] = [self._now(call)]
        self._shelf.put(resource["name"], resource)
        return resource

    def _now(self, call: Call) -> dict[str, Any]:
        return {"mutateTime": self._cloud.stamp(), "mutatedBy": call.principal}
