"""Buckets as things that are owned."""

from __future__ import annotations

import pytest

from doors import PROJECT
from houses import furnished, make_bucket, session_of
from windlass.google.session import Taken
from windlass.google.storage import Buckets


def test_a_bucket_is_listed_looked_at_and_deleted_when_it_is_empty(tmp_path):
    house = furnished(tmp_path)
    make_bucket(house, "ours-runs", location="us-east1")
    buckets = Buckets(session_of(house), PROJECT)
    assert [one["name"] for one in buckets.listed()] == ["ours-runs"]
    assert buckets.get("ours-runs")["location"] == "US-EAST1"
    path = "/upload/storage/v1/b/ours-runs/o?uploadType=media&name=a"
    house.send("POST", "storage.googleapis.com", path, b"x")
    with pytest.raises(Taken):
        buckets.delete("ours-runs")
    house.send("DELETE", "storage.googleapis.com", "/storage/v1/b/ours-runs/o/a")
    buckets.delete("ours-runs")
    buckets.delete("ours-runs")
    assert buckets.get("ours-runs") is None
