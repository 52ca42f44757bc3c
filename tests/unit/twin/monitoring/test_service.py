from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from googleapis import Service

PROJECT = "projects/twin-project"
SERIES = f"{PROJECT}/timeSeries"
DESCRIPTORS = f"{PROJECT}/metricDescriptors"
LOSS = "custom.googleapis.com/train/loss"


class Google(Service):
    host = "monitoring.googleapis.com"
    prefix = "/v3"

    def stamp(self, seconds: float = 0.0) -> str:
        """A moment so long after the start."""
        when = datetime.fromtimestamp(self.clock.at + seconds, UTC)
        return when.isoformat().replace("+00:00", "Z")

    def write(self, value: float, at: float = 0.0, *, kind: str = LOSS, **labels: str) -> None:
        """One point."""
        body = {"timeSeries": [point(self.stamp(at), value, kind=kind, **labels)]}
        self.done("POST", SERIES, body)

    def read(self, filter_: str, **more: str) -> list[dict[str, Any]]:
        """Series of the hour around now."""
        query = {"interval.startTime": self.stamp(-3600), "interval.endTime": self.stamp(3600)}
        answer = self.done("GET", SERIES, filter=filter_, **{**query, **more})
        return list(answer.get("timeSeries", []))


def point(ends: str, value: float, *, kind: str = LOSS, **labels: str) -> dict[str, Any]:
    return {
        "metric": {"type": kind, "labels": labels},
        "resource": {"type": "gce_instance", "labels": {"instance_id": "7", "zone": "z"}},
        "points": [{"interval": {"endTime": ends}, "value": {"doubleValue": value}}],
    }


def test_points_come_back_newest_first() -> None:
    google = Google()
    for number in range(3):
        google.write(float(number), number * 60)
    (series,) = google.read(f'metric.type = "{LOSS}"')
    assert [one["value"]["doubleValue"] for one in series["points"]] == [2.0, 1.0, 0.0]
    assert (series["metricKind"], series["valueType"]) == ("GAUGE", "DOUBLE")
    assert series["resource"]["labels"]["project_id"] == "twin-project"


def test_only_points_of_the_interval_are_shown() -> None:
    google = Google()
    for number in range(3):
        google.write(float(number), number * 60)
    query = {"interval.startTime": google.stamp(30), "interval.endTime": google.stamp(90)}
    (series,) = google.read(f'metric.type = "{LOSS}"', **query)
    assert len(series["points"]) == 1
    assert google.read(f'metric.type = "{LOSS}"', **{"interval.endTime": google.stamp(-60)}) == []


FILTERS = {
    f'metric.type = "{LOSS}" AND metric.labels.rank = "1"': ["1"],
    f'metric.type = "{LOSS}" AND metric.label.rank = "1"': ["1"],
    'metric.type = starts_with("custom.googleapis.com/train")': ["0", "1", "2"],
    'metric.type = ends_with("loss") AND resource.type = "gce_instance"': ["0", "1", "2"],
    'metric.labels.rank = one_of("0", "2")': ["0", "2"],
    'metric.type = has_substring("accuracy")': [],
    'resource.labels.instance_id = "8"': [],
}


@pytest.mark.parametrize("text", FILTERS)
def test_filter_chooses_series(text: str) -> None:
    google = Google()
    for rank in range(3):
        google.write(0.5, rank=str(rank))
    found = [one["metric"]["labels"]["rank"] for one in google.read(text)]
    assert sorted(found) == FILTERS[text]


def test_headers_come_without_points() -> None:
    google = Google()
    google.write(1.0)
    (series,) = google.read(f'metric.type = "{LOSS}"', view="HEADERS")
    assert "points" not in series


def test_first_point_describes_its_metric() -> None:
    google = Google()
    google.write(1.0, rank="0")
    described = google.done("GET", f"{DESCRIPTORS}/{LOSS}")
    assert (described["valueType"], described["labels"]) == ("DOUBLE", [{"key": "rank"}])
    text = 'metric.type = starts_with("compute.")'
    (own,) = google.done("GET", DESCRIPTORS, filter=text)["metricDescriptors"]
    assert own["type"] == "compute.googleapis.com/instance/uptime"


