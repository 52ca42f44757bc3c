"""`windlass render`, as a person and as a program sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from windlass.assemble import home_path

SPEC = """\
name: llm
run: python train.py
resources: {accelerators: [H100:8], nodes: 2}
where: {regions: [us-central1], buy: [spot]}
secrets: [HF_TOKEN]
limits: {ttl: 24h}
"""
CONFIG = "project: my-project-123\nrun_folder: gs://my-bucket/windlass\nowner: ann\n"


@pytest.fixture
def spec(tmp_path: Path) -> str:
    home = home_path()
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.yaml").write_text(CONFIG)
    return write(tmp_path, "train.yaml", SPEC)


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_requests_are_shown_as_they_would_be_sent(windlass, spec, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "the-value-itself")
    result = windlass("render", spec, "--on", "compute")
    assert result.status == 0
    policy, machines = json.loads(result.out)
    root = "https://compute.googleapis.com/compute/v1/projects/my-project-123"
    assert policy["url"] == f"{root}/regions/us-central1/resourcePolicies"
    assert machines["url"] == f"{root}/zones/us-central1-a/instances/bulkInsert"
    assert machines["body"]["count"] == "2"
    assert "projects/my-project-123/secrets/HF_TOKEN/versions/latest" in result.out
    assert "the-value-itself" not in result.out


@pytest.mark.parametrize("form", ["request", "gcloud", "terraform"])
def test_the_same_spec_gives_the_same_text(windlass, spec, form):
    first = windlass("render", spec, "--on", "compute", "--format", form)
    assert first.status == 0
    assert windlass("render", spec, "--on", "compute", "--format", form).out == first.out


def test_an_offer_of_the_plan_may_be_named(windlass, spec):
    offer = "us-central1-c/a3-highgpu-8g/spot"
    shown = windlass("render", spec, "--on", "compute", "--offer", offer, "--json").document
    assert (shown["engine"], shown["offer"], shown["format"]) == ("compute", offer, "request")
    assert "/zones/us-central1-c/" in shown["requests"][-1]["url"]


def test_an_offer_that_the_spec_does_not_allow_is_refused(windlass, spec):
    result = windlass("render", spec, "--on", "compute", "--offer", "us-west1-a/g2-standard-4/spot")
    assert result.status == 2
    assert "none of the plan's offers" in result.err


def test_text_is_in_json_too(windlass, spec):
    shown = windlass("render", spec, "--on", "compute", "--format", "terraform", "--json").document
    assert shown["text"].startswith('resource "google_compute_resource_policy" "run" {')


def test_slices_are_for_another_engine_than_machines(windlass, spec, tmp_path):
    text = SPEC.replace("H100:8", "v5e-16").replace("nodes: 2", "nodes: 1")
    path = write(tmp_path, "tpu.yaml", text)
    shown = windlass("render", path, "--on", "tpu", "--json").document
    assert shown["requests"][0]["url"].endswith("/locations/us-central1-a/queuedResources")
    refused = windlass("render", path, "--on", "compute")
    assert (refused.status, "names no machine type" in refused.err) == (5, True)


def test_what_runs_here_is_shown_as_its_engine_takes_it(windlass, spec, tmp_path):
    path = write(tmp_path, "cpu.yaml", "name: small\nrun: 'true'\n")
    (sent,) = windlass("render", path, "--on", "local", "--json").document["requests"]
    assert sent["body"]["claim"] == "small-00000-1-0"
    refused = windlass("render", path, "--on", "local", "--format", "gcloud")
    assert (refused.status, "no form `gcloud`" in refused.err) == (2, True)


def test_vertex_has_no_resource_of_terraform(windlass, spec):
    refused = windlass("render", spec, "--on", "vertex", "--format", "terraform")
    assert refused.status == 2
    assert "--format request" in refused.err


def test_machines_cannot_be_rented_without_a_bucket(windlass, spec):
    (home_path() / "config.yaml").write_text("project: my-project-123\n")
    result = windlass("render", spec, "--on", "compute")
    assert result.status == 2
    assert "run_folder: gs://" in result.err
