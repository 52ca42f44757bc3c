"""A survey says what it could not see, and an API that is off holds nothing."""

from __future__ import annotations

import pytest

from doors import PROJECT, House
from houses import furnished, session_of
from vms import vm
from windlass.engines.descriptions import described
from windlass.governance.holdings import Holding, moment, survey

OURS = {"windlass": "true", "windlass-run": "r", "windlass-claim": "r-1-0"}
REGIONS = ("us-central1", "europe-west4")


def test_an_api_that_is_off_holds_nothing_and_hides_nothing(tmp_path):
    house = furnished(tmp_path)
    house.insert_vm("vm-1", labels=OURS)
    for api in ("tpu.googleapis.com", "aiplatform.googleapis.com"):
        house.twin.apis.set(api, enabled=False)
    found = survey(session_of(house), PROJECT, regions=REGIONS)
    assert [one.name for one in found.holdings] == ["vm-1"]
    assert found.unseen == ()


def test_what_may_not_be_looked_at_is_told_and_the_rest_is_seen(tmp_path):
    house = furnished(tmp_path)
    house.insert_vm("vm-1", labels=OURS)
    robot = house.robot()
    house.grant(robot, "roles/compute.viewer")
    found = survey(session_of(house, token=house.token_of(robot)), PROJECT, regions=REGIONS)
    assert [one.name for one in found.holdings] == ["vm-1"]
    assert [one.what for one in found.unseen] == [
        "queued resources",
        "slices",
        "buckets",
        "trainings in us-central1",
    ]


@pytest.mark.parametrize("scope", ["global", "regions/us-central1"])
def test_templates_are_found_whether_they_are_of_a_region_or_of_all(tmp_path, scope):
    house = furnished(tmp_path)
    path = f"/compute/v1/projects/{PROJECT}/{scope}/instanceTemplates"
    body = {"name": "t", "description": described(OURS), "properties": vm()}
    house.good("POST", "compute.googleapis.com", path, body)
    [found] = survey(session_of(house), PROJECT, regions=REGIONS).holdings
    assert (found.kind, found.place, found.run) == ("template", scope.rpartition("/")[2], "r")


def test_a_project_without_anything_of_ours_is_empty(tmp_path):
    house: House = furnished(tmp_path)
    house.insert_vm("vm-1", labels={"team": "nlp"})
    assert survey(session_of(house), PROJECT, regions=REGIONS) == ((), ())


def test_an_expiry_that_is_no_number_is_none():
    one = Holding(
        kind="disk", name="d", place="z", collection="disks", pairs={"windlass-expires": "soon"}
    )
    assert one.expires_at is None
    assert moment("not a time") is None
    assert moment("1970-01-01T00:01:00.000Z") == 60.0