def test_metric_can_be_described_first_and_forgotten() -> None:
    google = Google()
    body = {"type": LOSS, "metricKind": "CUMULATIVE", "valueType": "INT64", "unit": "1"}
    google.done("POST", DESCRIPTORS, body)
    one = point(google.stamp(), 0.0)
    one["points"][0]["value"] = {"int64Value": "5"}
    one["points"][0]["interval"]["startTime"] = google.stamp(-60)
    google.done("POST", SERIES, {"timeSeries": [one]})
    (series,) = google.read(f'metric.type = "{LOSS}"')
    interval = series["points"][0]["interval"]
    assert (series["metricKind"], interval["startTime"]) == ("CUMULATIVE", google.stamp(-60))
    google.done("DELETE", f"{DESCRIPTORS}/{LOSS}")
    assert google.no("GET", f"{DESCRIPTORS}/{LOSS}")[0] == 404


def _wrong(google: Google, case: str) -> dict[str, Any]:
    good = point(google.stamp(), 1.0)
    return {
        "two points": {**good, "points": good["points"] * 2},
        "google's own metric": point(google.stamp(), 1.0, kind="compute.googleapis.com/x"),
        "wrong type": {**good, "valueType": "INT64"},
        "older than the last": point(google.stamp(-60), 1.0),
        "no such moment": point("yesterday", 1.0),
    }[case]


@pytest.mark.parametrize(
    "case",
    ["two points", "google's own metric", "wrong type", "older than the last", "no such moment"],
)
def test_wrong_point_is_refused_and_nothing_is_written(case: str) -> None:
    google = Google()
    google.write(0.0)
    good = point(google.stamp(60), 1.0, rank="9")
    body = {"timeSeries": [good, _wrong(google, case)]}
    assert google.no("POST", SERIES, body)[0] == 400
    assert google.read('metric.labels.rank = "9"') == []


def test_what_is_not_modelled_is_refused_not_ignored() -> None:
    google = Google()
    query = {"filter": "", "interval.endTime": google.stamp()}
    mean = {"aggregation.perSeriesAligner": "ALIGN_MEAN"}
    assert google.no("GET", SERIES, **query, **mean)[0] == 501
    group = {**query, "filter": 'group.id = "1"'}
    assert google.no("GET", SERIES, **group)[0] == 501
    assert google.no("GET", SERIES, filter="")[0] == 400


def test_uptime_of_instances_is_written_by_google() -> None:
    google = Google()
    google.insert_vm("one")
    google.pass_time(150)
    text = 'metric.type = "compute.googleapis.com/instance/uptime"'
    (series,) = google.read(text)
    assert series["metric"]["labels"] == {"instance_name": "one"}
    assert series["resource"]["labels"]["instance_id"] == google.vm("one")["id"]
    total = sum(one["value"]["doubleValue"] for one in series["points"])
    assert 60 <= total <= 150
    google.good("POST", "/compute/v1/projects/twin-project/zones/us-central1-a/instances/one/stop")
    assert google.read(text) == []


@pytest.mark.parametrize("collection", ["alertPolicies", "notificationChannels"])
def test_settings_are_kept_changed_and_deleted(collection: str) -> None:
    google = Google()
    path = f"{PROJECT}/{collection}"
    made = google.done("POST", path, {"displayName": "one", "userLabels": {"a": "b"}})
    assert made["enabled"] is True
    assert google.done("GET", path)[collection] == [made]
    change = {"displayName": "two"}
    assert google.done("PATCH", made["name"], change, updateMask="displayName")["userLabels"]
    found = google.done("GET", path, filter='display_name = "x" OR displayName = "two"')
    assert found["totalSize"] == 1
    google.done("DELETE", made["name"])
    assert google.no("GET", made["name"])[0] == 404


def test_conditions_of_a_policy_get_names() -> None:
    google = Google()
    threshold = {"filter": f'metric.type = "{LOSS}"', "thresholdValue": 1.0}
    body = {"combiner": "OR", "conditions": [{"conditionThreshold": threshold}]}
    policy = google.done("POST", f"{PROJECT}/alertPolicies", body)
    assert policy["conditions"][0]["name"].startswith(f"{policy['name']}/conditions/")
