"""What is free of a quota."""

from __future__ import annotations

import pytest

from windlass.errors import OptionRefused
from windlass.planner.quota import Quota, read_quota

DOCUMENT = {"us-central1": {"PREEMPTIBLE_NVIDIA_H100_GPUS": 16}, "us-east5-b": {"TPUS": 4}}


def test_a_region_answers_for_its_zones_unless_a_zone_has_its_own():
    quota = read_quota(DOCUMENT, source="q.yaml")
    assert quota.place_of("us-central1-a", "us-central1") == "us-central1"
    assert quota.place_of("us-east5-b", "us-east5") == "us-east5-b"
    assert quota.left("us-central1", "PREEMPTIBLE_NVIDIA_H100_GPUS") == 16


def test_what_is_not_named_is_not_known():
    quota = read_quota(DOCUMENT, source="q.yaml")
    assert quota.left("us-central1", "OTHER") is None
    assert quota.left("europe-west4", "TPUS") is None
    assert quota.left("us-central1", None) is None
    assert Quota().left("us-central1", "TPUS") is None


@pytest.mark.parametrize(
    "document",
    [None, [], {"us-central1": 8}, {"r": {"M": "8"}}, {"r": {"M": -1}}, {"r": {"M": True}}],
)
def test_a_file_of_another_shape_is_refused(document):
    with pytest.raises(OptionRefused, match="holds no quota"):
        read_quota(document, source="q.yaml")
