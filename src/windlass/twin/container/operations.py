"""Kubernetes Engine's operations, which have a shape of their own.

Must not carry anything out: whoever starts one says when it ends, and is told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from windlass.twin.container.names import ANYWHERE, Path, is_busy, not_found, path_of

if TYPE_CHECKING:
    from windlass.twin.call import Call
    from windlass.twin.cloud import Cloud
    from windlass.twin.compute.scopes import Places

KEPT = 14 * 86_400.0
After = Callable[[Path], None]
"""What happens when an operation on this has ended."""


class Operations:
    """All operations of the project."""

    def __init__(self, cloud: Cloud, *, places: Places) -> None:
        self._cloud = cloud
        self._places = places
        self._operations = cloud.documents("container.operations")
        self._running: dict[str, str] = {}
        """By cluster, the operation that it is busy with."""
        for key, one in self._operations.items():
            if one["shown"]["status"] != "DONE":
                self._running[one["cluster"]] = key
        self.after: dict[str, After] = {}
        """By type."""
        cloud.on("container.operation.done", self._done)
        cloud.on("container.operation.old", self._old)

    def check_idle(self, path: Path) -> None:
        """Refuse while the cluster is busy."""
        key = self._running.get(_cluster_key(path))
        if key is not None:
            raise is_busy(key.rpartition("/")[2])

    def start(self, path: Path, kind: str, *, seconds: float) -> dict[str, Any]:
        """An operation of a type on something, which ends after so long."""
        cloud = self._cloud
        name = f"operation-{int(cloud.clock.now() * 1000)}-{int(cloud.new_id()):x}"
        own = Path(path.project, path.location, operation=name)
        shown = {
            "name": name,
            "operationType": kind,
            "status": "RUNNING",
            "startTime": cloud.stamp(),
            "selfLink": own.link,
            "targetLink": path.link,
            "zone": path.location,
            "location": path.location,
        }
        cluster = _cluster_key(path)
        record: dict[str, Any] = {"shown": shown, "cluster": cluster, "target": list(path)}
        self._operations.put(own.key, record)
        self._running[cluster] = own.key
        if seconds > 0:
            cloud.later(seconds, "container.operation.done", own.key)
        else:
            self._done(own.key)
        cloud.later(KEPT, "container.operation.old", own.key)
        return dict((self._operations.get(own.key) or record)["shown"])

    def fail(self, path: Path, message: str) -> None:
        """The operation that something is busy with will end badly."""
        key = self._running.get(_cluster_key(path), "")
        record = self._operations.get(key)
        if record is not None:
            shown = {**record["shown"], "statusMessage": message}
            shown["error"] = {"code": 8, "message": message}
            self._operations.put(key, {**record, "shown": shown})

    def get(self, call: Call) -> dict[str, Any]:
        """How far it is."""
        path = path_of(call, self._places)
        record = self._operations.get(path.key)
        if record is None:
            raise not_found(path)
        return dict(record["shown"])

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of a place, or of all places."""
        path = path_of(call, self._places)
        prefix = "" if path.location == ANYWHERE else f"{path.location}/"
        found = [dict(record["shown"]) for _, record in self._operations.under(prefix)]
        return {"operations": found} if found else {}

    def cancel(self, call: Call) -> dict[str, Any]:
        """The wish is taken; what is under way goes on."""
        self.get(call)
        return {}

    def _done(self, key: str) -> None:
        record = self._operations.get(key)
        if record is None or record["shown"]["status"] == "DONE":
            return
        hear = self.after.get(record["shown"]["operationType"])
        if hear is not None:
            hear(Path(*record["target"]))
            # It may have gone wrong at the last moment.
            record = self._operations.get(key) or record
        shown = {**record["shown"], "status": "DONE", "endTime": self._cloud.stamp()}
        self._operations.put(key, {**record, "shown": shown})
        self._running.pop(record["cluster"], None)

    def _old(self, key: str) -> None:
        self._operations.drop(key)


def _cluster_key(path: Path) -> str:
    return f"{path.location}/{path.cluster}"
