"""Time series that clients write, and the descriptors of their metrics.

Must not aggregate: asking for that is refused, never ignored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from windlass.twin.monitoring import uptime
from windlass.twin.monitoring.filters import parsed
from windlass.twin.paging import page
from windlass.twin.refusals import Refusal
from windlass.twin.wellknown import moment

if TYPE_CHECKING:
    from windlass.twin.call import Call
    from windlass.twin.cloud import Cloud

WRITABLE = ("custom.googleapis.com/", "external.googleapis.com/", "workload.googleapis.com/")
VALUES = {
    "boolValue": "BOOL",
    "int64Value": "INT64",
    "doubleValue": "DOUBLE",
    "stringValue": "STRING",
    "distributionValue": "DISTRIBUTION",
}
HOUR = 3600.0
MOST_SERIES = 200
MOST = 100_000


class TimeSeries:
    """All series of the project. The points of an hour are one record, so that writing one more
    writes little."""

    def __init__(self, cloud: Cloud, *, own: uptime.Uptime) -> None:
        self._cloud = cloud
        self._own = own
        self._series = cloud.documents("monitoring.series")
        self._points = cloud.documents("monitoring.points")
        self._descriptors = cloud.documents("monitoring.descriptors")

    def create(self, call: Call) -> dict[str, Any]:
        """Write one point to each of several series, or none when one is wrong."""
        written = call.body.get("timeSeries", [])
        if not 0 < len(written) <= MOST_SERIES:
            raise Refusal(400, f"Between 1 and {MOST_SERIES} time series can be written at once.")
        ready = [self._checked(one, number) for number, one in enumerate(written)]
        for key, one, point in ready:
            self._describe(one)
            header = {name: value for name, value in one.items() if name != "points"}
            ends = moment(point["interval"]["endTime"])
            self._series.put(key, {"header": header, "last": ends})
            chunk = f"{key}/{int(ends // HOUR):010d}"
            kept = self._points.get(chunk) or {"points": []}
            kept["points"].append(point)
            self._points.put(chunk, kept)
        return {}

    def list_all(self, call: Call) -> dict[str, Any]:
        """Series that pass the filter, with the points between two moments, newest first."""
        query = call.query
        for name in ("aggregation.perSeriesAligner", "aggregation.crossSeriesReducer"):
            if query.get(name, "ALIGN_NONE") not in ("ALIGN_NONE", "REDUCE_NONE", "0"):
                raise Refusal(501, "The twin does not aggregate time series.")
        if "filter" not in query or "interval.endTime" not in query:
            raise Refusal(400, "A filter and the end of an interval must be given.")
        until = moment(query["interval.endTime"])
        since = moment(query["interval.startTime"]) if "interval.startTime" in query else until
        test = parsed(query["filter"])
        found = [
            one
            for source in (self._kept(since, until), self._own.series(since, until))
            for one in source
            if test(one)
        ]
        if query.get("view") in ("HEADERS", "1"):
            found = [
                {name: part for name, part in one.items() if name != "points"} for one in found
            ]
        size, token = query.get("pageSize"), query.get("pageToken", "")
        shown, following = page(found, size=size, token=token, usual=MOST, most=MOST)
        answer: dict[str, Any] = {"timeSeries": shown} if shown else {}
        if following:
            answer["nextPageToken"] = following
        return answer

    def create_descriptor(self, call: Call) -> dict[str, Any]:
        """Say what a metric is, before or after it is written."""
        kind = call.body.get("type", "")
        self._check_writable(kind, "metricDescriptor.type")
        return self._put_descriptor(call.body)

    def get_descriptor(self, call: Call) -> dict[str, Any]:
        """One of them."""
        kind = call.params["name"].split("/", 3)[3]
        found = next((one for one in self._described() if one["type"] == kind), None)
        if found is None:
            raise Refusal(404, f"Could not find descriptor for metric '{kind}'.")
        return found

    def delete_descriptor(self, call: Call) -> dict[str, Any]:
        """Only those that clients made."""
        kind = self.get_descriptor(call)["type"]
        self._check_writable(kind, "name")
        self._descriptors.drop(kind)
        return {}

    def list_descriptors(self, call: Call) -> dict[str, Any]:
        """Those whose type passes the filter."""
        test = parsed(call.query.get("filter", ""))
        found = [one for one in self._described() if test({"metric": {"type": one["type"]}})]
        size, token = call.query.get("pageSize"), call.query.get("pageToken", "")
        shown, following = page(found, size=size, token=token, usual=MOST, most=MOST)
        answer: dict[str, Any] = {"metricDescriptors": shown} if shown else {}
        if following:
            answer["nextPageToken"] = following
        return answer

    def _checked(
        self, one: dict[str, Any], number: int
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """The key of a series, the series, and its point."""
        where = f"timeSeries[{number}]"
        metric, points = one.get("metric", {}), one.get("points", [])
        self._check_writable(metric.get("type", ""), f"{where}.metric.type")
        if len(points) != 1:
            message = (
                f"Field {where}.points had an invalid value: exactly one point can be written."
            )
            raise Refusal(400, message)
        value = points[0].get("value", {})
        kinds = [VALUES[name] for name in value if name in VALUES]
        known = self._descriptors.get(metric["type"]) or {}
        wanted = one.get("valueType") or known.get("valueType") or (kinds or ["DOUBLE"])[0]
        if kinds != [wanted]:
            message = f"Field {where}.points[0].value had an invalid value: it must be {wanted}."
            raise Refusal(400, message)
        kind = one.get("metricKind") or known.get("metricKind") or "GAUGE"
        resource = one.get("resource") or {"type": "global"}
        labels = {"project_id": self._cloud.settings.project, **resource.get("labels", {})}
        named = {"metric": metric, "resource": {**resource, "labels": labels}}
        full = {**named, "metricKind": kind, "valueType": wanted}
        key = hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()[:32]
        interval = points[0].get("interval", {})
        ends = moment(interval.get("endTime", ""))
        before = self._series.get(key)
        if before is not None and ends <= before["last"]:
            message = (
                "One or more TimeSeries could not be written: Points must be written in order. One "
                "or more of the points specified had an older end time than the most recent point."
            )
            raise Refusal(400, message)
        begins = interval.get("startTime", interval["endTime"])
        starts = {"startTime": begins if kind != "GAUGE" else interval["endTime"]}
        return key, full, {"interval": {**starts, "endTime": interval["endTime"]}, "value": value}

    def _check_writable(self, kind: str, where: str) -> None:
        if not kind.startswith(WRITABLE):
            message = f"Field {where} had an invalid value of '{kind}': it cannot be written."
            raise Refusal(400, message)

    def _describe(self, one: dict[str, Any]) -> None:
        kind = one["metric"]["type"]
        if kind not in self._descriptors:
            labels = [{"key": key} for key in sorted(one["metric"].get("labels", {}))]
            described = {"metricKind": one["metricKind"], "valueType": one["valueType"]}
            self._put_descriptor({"type": kind, "labels": labels, **described})

    def _put_descriptor(self, descriptor: dict[str, Any]) -> dict[str, Any]:
        kept = self._named({"metricKind": "GAUGE", "valueType": "DOUBLE", **descriptor})
        self._descriptors.put(kept["type"], kept)
        return kept

    def _described(self) -> list[dict[str, Any]]:
        written = [one for _, one in self._descriptors.items()]
        return [*written, self._named(uptime.DESCRIPTOR)]

    def _named(self, descriptor: dict[str, Any]) -> dict[str, Any]:
        project = self._cloud.settings.project
        return {**descriptor, "name": f"projects/{project}/metricDescriptors/{descriptor['type']}"}

    def _kept(self, since: float, until: float) -> Iterator[dict[str, Any]]:
        for key, series in self._series.items():
            points = [
                point
                for _, chunk in self._points.under(f"{key}/")
                for point in chunk["points"]
                if since <= moment(point["interval"]["endTime"]) <= until
            ]
            if points:
                yield {**series["header"], "points": points[::-1]}
