"""Scenario files: what they come to, and every mistake at once with its line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy
import pytest

import tree
from vms import CATALOG
from windlass.errors import OptionRefused, SpecInvalid
from windlass.twin.faults.rules import Kind
from windlass.twin.market import NEVER
from windlass.twin.scenario.load import load_scenario
from windlass.twin.scenario.model import Scenario


def loaded(folder: Path, text: str) -> Scenario:
    path = folder / "scenario.yaml"
    path.write_text(text)
    return load_scenario(path, catalog=CATALOG)


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(SpecInvalid) as caught:
        loaded(folder, text)
    assert caught.value.exit_status == 2
    return [f"{one.line}:{one.column} {one.message}" for one in caught.value.problems]


def test_capacity_is_by_zone_kind_model_and_time(tmp_path):
    text = "capacity: [{zone: us-central1, what: H100, model: spot, room: 4, from: 10m, until: 2h}]"
    (rule,) = loaded(tmp_path, text).market
    assert (rule.zone, rule.what, rule.model) == ("us-central1-*", "nvidia-h100-80gb", "SPOT")
    assert (rule.room, rule.since, rule.until) == (4, 600.0, 7200.0)


@pytest.mark.parametrize(
    ("typed", "google"),
    [
        ("H100", "nvidia-h100-80gb"),
        ("h100", "nvidia-h100-80gb"),
        ("nvidia-l4", "nvidia-l4"),
        ("a3-highgpu-8g", "a3-highgpu-8g"),
        ("v5litepod-16", "v5litepod-16"),
        ("v5e", "tpu-v5e"),
        ("a100-80gb", "nvidia-a100-80gb"),
        ("a3-*", "a3-*"),
    ],
)
def test_kinds_are_named_as_people_type_them(tmp_path, typed, google):
    (rule,) = loaded(tmp_path, f"hazard: [{{what: '{typed}', per_hour: 1}}]").market
    assert (rule.what, rule.hazard_per_h, rule.until) == (google, 1.0, NEVER)


def test_the_rest_of_the_world(tmp_path):
    scenario = loaded(
        tmp_path,
        """
project: rehearsal-1
notice: 5s
delays: {boot: 10s}
apis_off: [tpu]
denied: [compute.instances.create, {permission: a.b.c, member: x@example.com}]
quotas: [{metric: NVIDIA_L4_GPUS, where: us-central1, limit: 4}]
api:
  - {method: compute.*, error: 429, retry_after: 5s, share: 2%, count: 3}
  - {method: storage.*, latency: 200ms}
  - {method: storage.objects.insert, kind: cut-upload, after_bytes: 256KiB}
""",
    )
    assert scenario.settings == {"project": "rehearsal-1", "notice_s": 5.0, "delays": {"boot": 10}}
    assert scenario.apis_off == ("tpu",)
    assert scenario.denied == (("*", "compute.instances.create"), ("x@example.com", "a.b.c"))
    assert scenario.quotas == (("us-central1", "NVIDIA_L4_GPUS", 4.0),)
    limited, slow, cut = scenario.rules
    assert (limited.status, limited.retry_after_s, limited.share) == (429, 5.0, 0.02)
    assert (slow.kind, slow.latency_s) == (Kind.LATENCY, 0.2)
    assert (cut.kind, cut.after_bytes) == (Kind.CUT_UPLOAD, 256 << 10)


def test_things_that_happen(tmp_path):
    scenario = loaded(
        tmp_path,
        """
faults:
  - {at: 90s, preempt: node-3}
  - {after: 2m, fail: node-4}
  - {at: 1h, stockout: H100, zone: us-central1, for: 2h}
  - {at: 2h, api_off: tpu}
  - {at: 3h, quota: CPUS, where: us-central1, limit: 8}
