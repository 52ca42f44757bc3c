"""The account of runs: made with what nodes need, once, and nothing of anybody else's touched."""

from __future__ import annotations

import pytest

from doors import PROJECT, House
from houses import furnished, make_bucket, session_of
from windlass.errors import EngineRejected, OptionRefused, PermissionMissing
from windlass.google.iam import Grant
from windlass.governance.account import Account, command_of

EMAIL = f"windlass-runs@{PROJECT}.iam.gserviceaccount.com"
MEMBER = f"serviceAccount:{EMAIL}"


@pytest.fixture
def house(tmp_path):
    found = furnished(tmp_path)
    make_bucket(found, "runs-1", iamConfiguration={"uniformBucketLevelAccess": {"enabled": True}})
    return found


def account(house: House, *, engines=("compute",), bucket="runs-1", **fields) -> Account:
    session = session_of(house, **fields)
    return Account(session, PROJECT, "windlass-runs", engines=engines, bucket=bucket)


def owner(house: House) -> str:
    """Who may grant roles; the twin's usual caller is an editor."""
    return house.token_of(house.cloud.settings.account)


def up(house: House, **fields) -> list[str]:
    steps = []
    account(house, token=owner(house), **fields).up(steps.append)
    return [f"{step.done} {step.what}" for step in steps]


def bindings(house: House) -> list[dict]:
    return house.twin.policies.get(f"projects/{PROJECT}")["bindings"]


def test_it_is_made_once_with_what_machines_need(house):
    before = bindings(house)
    assert up(house) == [
        f"made account {EMAIL}",
        "made roles/logging.logWriter",
        "made roles/compute.instanceAdmin.v1",
        "made roles/storage.objectUser",
    ]
    assert bindings(house)[: len(before)] == before
    (machines,) = [one for one in bindings(house) if one["role"].startswith("roles/compute.inst")]
    assert machines["members"] == [MEMBER]
    assert 'startsWith("w-")' in machines["condition"]["expression"]
    assert up(house) == []
    states = {step.done for step in account(house, token=owner(house)).planned()}
    assert states == {"there"}


def test_slices_need_more(house):
    assert "made roles/tpu.admin" in up(house, engines=("compute", "tpu"))


def test_down_takes_back_what_was_granted_and_nothing_else(house):
    before = bindings(house)
    up(house)
    steps = []
    account(house, token=owner(house)).down(steps.append)
    assert [step.done for step in steps] == ["removed"] * 4
    assert bindings(house) == before
    account(house, token=owner(house)).down(steps.append)
    assert len(steps) == 4, "there is nothing to do"


def test_what_may_not_be_granted_is_told_all_at_once_and_gone_on_with(house):
    robot = house.robot("helper-1")
    house.grant(robot, "roles/editor")
    steps = []
    with pytest.raises(PermissionMissing) as refused:
        account(house, token=house.token_of(robot)).up(steps.append)
    made = [step.what.partition(" ")[0] for step in steps]
    assert made == ["account", "roles/storage.objectUser"], "an editor may grant those of a bucket"
    commands = refused.value.context.splitlines()
    assert all("gcloud projects add-iam-policy-binding" in command for command in commands)
    later = up(house)
    assert later[0] == "made roles/logging.logWriter"
    assert len(later) == len(commands)


def test_an_account_of_somebody_elses_is_left_alone(house):
    house.robot("windlass-runs")
    with pytest.raises(OptionRefused, match="not of Windlass's making"):
        up(house)


def test_a_bucket_that_is_not_there_is_to_be_made_first(house):
    with pytest.raises(EngineRejected) as refused:
        up(house, bucket="not-there")
    assert "windlass bucket up" in refused.value.remedy


def test_the_command_for_somebody_who_may_is_whole():
    grant = Grant(role="roles/x", member=MEMBER, condition={"title": "t", "expression": 'a("b")'})
    assert command_of(grant, PROJECT).endswith("""'--condition=title=t,expression=a("b")'""")
    assert command_of(Grant(role="roles/x", member=MEMBER), "gs://b").startswith(
        "gcloud storage buckets add-iam-policy-binding gs://b "
    )
