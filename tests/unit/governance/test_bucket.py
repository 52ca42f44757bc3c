"""The bucket of run folders: private, labelled, with a lifecycle; made once."""

from __future__ import annotations

import pytest

from doors import PROJECT
from houses import furnished, make_bucket, session_of
from windlass.errors import OptionRefused, PermissionMissing
from windlass.google.session import Taken
from windlass.google.storage import Buckets
from windlass.governance.bucket import Wish, body_of, found, make

DAY_S = 86_400


def test_it_is_private_labelled_and_where_it_was_wanted(tmp_path):
    buckets = Buckets(session_of(furnished(tmp_path)), PROJECT)
    make(buckets, Wish(name="runs-1", region="europe-west4"))
    made = found(buckets, "runs-1")
    assert made["location"] == "EUROPE-WEST4"
    assert made["labels"] == {"windlass": "true"}
    assert made["iamConfiguration"]["uniformBucketLevelAccess"]["enabled"] is True
    assert made["iamConfiguration"]["publicAccessPrevention"] == "enforced"
    assert made["softDeletePolicy"]["retentionDurationSeconds"] == "0"
    assert [rule["action"]["type"] for rule in made["lifecycle"]["rule"]] == [
        "AbortIncompleteMultipartUpload"
    ]
    make(buckets, Wish(name="runs-1", region="us-east1"))
    assert found(buckets, "runs-1")["location"] == "EUROPE-WEST4", "what is there stays"


def test_old_runs_are_deleted_when_asked_in_whole_days(tmp_path):
    wish = Wish(
        name="b", region="us-east1", runs_prefix="w/runs/", delete_after_s=DAY_S * 1.5, kms_key="k"
    )
    body = body_of(wish)
    assert body["lifecycle"]["rule"][1]["condition"] == {"age": 2, "matchesPrefix": ["w/runs/"]}
    assert body["encryption"] == {"defaultKmsKeyName": "k"}
    buckets = Buckets(session_of(furnished(tmp_path)), PROJECT)
    make(buckets, Wish(name="b-1", region="us-east1", delete_after_s=DAY_S))
    assert len(found(buckets, "b-1")["lifecycle"]["rule"]) == 2


class Elsewhere:
    """Buckets among which somebody else has every name."""

    def get(self, name):
        raise PermissionMissing("no", remedy="")

    def create(self, body):
        raise Taken("taken")


def test_a_name_that_somebody_else_has_is_told():
    with pytest.raises(OptionRefused, match="somebody else's"):
        found(Elsewhere(), "data")
    with pytest.raises(OptionRefused, match="somebody else's"):
        make(Elsewhere(), Wish(name="data", region="us-east1"))


def test_one_that_was_made_meanwhile_is_fine(tmp_path):
    house = furnished(tmp_path)
    make_bucket(house, "runs-1")
    make(Buckets(session_of(house), PROJECT), Wish(name="runs-1", region="us-east1"))