""",
    )
    first, second, third, fourth, fifth = scenario.planned
    assert (first.incident, first.at) == ({"what": "preempt", "name": "node-3"}, 90.0)
    assert (second.incident["what"], second.at, second.after) == ("fail", None, 120.0)
    assert third.incident["kind"] == "nvidia-h100-80gb"
    assert (third.incident["zone"], third.incident["for"]) == ("us-central1-*", 7200.0)
    assert fourth.incident == {"what": "api-off", "service": "tpu"}
    assert fifth.incident["limit"] == 8.0


BAD = {
    "an unknown key": ("capacty: 3\n", ["1:1 capacty is not a key here"]),
    "an unknown key within": (
        "capacity:\n  - {room: 1, wat: H100}\n",
        ["2:15 wat is not a key here"],
    ),
    "a key twice": ("notice: 1s\nnotice: 2s\n", ["2:1 notice is there twice"]),
    "no such zone": (
        "capacity: [{zone: mars-1, room: 1}]\n",
        ["1:19 zone: there is no zone mars-1"],
    ),
    "a wrong kind and a wrong number": (
        "capacity:\n  - what: H1000\n    room: -1\n",
        ["2:11 what: nothing is called H1000", "3:11 room: -1 is no whole number"],
    ),
    "something missing": ("quotas: [{metric: CPUS}]\n", ["1:10 limit is missing"]),
    "a wrong duration": (
        "faults: [{at: 5 parsecs, fail: x}]\n",
        ["1:15 at: 5 parsecs is no duration"],
    ),
    "no time": ("faults: [{fail: x}]\n", ["1:10 it says not when, or twice"]),
    "two times": ("faults: [{at: 1s, after: 1s, fail: x}]\n", ["1:10 it says not when, or twice"]),
    "nothing that happens": ("faults: [{at: 1s}]\n", ["1:10 it does not say what happens"]),
    "two things": (
        "faults: [{at: 1s, fail: x, preempt: y}]\n",
        ["1:10 it must say what happens, once"],
    ),
    "waits for no machine": (
        "faults: [{after: 1s, api_off: tpu}]\n",
        ["1:10 api_off waits for no machine"],
    ),
    "an end before the beginning": (
        "hazard: [{per_hour: 1, from: 2h, until: 1h}]\n",
        ["1:10 it ends before it begins"],
    ),
    "no error": (
        "api: [{method: x}]\n",
        ["1:7 it says neither an error nor a latency nor another kind"],
    ),
    "no HTTP error": ("api: [{method: x, error: 200}]\n", ["1:26 error: 200 is no HTTP error"]),
    "more than all": (
        "api: [{method: x, error: 500, share: 3}]\n",
        ["1:38 share: 3 is more than all"],
    ),
    "a bad project": ("project: X\n", ["1:10 project: X cannot be a project's id"]),
    "no such delays": ("delays: endless\n", ["1:9 endless are no delays"]),
    "not keys": ("- 1\n", ["1:1 this must be keys and values"]),
    "not YAML": ("a: [\n", ["2:1 this is not YAML: expected the node content"]),
    "a replay without zones": (
        "replay: [{file: t.json, what: H100, step: 1m}]\n",
        ["1:10 it names no zones"],
    ),
}


@pytest.mark.parametrize(("text", "expected"), BAD.values(), ids=BAD)
def test_mistakes_are_shown_where_they_are(tmp_path, text, expected):
    found = problems(tmp_path, text)
    assert len(found) == len(expected)
    assert all(one.startswith(said) for one, said in zip(found, expected, strict=True)), found


def test_all_mistakes_are_shown_at_once_with_what_would_do(tmp_path):
    path = tmp_path / "scenario.yaml"
    path.write_text("capacty: 1\nhazard: [{per_hour: x, what: L5}]\n")
    with pytest.raises(SpecInvalid) as caught:
        load_scenario(path, catalog=CATALOG)
    remedies = [one.remedy for one in caught.value.problems]
    assert len(remedies) == 3
    assert remedies[0] == "Did you mean capacity?"
    assert caught.value.problems[1].source == "hazard: [{per_hour: x, what: L5}]"


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(OptionRefused):
        load_scenario(tmp_path / "none.yaml", catalog=CATALOG)


def test_an_empty_file_is_a_scenario(tmp_path):
    assert loaded(tmp_path, "").market == ()


REPLAY = "replay: [{file: %s, zones: {us-central1-a: %s}, what: H100, step: 10m}]\n"


def write_traces(folder: Path) -> None:
    (folder / "t.json").write_text(json.dumps({"calm": [2, 2, 0, 3]}))
    (folder / "t.csv").write_text("calm,busy\n2,0\n2,0\n0,0\n3,1\n")
    numpy.savez(folder / "t.npz", calm=numpy.array([2, 2, 0, 3], dtype="u1"))


@pytest.mark.parametrize("name", ["t.json", "t.csv", "t.npz"])
def test_a_trace_becomes_capacity_over_time(tmp_path, name):
    write_traces(tmp_path)
    rules = loaded(tmp_path, REPLAY % (name, "calm")).market
    assert [(one.room, one.since, one.until) for one in rules] == [
        (2, 0.0, 1200.0),
        (0, 1200.0, 1800.0),
        (3, 1800.0, NEVER),
    ]
    assert {(one.zone, one.model) for one in rules} == {("us-central1-a", "SPOT")}


@pytest.mark.parametrize(
    ("name", "trace", "said"),
    [
        ("t.json", "wild", "there is no trace 'wild'"),
        ("t.csv", "wild", "there is no column 'wild'"),
        ("t.npz", "wild", "there is no trace 'wild'"),
        ("none.json", "calm", "cannot be read"),
        ("t.txt", "calm", "is no trace"),
    ],
)
def test_a_trace_that_is_not_there_is_a_mistake(tmp_path, name, trace, said):
    write_traces(tmp_path)
    (found,) = problems(tmp_path, REPLAY % (name, trace))
    assert said in found


def test_the_scenarios_of_the_page_are_read(tmp_path):
    page = tree.text("docs/concepts/scenarios.md")
    (tmp_path / "traces.json").write_text(json.dumps({"calm": [1], "busy": [0]}))
    examples = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        assert loaded(tmp_path, example).market
