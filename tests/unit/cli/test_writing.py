"""init, schema, completion, doctor, rm and run's own checks; nothing here starts a run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from windlass.cli.commands.doctor import examine
from windlass.cli.commands.run import changed
from windlass.errors import OptionRefused
from windlass.spec.model import Spec
from windlass.state.phases import RunPhase, Wanted

SPEC = Spec(name="a", run="true", env={"A": "1"})


def test_every_problem_of_a_spec_is_shown_at_once(windlass, seeded, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("nmae: x\nrun: true\nresources: {nodes: -3}\n")
    result = windlass("run", str(path))
    assert result.status == 2
    assert f"{path}:1:1: " in result.err
    assert "    1 | nmae: x\n      | ^\n" in result.err
    assert f"{path}:3:" in result.err
    assert list(seeded.home.store().list_runs()) == []
    problems = json.loads(windlass("run", str(path), "--json").err)["error"]["problems"]
    assert {problem["line"] for problem in problems} >= {1, 3}


def test_the_command_line_changes_the_spec():
    made = changed(SPEC, name="b c", engine="local", settings=("B=x=y", "A=2", "E="))
    assert (made.name, made.where.engines) == ("b c", ("local",))
    assert made.env == {"A": "2", "B": "x=y", "E": ""}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"name": "a/b"}, "--name"),
        ({"engine": "No Engine"}, "--on"),
        ({"settings": ("NOVALUE",)}, "there is no `=`"),
        ({"settings": ("1X=2",)}, "--env"),
        ({"settings": ("WINDLASS_RUN=2",)}, "--env"),
    ],
)
def test_options_keep_the_rules_of_the_file(options, said):
    with pytest.raises(OptionRefused, match=said):
        changed(SPEC, **{"name": None, "engine": None, "settings": (), **options})


def test_an_engine_that_does_not_exist_is_refused(windlass, seeded, tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("name: x\nrun: echo\n")
    result = windlass("run", str(path), "--on", "moon")
    assert result.status == 2
    assert "moon" in result.err
    assert list(seeded.home.store().list_runs()) == []


def test_init_writes_a_spec_that_is_valid_and_replaces_none(windlass, tmp_path):
    (tmp_path / "train.py").write_text("import jax\n")
    result = windlass("init", str(tmp_path))
    path = tmp_path / "train.yaml"
    assert (result.status, result.out) == (0, f"{path}\n")
    from windlass.spec.load import load_spec

    load_spec(path)
    before = path.read_text()
    assert windlass("init", str(tmp_path)).status == 2
    assert path.read_text() == before
    assert windlass("init", str(tmp_path), "--force", "--json").document == {"path": str(path)}


@pytest.mark.parametrize("which", [[], ["spec"], ["config"]])
def test_schemas_are_printed(windlass, which):
    assert windlass("schema", *which).document["$schema"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(windlass, shell):
    assert "_WINDLASS_COMPLETE" in windlass("completion", shell).out


@pytest.mark.parametrize(
    ("words", "expected"),
    [("windlass sh", "show"), ("windlass show tr", "train-7"), ("windlass stop ", "train-7")],
)
def test_commands_and_run_ids_complete(seeded, words, expected):
    seeded.add("train-7")
    settings = {
        **os.environ,
        "_WINDLASS_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    command = [str(Path(sys.executable).parent / "windlass")]
    done = subprocess.run(command, env=settings, capture_output=True, text=True)
    assert f"plain,{expected}" in done.stdout.splitlines()


def test_doctor_finds_this_machine_well(windlass):
    result = windlass("doctor", "--json")
    names = [finding["name"] for finding in result.document]
    assert result.status == 0
    assert names[:7] == ["windlass", "python", "home", "disk", "config", "store", "controller"]
    assert "local" in names
    assert windlass("doctor").out.startswith("✔ windlass ")


def test_doctor_names_what_is_broken_and_the_cure(windlass, seeded):
    (seeded.home.path / "config.yaml").write_text("enignes: [local]\n")
    result = windlass("doctor")
    assert result.status == 3
    assert "✘ config" in result.out
    assert "config.yaml:1: `enignes` is not a key" in result.out
    assert "Did you mean `engines`?" in result.out
    broken = [finding for finding in examine(seeded.home) if finding.verdict == "bad"]
    assert all(finding.remedy for finding in broken)


def test_rm_forgets_ended_runs_only(windlass, seeded):
    seeded.add("live")
    seeded.add("done", phase=RunPhase.SUCCEEDED)
    seeded.add("bad", phase=RunPhase.FAILED)
    seeded.add("old", phase=RunPhase.STOPPED)
    seeded.folder("done").win()
    refused = windlass("rm", "done", "live")
    assert (refused.status, "has not ended" in refused.err) == (2, True)
    assert seeded.home.folders.path("done").exists()
    assert windlass("rm", "done", "done").out == "done removed\n"
    assert not seeded.home.folders.path("done").exists()
    assert sorted(windlass("rm", "--all-ended", "--json").document) == ["bad", "old"]
    assert [run.id for run in seeded.home.store().list_runs()] == ["live"]


def test_a_run_that_succeeded_or_lives_is_not_retried(windlass, seeded):
    seeded.add("done", phase=RunPhase.SUCCEEDED)
    seeded.add("live")
    assert "nothing to try again" in windlass("retry", "done").err
    assert "has not ended" in windlass("retry", "live").err


def test_exec_needs_a_live_gang(windlass, seeded):
    seeded.add("done", phase=RunPhase.FAILED)
    seeded.add("lost", phase=RunPhase.RUNNING, attempt=1)
    seeded.folder("lost").win().beat(seeded.now - 100)
    assert "nothing of it runs" in windlass("exec", "done", "--", "ls").err
    assert "has not been heard of" in windlass("exec", "lost", "ls").err


ON_TWIN = {"cloud": "twin:/some/twin", "options": '{"folder": "gs://b/runs/far"}'}


def test_a_run_on_the_twin_is_shown_and_otherwise_left_alone_from_outside(windlass, seeded):
    now = seeded.now
    far = {**ON_TWIN, "phase": RunPhase.RUNNING, "attempt": 1, "started_at": now}
    seeded.add("far", **far)
    listed = windlass("ps")
    assert listed.status == 0 and "far" in listed.out
    assert listed.err == (
        "windlass: on the twin in /some/twin: far. Give the command as "
        "`windlass twin exec -- windlass …`, or in a `windlass twin shell`.\n"
    )
    shown = windlass("show", "far")
    assert (shown.status, "the twin in /some/twin" in shown.out) == (0, True)
    assert "far is on the twin in /some/twin, and this command talks to Google" in shown.err
    assert windlass("explain", "far", "--json").document["run"]["cloud"] == "twin:/some/twin"
    for words in (["stop", "far"], ["attach", "far"], ["logs", "far"], ["ssh", "far"]):
        refused = windlass(*words)
        assert (refused.status, "error[run-elsewhere]" in refused.err) == (3, True), words
    assert seeded.home.store().get_run("far").wanted is Wanted.RUN
    assert "on the twin in /some/twin: far" in windlass("stop", "--all").err
    assert not seeded.home.is_controller_alive()


def test_an_ended_run_of_the_twin_is_forgotten_and_its_folder_named(windlass, seeded):
    seeded.add("far", **ON_TWIN, phase=RunPhase.FAILED, ended_at=seeded.now)
    refused = windlass("retry", "far")
    assert (refused.status, "error[run-elsewhere]" in refused.err) == (3, True)
    gone = windlass("rm", "far")
    assert gone.status == 0
    assert gone.err == "windlass: gs://b/runs/far on the twin in /some/twin is not removed\n"
    assert seeded.home.store().get_run("far") is None
