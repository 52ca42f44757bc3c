"""The API of CustomJobs.

Must not carry anything out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Handler
from windlass.twin.logging.filters import parsed
from windlass.twin.paging import page
from windlass.twin.vertex.places import Place, place, resource
from windlass.twin.vertex.specs import check
from windlass.twin.vertex.training import Training, shown
from windlass.twin.vertex.words import not_found, not_in_state

if TYPE_CHECKING:
    from collections.abc import Iterable

    from windlass.twin.cloud import Cloud
    from windlass.twin.vertex.kinds import Kinds
    from windlass.twin.vertex.operations import Operations
    from windlass.twin.vertex.quota import TrainingQuota
    from windlass.twin.vertex.trainings import Trainings

KIND = "CustomJob"
COLLECTION = "customJobs"
GIVEN = ("displayName", "jobSpec", "labels", "encryptionSpec")
"""What a caller may say about one; the rest is Google's to say."""
PAGE = 100
MOST_PAGE = 1000


class TrainingMethods:
    """Create, get, list, cancel, delete."""

    def __init__(
        self, trainings: Trainings, *, kinds: Kinds, quota: TrainingQuota, operations: Operations
    ) -> None:
        self._trainings = trainings
        self._kinds = kinds
        self._quota = quota
        self._operations = operations

    def handlers(self) -> dict[str, Handler]:
        """The methods that are modelled."""
        prefix = f"aiplatform.projects.locations.{COLLECTION}"
        return {
            f"{prefix}.create": self.create,
            f"{prefix}.get": self.get,
            f"{prefix}.list": self.list_all,
            f"{prefix}.cancel": self.cancel,
            f"{prefix}.delete": self.delete,
        }

    def create(self, call: Call) -> dict[str, Any]:
        """Put one into the queue."""
        where = place(call, self._kinds.regions)
        return shown(self.submit(where, call.body, cloud=call.cloud), call.cloud)

    def submit(self, where: Place, body: dict[str, Any], *, cloud: Cloud) -> Training:
        """Check a body, and create what it asks for."""
        body = {name: body[name] for name in GIVEN if name in body}
        wanted = check(body, self._kinds)
        self._quota.check(wanted, used=self._trainings.used(where.region), region=where.region)
        return self._trainings.create(where.name(COLLECTION, cloud.new_id()), body)

    def get(self, call: Call) -> dict[str, Any]:
        """How it is."""
        return shown(self._named(call), call.cloud)

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of a region, the newest first."""
        prefix = place(call, self._kinds.regions).name(COLLECTION, "")
        found = sorted(self._trainings.under(prefix), key=lambda one: (-one.created, one.name))
        return listed(call, COLLECTION, (shown(one, call.cloud) for one in found))

    def cancel(self, call: Call) -> dict[str, Any]:
        """End it soon. Google does its best, so one that is over stays as it is."""
        self._trainings.cancel(self._named(call))
        return {}

    def delete(self, call: Call) -> dict[str, Any]:
        """Forget one that is over."""
        training = self._named(call)
        if not training.is_over:
            raise not_in_state(KIND, training.name, state=training.state, verb="deleted")
        self._trainings.delete(training)
        where = place(call, self._kinds.regions)
        return self._operations.deleted(where, version=call.method.version)

    def _named(self, call: Call) -> Training:
        training = self._trainings.find(resource(call, self._kinds.regions))
        if training is None:
            raise not_found(KIND)
        return training


def listed(call: Call, field: str, found: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """A page of those that pass the caller's filter."""
    test = parsed(call.query.get("filter", ""))
    items, token = page(
        [item for item in found if test(item)],
        size=call.query.get("pageSize"),
        token=call.query.get("pageToken", ""),
        usual=PAGE,
        most=MOST_PAGE,
    )
    answer: dict[str, Any] = {field: items} if items else {}
    if token:
        answer["nextPageToken"] = token
    return answer
