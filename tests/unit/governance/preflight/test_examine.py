"""Preflight: what is missing or dangerous is found, each with a command that mends it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from doors import CATALOG, PROJECT, House
from houses import furnished, make_bucket, session_of
from windlass.errors import ApiDisabled, PermissionMissing
from windlass.google.compute import Compute
from windlass.governance.network import Network
from windlass.governance.preflight.examine import at_submit, examine
from windlass.governance.preflight.security import secrets_in_env
from windlass.governance.preflight.subject import Subject, Wanted
from windlass.policy.document import Policy
from windlass.spec.model import Checkpoint, Spec

OFFER = CATALOG.offer("us-central1-a/a3-highgpu-8g/spot")
SLICE = CATALOG.offer("us-west4-a/v5e-4/on-demand")


def subject(house: House, *engines: str, token: str | None = None, **fields) -> Subject:
    session = session_of(house, token=token) if token else session_of(house)
    return Subject(
        session=session,
        project=PROJECT,
        catalog=CATALOG,
        engines=engines or ("compute",),
        **fields,
    )


def spec(**fields) -> Spec:
    return Spec(**{"name": "llm", "run": "python train.py", **fields})


def said(one: Subject, verdict: str) -> dict[str, str]:
    return {f.name: f"{f.said} | {f.remedy}" for f in examine(one) if f.verdict == verdict}


def made_ready(house: House) -> None:
    network = Network(
        Compute(session_of(house), PROJECT), CATALOG, pause=house.pass_time, nonce="1"
    )
    network.up(network.wish(("us-central1",), "a3-highgpu-8g"), lambda step: None)
    place = f"projects/{PROJECT}"
    bindings = [
        one for one in house.twin.policies.get(place)["bindings"] if one["role"] != "roles/editor"
    ]
    house.twin.policies.set(place, {"bindings": bindings})


READY = {
    "network": "windlass",
    "service_account": "runs@twin-project.iam.gserviceaccount.com",
}


def test_a_project_that_is_ready_has_nothing_bad_but_a_run_folder_that_is_nowhere(tmp_path):
    house = furnished(tmp_path)
    made_ready(house)
    one = subject(house, spec=spec(engine={"compute": READY}), wanted=(Wanted(OFFER, 16),))
    (name, bad) = said(one, "bad").popitem()
    assert name == "run folder"
    assert "`windlass bucket up my-bucket --region us-central1`" in bad
    uniform = {"uniformBucketLevelAccess": {"enabled": True}}
    make_bucket(house, "runs-of-mine", location="us-central1", iamConfiguration=uniform)
    one = replace(one, run_folder="gs://runs-of-mine/deep")
    assert said(one, "bad") == {}
    assert "nothing that should worry you" in said(one, "ok")["security"]


def test_credentials_that_are_not_accepted_end_the_look():
    found = list(examine(subject(House(), token="nobodys")))
    assert [(one.name, one.verdict) for one in found] == [("credentials", "bad")]
    assert "gcloud auth application-default login" in found[0].remedy


def test_an_api_that_is_off_is_turned_on_by_the_command():
    house = House()
    house.twin.apis.set("tpu.googleapis.com", enabled=False)
    assert (
        "`gcloud services enable tpu.googleapis.com --project=twin-project`"
        in said(subject(house, "tpu"), "bad")["apis"]
    )


def test_permissions_that_are_missing_come_with_the_role_that_has_them():
    house = House()
    robot = house.robot()
    house.grant(robot, "roles/viewer")
    found = [
        one
        for one in examine(subject(house, token=house.token_of(robot)))
        if one.name == "permissions"
    ]
    assert {one.remedy.rpartition("--role=")[2] for one in found} == {
        "roles/compute.instanceAdmin.v1 --condition=None`",
        "roles/iam.serviceAccountUser --condition=None`",
        "roles/storage.objectUser --condition=None`",
    }


@pytest.mark.parametrize(
    ("offer", "place", "metric", "id_"),
    [
        (
            CATALOG.offer("us-central1-a/a3-highgpu-8g/on-demand"),
            "us-central1",
            "GPUS_PER_GPU_FAMILY:NVIDIA_H100",
            "--quota-id=GPUS-PER-GPU-FAMILY-per-project-region --preferred-value=16 "
            "--dimensions=region=us-central1,gpu_family=NVIDIA_H100",
        ),
        (
            SLICE,
            "us-west4-a",
            "TPUV5sLitepodPerProjectPerZoneForTPUAPI",
            "--quota-id=TPUV5sLitepodPerProjectPerZoneForTPUAPI --preferred-value=16 "
            "--dimensions=zone=us-west4-a",
        ),
    ],
    ids=["H100", "v5e"],
)
def test_a_quota_that_is_too_small_says_how_to_ask_for_more(offer, place, metric, id_):
    house = House()
    house.twin.quotas.set_limit(place, metric, 8)
    one = subject(house, "compute", "tpu", spec=spec(), wanted=(Wanted(offer, 16),))
    text = said(one, "bad")[f"quota {place}"]
    assert f"8 of {metric} free, 16 needed" in text
    assert id_ in text


def test_a_quota_that_is_small_in_one_place_is_only_a_note_where_another_has_room():
    house = House()
    house.twin.quotas.set_limit("us-central1", "PREEMPTIBLE_NVIDIA_H100_GPUS", 8)
    other = CATALOG.offer("us-east4-a/a3-highgpu-8g/spot")
    one = subject(house, spec=spec(), wanted=(Wanted(OFFER, 16), Wanted(other, 16)))
    assert "quota us-central1" in said(one, "note")
    assert "quota us-east4" in said(one, "ok")


def test_a_machine_type_and_an_image_that_are_not_there_are_found():
    strange = replace(OFFER, machine=replace(OFFER.machine, name="a9-giga-8g"))
    text = said(subject(House(), spec=spec(), wanted=(Wanted(strange, 8),)), "bad")["compute"]
    assert "there is no machine type a9-giga-8g in us-central1-a" in text


def test_the_slice_and_its_runtime_are_looked_for():
    found = [
        one.said
        for one in examine(subject(House(), "tpu", spec=spec(), wanted=(Wanted(SLICE, 4),)))
        if one.name == "tpu" and one.verdict == "ok"
    ]
    assert found[0] == "slice v5litepod-4 in us-west4-a exists"
    assert len(found) == 2


def test_a_network_without_a_way_to_buckets_and_out_is_found():
    found = [
        one for one in examine(subject(House())) if one.name == "network default in us-central1"
    ]
    assert [one.verdict for one in found] == ["bad", "bad"]
    assert "--enable-private-ip-google-access" in found[0].remedy
    assert "windlass network up --region us-central1" in found[1].remedy


def test_a_gang_whose_gpus_have_no_networks_is_told_how_to_make_them():
    one = subject(House(), spec=spec(), wanted=(Wanted(OFFER, 16),))
    text = said(one, "bad")["GPUs of a3-highgpu-8g"]
    assert "4 of 4 networks are missing" in text
    assert "windlass network up --region us-central1 --for a3-highgpu-8g" in text
    alone = subject(House(), spec=spec(), wanted=(Wanted(OFFER, 8),))
    assert "GPUs of a3-highgpu-8g" not in said(alone, "bad")


def test_machines_with_external_addresses_need_no_nat():
    one = subject(House(), spec=spec(engine={"compute": {"external_address": True}}))
    assert not [name for name in said(one, "bad") if name.startswith("network")]
    forbidden = replace(one, policy=Policy(external_addresses=False))
    assert "external addresses" in said(forbidden, "bad")["compute"]


def test_buckets_are_checked_for_place_access_and_key(tmp_path):
    house = furnished(tmp_path)
    make_bucket(house, "far-away", location="europe-west4")
    one = subject(
        house,
        spec=spec(
            checkpoint=Checkpoint(to="gs://far-away/ckpt"), data={"train": "gs://not-there/x"}
        ),
        wanted=(Wanted(OFFER, 8),),
        policy=Policy(kms_key="projects/p/locations/l/keyRings/r/cryptoKeys/k"),
    )
    findings = list(examine(one))
    notes = [f.said for f in findings if f.name == "bucket far-away" and f.verdict == "note"]
    assert "USD for 1000 GiB" in notes[0]
    wrong = " ".join(f.remedy for f in findings if f.name == "bucket far-away")
    assert "--uniform-bucket-level-access" in wrong
    assert "--default-encryption-key=projects/p" in wrong
    missing = next(f for f in findings if f.name == "bucket not-there")
    assert "`windlass bucket up not-there --region us-central1`" in missing.remedy


def test_an_open_firewall_and_an_editor_are_found():
    bad = said(subject(House()), "bad")
    assert "--source-ranges=35.235.240.0/20" in bad["firewall default-allow-ssh"]
    assert "firewall default-allow-icmp" not in bad
    assert "remove-iam-policy-binding" in bad["roles"]


@pytest.mark.parametrize(
    ("name", "value", "is_found"),
    [
        ("HF_TOKEN", "abc", True),
        ("TOKENIZER", "gpt2", False),
        ("TOKENS_PER_STEP", "4096", False),
        ("WANDB_API_KEY", "x", True),
        ("KEYBOARD", "de", False),
        ("DB_PASSWORD", "", False),
        ("NOTE", "hf_abcdefghijklmnopqrstuvwxyz0123456789", True),
        ("LOG", "info", False),
    ],
)
def test_secrets_in_env_are_found_and_never_shown(name, value, is_found):
    found = list(secrets_in_env({name: value}))
    assert bool(found) == is_found
    assert not any(value in f"{one.said}{one.remedy}" for one in found if len(value) > 5)


def test_every_bad_finding_says_what_to_do(tmp_path):
    house = furnished(tmp_path)
    one = subject(house, "compute", "tpu", "vertex", run_folder="gs://nowhere/runs")
    assert all(f.remedy for f in examine(one) if f.verdict == "bad")


def with_secret(house: House) -> Subject:
    return subject(house, spec=spec(secrets={"TOKEN": "HF_TOKEN"}))


def test_a_secret_that_is_not_there_comes_with_the_command_that_makes_it():
    assert (
        'printf %s "$HF_TOKEN" | gcloud secrets create HF_TOKEN --project=twin-project'
        in said(with_secret(House()), "bad")["secret TOKEN"]
    )


def test_a_secret_that_machines_may_not_read_comes_with_the_command_that_lets_them():
    house = House()
    session = session_of(house)
    root = f"https://secretmanager.googleapis.com/v1/projects/{PROJECT}/secrets"
    body = {"replication": {"automatic": {}}}
    session.call("POST", root, what="", query={"secretId": "HF_TOKEN"}, body=body)
    version = {"payload": {"data": "aGY="}}
    session.call("POST", f"{root}/HF_TOKEN:addVersion", what="", body=version)
    assert "is there" in said(with_secret(house), "ok")["secret TOKEN"]
    remedy = said(with_secret(house), "note")["secret TOKEN"]
    account = remedy.partition("--member=serviceAccount:")[2].partition(" ")[0]
    assert account.endswith("-compute@developer.gserviceaccount.com")
    house.grant(account, "roles/secretmanager.secretAccessor")
    assert "secret TOKEN" not in said(with_secret(house), "note")


def test_the_api_of_secrets_is_needed_where_there_are_some():
    house = House()
    house.twin.apis.set("secretmanager.googleapis.com", enabled=False)
    assert "apis" not in said(subject(house), "bad")
    assert "secretmanager.googleapis.com" in said(with_secret(house), "bad")["apis"]


def test_at_submit_only_what_a_run_would_run_into_is_told(tmp_path):
    house = furnished(tmp_path)
    make_bucket(house, "far", location="europe-west4")
    fields = {"wanted": (Wanted(OFFER, 16),), "run_folder": "gs://far/w", "spec": spec()}
    found = [one.name for one in at_submit(subject(house, **fields))]
    assert found.count("network default in us-central1") == 2
    assert "GPUs of a3-highgpu-8g" in found and "bucket far" in found
    made_ready(house)
    ready = {**fields, "run_folder": "", "spec": spec(engine={"compute": READY})}
    assert list(at_submit(subject(house, **ready))) == []


def test_at_submit_what_cannot_be_looked_at_is_left():
    house = House()
    robot = house.robot()
    house.grant(robot, "roles/storage.objectUser")
    token = house.token_of(robot)
    assert list(at_submit(subject(house, token=token, wanted=(Wanted(OFFER, 16),)))) == []


@pytest.mark.parametrize("project", [PROJECT, "somebody-elses-1"])
def test_at_submit_who_may_do_nothing_is_told_before_there_is_a_run(project):
    house = House()
    one = replace(subject(house, token=house.token_of(house.robot())), project=project)
    with pytest.raises(PermissionMissing, match=project):
        list(at_submit(one))


def test_at_submit_an_api_that_is_off_is_the_end_if_the_run_needs_it():
    house = House()
    house.twin.apis.set("compute.googleapis.com", enabled=False)
    with pytest.raises(ApiDisabled) as caught:
        list(at_submit(subject(house)))
    assert "`gcloud services enable compute.googleapis.com --project=" in caught.value.remedy
    assert list(at_submit(subject(house, "vertex"))) == []
