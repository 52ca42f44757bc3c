"""Networks, reaping, preflight and policy, as commands over a real twin."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path

import httpx
import pytest

from builders import make_attempt, make_event, make_run
from windlass.assemble import open_home
from windlass.state.phases import Outcome, RunPhase
from windlass.twin.server import control
from windlass.twin.server.home import TwinHome
from windlass.twin.server.variables import variables

COMPUTE = "https://compute.googleapis.com/compute/v1/projects/twin-project"
IMAGE = "projects/debian-cloud/global/images/family/debian-12"
SPEC = """
name: llm
run: "true"
resources: {accelerators: H100:8, nodes: 2}
where: {engines: [compute], regions: [us-central1], buy: [spot]}
env: {HF_TOKEN: abc}
limits: {ttl: 4h}
"""
POLICY = "required_labels: [team]\nmax_budget: 100 USD\nregions: [europe-*]\n"


@pytest.fixture(scope="module")
def twin():
    """A twin, and what clients set to find it."""
    with tempfile.TemporaryDirectory(prefix="windlass-twin-") as folder:
        home = TwinHome(Path(folder) / "twin")
        control.start(home, control.Wish(live=0), environment=os.environ)
        running = home.running()
        assert running is not None
        yield home, variables(home, running, mode="proxy", caller=os.environ)
        control.stop(home)


@pytest.fixture
def google(twin, monkeypatch):
    """Our commands speak to the twin; a client to make things with."""
    home, found = twin
    for name, value in found.items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    token = {"Authorization": f"Bearer {home.token()}"}
    with httpx.Client(headers=token) as client:
        yield client


def make_vm(google: httpx.Client, name: str, **labels: str) -> None:
    disk = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": IMAGE}}
    body = {"name": name, "disks": [disk], "labels": labels}
    zone = f"{COMPUTE}/zones/us-central1-a"
    answer = google.post(
        f"{zone}/instances", json={**body, "machineType": f"{zone}/machineTypes/g2-standard-4"}
    )
    assert answer.status_code == 200, answer.text
    name = answer.json()["name"]
    assert google.post(f"{zone}/operations/{name}/wait").json()["status"] == "DONE"


def add_run(run_id: str, **fields) -> None:
    store = open_home().store()
    store.add_run(make_run(run_id, **fields), make_event(run_id))


def test_the_life_of_a_network(windlass, google, golden):
    up = windlass("network", "up", "--for", "a3-highgpu-8g", "--yes")
    assert up.status == 0, up.err
    golden.check("network/up.txt", up.out)
    again = windlass("network", "up", "--for", "a3-highgpu-8g")
    assert again.status == 0, again.err
    assert again.out.endswith("There is nothing to do.\n")
    shown = windlass("network", "show", "--json").document
    assert len(shown["steps"]) == 17
    assert shown["usd_per_day"] == pytest.approx(1.0752)
    golden.check("network/show.txt", windlass("network", "show").out)
    refused = windlass("network", "down")
    assert (refused.status, "--yes" in refused.err) == (2, True)
    down = windlass("network", "down", "--yes", "--json")
    assert {step["done"] for step in down.document["steps"]} == {"removed"}
    assert windlass("network", "show", "--json").document["steps"] == []


def test_what_was_left_behind_is_found_and_reaped(windlass, google, golden):
    over = {"windlass": "true", "windlass-run": "over", "windlass-claim": "over-1-0"}
    make_vm(google, "w-over-1-0-0", **over)
    make_vm(google, "w-kept-1-0-0", **over, keep="true")
    add_run("over", phase=RunPhase.SUCCEEDED, outcome=Outcome.SUCCEEDED, ended_at=2000.0)
    dry = windlass("reap")
    assert dry.status == 1
    text = re.sub(r" +\d[\d.smh]+s(?= )", "   AGE", dry.out)
    golden.check("reap/dry-run.txt", text)
    unsure = windlass("reap", "--apply")
    assert (unsure.status, "--yes" in unsure.err) == (2, True)
    applied = windlass("reap", "--apply", "--yes", "--json")
    assert applied.status == 0, applied.err
    assert {one["name"]: one["is_deleted"] for one in applied.document["holdings"]} == {
        "w-over-1-0-0": True,
        "w-kept-1-0-0": False,
    }
    left = windlass("reap", "--json")
    assert (left.status, [one["verdict"] for one in left.document["holdings"]]) == (0, ["kept"])
    assert windlass("reap", "--older-than", "soon").status == 2


def test_the_way_to_a_node_is_printed_and_not_tried(windlass, google):
    labels = {"windlass": "true", "windlass-run": "ready", "windlass-claim": "ready-1-0"}
    make_vm(google, "w-ready-1-0-0", **labels)
    add_run("ready", phase=RunPhase.RUNNING, attempt=1)
    assert make_attempt("ready").winner == ""
    found = windlass("ssh", "ready", "0")
    assert found.out == (
        "gcloud compute ssh w-ready-1-0-0 --zone=us-central1-a --project=twin-project "
        "--tunnel-through-iap\n"
    )
    assert "not tried" in found.err
    assert windlass("ssh", "ready", "--json").document[0]["is_tried"] is False
    assert windlass("ssh", "ready", "7").status == 2
    add_run("gone", phase=RunPhase.RUNNING)
    assert "no machine at Google" in windlass("ssh", "gone").err


def test_preflight_of_a_spec(windlass, google, golden, tmp_path):
    path = tmp_path / "train.yaml"
    path.write_text(SPEC)
    found = windlass("doctor", "--on", "gcp", "--spec", str(path))
    assert found.status == 3
    golden.check("preflight/h100.txt", found.out)
    document = windlass("doctor", "--on", "tpu", "--json").document
    assert {one["verdict"] for one in document} == {"ok", "note", "bad"}
    assert "abc" not in found.out
    wrong = windlass("doctor", "--on", "local")
    assert (wrong.status, "rents nothing from Google" in wrong.err) == (2, True)
    assert windlass("doctor", "--spec", str(path)).status == 2


def test_a_plan_with_the_quota_that_google_says_is_free(windlass, google, tmp_path):
    path = tmp_path / "train.yaml"
    path.write_text(SPEC.replace("nodes: 2", "nodes: 20"))
    assert windlass("plan", str(path)).status == 0
    refused = windlass("plan", "--quota", "live", str(path))
    assert refused.status == 2
    assert "PREEMPTIBLE_NVIDIA_H100_GPUS" in refused.err


def test_check_tells_of_specs_and_policy_at_once(windlass, golden, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("good.yaml").write_text(
        "name: a\nrun: 'true'\nlabels: {team: nlp}\nlimits: {budget: 5 USD}\n"
        "where: {engines: [compute]}\n"
    )
    Path("bad.yaml").write_text(SPEC.lstrip())
    Path("broken.yaml").write_text("name: b\nrunn: x\n")
    Path("policy.yaml").write_text(POLICY)
    files = ["good.yaml", "bad.yaml", "broken.yaml"]
    found = windlass("check", "--policy", "policy.yaml", *files)
    assert found.status == 2
    golden.check("policy/check.txt", found.out)
    document = windlass("check", "--policy", "policy.yaml", "--json", *files).document
    assert [one["is_fine"] for one in document] == [True, False, False]
    assert windlass("check", "--policy", "policy.yaml", "good.yaml").status == 0
    without = windlass("check", "bad.yaml")
    assert (without.status, "no policy is configured" in without.err) == (0, True)


def test_check_knows_which_engines_there_are(windlass, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text("name: a\nrun: 'true'\nwhere: {engines: [gcp, gcpp]}\n")
    found = windlass("check", "a.yaml")
    assert found.status == 2
    assert "a.yaml:3:9: there is no engine called 'gcpp'" in found.out
    assert "Did you mean `gcp`?" in found.out
    assert windlass("check", "--on", "gcp", "a.yaml").status == 0
    assert windlass("check", "--on", "nowhere", "a.yaml").status == 2


def test_the_configured_policy_holds_at_submit(windlass, tmp_path):
    home = open_home()
    (home.path / "config.yaml").write_text("policy: policy.yaml\n")
    (home.path / "policy.yaml").write_text("required_labels: [team]\n")
    path = tmp_path / "train.yaml"
    path.write_text("name: llm\nrun: 'true'\n")
    denied = windlass("run", str(path), "--detach", "--json")
    assert denied.status == 2
    error = json.loads(denied.err)["error"]
    assert error["code"] == "policy-denied"
    assert [one["code"] for one in error["problems"]] == ["policy-label-missing"]
    assert open_home().store().list_runs() == []
    (home.path / "policy.yaml").unlink()
    assert windlass("run", str(path), "--detach").status == 2


def test_the_schema_of_a_policy_is_printed(windlass):
    assert windlass("schema", "policy").document["title"] == "Windlass policy"


def test_a_bucket_and_an_account_are_made_and_made_again_as_commands(google, windlass):
    config = "project: twin-project\nrun_folder: gs://made-by-command/w\n"
    (open_home().path / "config.yaml").write_text(config)
    assert windlass("bucket", "up", "--yes").out == "made gs://made-by-command in us-central1\n"
    again = windlass("bucket", "up", "--region", "us-east1")
    assert again.out == "there gs://made-by-command in us-central1\n"
    assert "cannot be moved" in again.err
    assert windlass("bucket", "up", "--region", "mars").status == 2
    refused = windlass("account", "up", "--yes")
    assert refused.status == 3, "an editor may make accounts, and grant no roles of projects"
    assert "made account windlass-runs@" in refused.out
    assert "gcloud projects add-iam-policy-binding" in refused.err
    assert windlass("account", "up", "--on", "local").status == 2
    gone = windlass("account", "down", "--yes", "--json")
    assert [step["done"] for step in json.loads(gone.out)["steps"]] == ["removed"] * 2
    assert windlass("account", "down", "--yes").out == "There is nothing to do.\n"
