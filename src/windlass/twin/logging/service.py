"""Cloud Logging v2: entries are written and read, logs listed and deleted.

Must not keep entries itself. There are no sinks, views or metrics of the user's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Route, locked
from windlass.twin.logging.comparisons import moment
from windlass.twin.logging.filters import parsed
from windlass.twin.logging.logs import in_order
from windlass.twin.paging import page
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.logging.logs import Entry, Logs

PAGE = 50
MOST_PAGE = 1000
ORDERS = {"": False, "timestamp": False, "timestamp asc": False, "timestamp desc": True}
SCOPES = ("projects", "organizations", "folders", "billingAccounts")
DESCRIBED = {
    "gce_instance": ("VM Instance", ("project_id", "instance_id", "zone")),
    "global": ("Global", ("project_id",)),
    "ml_job": ("Cloud ML Job", ("project_id", "job_id", "task_name")),
    "k8s_container": (
        "Kubernetes Container",
        (
            "project_id",
            "location",
            "cluster_name",
            "namespace_name",
            "pod_name",
            "container_name",
        ),
    ),
    "tpu_worker": ("Cloud TPU Worker", ("project_id", "zone", "node_id", "worker_id")),
}
"""Kinds of resources that entries of the twin are about, with the labels of each."""


class Logging:
    """The API."""

    def __init__(self, cloud: Cloud, logs: Logs) -> None:
        self._cloud = cloud
        self._logs = logs

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        handlers = {
            "logging.entries.write": self.write,
            "logging.entries.list": self.list_entries,
            "logging.monitoredResourceDescriptors.list": self.descriptors,
        }
        for scope in SCOPES:
            handlers[f"logging.{scope}.logs.list"] = self.list_logs
            handlers[f"logging.{scope}.logs.delete"] = self.delete_log
            handlers[f"logging.{scope}.sinks.list"] = self.sinks
        handlers["logging.logs.list"] = self.list_logs
        handlers["logging.logs.delete"] = self.delete_log
        handlers["logging.sinks.list"] = self.sinks
        routes = locked(handlers)
        # Google names these permissions otherwise than the methods.
        routes["logging.entries.write"] = Route(self.write, permission="logging.logEntries.create")
        routes["logging.entries.list"] = Route(
            self.list_entries, permission="logging.logEntries.list"
        )
        return routes

    def write(self, call: Call) -> dict[str, Any]:
        """Add entries; common fields may stand outside of them."""
        shared = {name: call.body[name] for name in ("logName", "resource") if call.body.get(name)}
        labels = call.body.get("labels") or {}
        given = call.body.get("entries") or []
        if not given:
            raise Refusal(400, "No entries were specified.")
        entries = [
            self._checked({**shared, **entry}, labels=labels, index=index)
            for index, entry in enumerate(given)
        ]
        if not call.body.get("dryRun"):
            self._logs.write_all(entries)
        return {}

    def _checked(self, entry: Entry, *, labels: dict[str, str], index: int) -> Entry:
        if not entry.get("logName"):
            raise Refusal(400, f"Log entry at index {index} has no log_name.")
        if not entry.get("resource", {}).get("type"):
            raise Refusal(400, f"Log entry at index {index} has no resource.")
        scope, _, log = entry["logName"].partition("/logs/")
        if not log:
            raise Refusal(400, f"Log name {entry['logName']} is invalid.")
        entry["logName"] = f"{self._scope(scope)}/logs/{log.replace('/', '%2F')}"
        own = entry["resource"].setdefault("labels", {})
        own.setdefault("project_id", self._cloud.settings.project)
        if labels or entry.get("labels"):
            entry["labels"] = {**labels, **entry.get("labels", {})}
        if "timestamp" in entry:
            entry["timestamp"] = self._cloud.stamp(moment(entry["timestamp"]))
        return entry

    def list_entries(self, call: Call) -> dict[str, Any]:
        """Those that pass a filter, by time."""
        names = [*call.body.get("resourceNames", []), *call.body.get("projectIds", [])]
        if not names:
            raise Refusal(400, "resource_names must contain at least one resource name.")
        known = (self._cloud.settings.project, self._cloud.settings.project_number)
        if not any(name.removeprefix("projects/").split("/")[0] in known for name in names):
            raise Refusal(403, "The caller does not have permission")
        order = call.body.get("orderBy", "")
        if order not in ORDERS:
            raise Refusal(400, f"Invalid order_by: {order}.")
        test = parsed(call.body.get("filter", ""))
        found = [entry for entry in self._logs.entries() if test(entry)]
        entries, token = page(
            in_order(found, is_newest_first=ORDERS[order]),
            size=call.body.get("pageSize"),
            token=call.body.get("pageToken", ""),
            usual=PAGE,
            most=MOST_PAGE,
        )
        answer: dict[str, Any] = {"entries": entries} if entries else {}
        if token:
            answer["nextPageToken"] = token
        return answer

    def list_logs(self, call: Call) -> dict[str, Any]:
        """The names of logs that have entries."""
        prefix = f"{self._scope(call.params.get('parent', ''))}/logs/"
        names = sorted({entry["logName"] for entry in self._logs.entries()})
        found, token = page(
            [name for name in names if name.startswith(prefix)],
            size=call.query.get("pageSize"),
            token=call.query.get("pageToken", ""),
            usual=PAGE,
            most=MOST_PAGE,
        )
        answer: dict[str, Any] = {"logNames": found} if found else {}
        if token:
            answer["nextPageToken"] = token
        return answer

    def delete_log(self, call: Call) -> dict[str, Any]:
        """Forget the entries of one log."""
        scope, _, log = call.params["logName"].partition("/logs/")
        name = f"{self._scope(scope)}/logs/{log.replace('/', '%2F')}"
        if not self._logs.delete(name):
            raise Refusal(404, f"Log {log} does not exist")
        return {}

    def sinks(self, call: Call) -> dict[str, Any]:
        """The two that every project has."""
        parent = self._scope(call.params.get("parent", ""))
        bucket = f"logging.googleapis.com/{parent}/locations/global/buckets"
        audit = " AND ".join(f'NOT LOG_ID("cloudaudit.googleapis.com/{one}")' for one in AUDIT)
        kept = " OR ".join(f'LOG_ID("cloudaudit.googleapis.com/{one}")' for one in AUDIT)
        return {
            "sinks": [
                {"name": "_Required", "destination": f"{bucket}/_Required", "filter": kept},
                {"name": "_Default", "destination": f"{bucket}/_Default", "filter": audit},
            ]
        }

    def descriptors(self, call: Call) -> dict[str, Any]:
        """The kinds of resources that entries are about."""
        return {
            "resourceDescriptors": [
                {
                    "type": kind,
                    "displayName": title,
                    "labels": [{"key": label} for label in labels],
                }
                for kind, (title, labels) in sorted(DESCRIBED.items())
            ]
        }

    def _scope(self, name: str) -> str:
        """A project may be named by its number."""
        settings = self._cloud.settings
        return name.replace(f"projects/{settings.project_number}", f"projects/{settings.project}")


AUDIT = ("activity", "system_event", "access_transparency")
