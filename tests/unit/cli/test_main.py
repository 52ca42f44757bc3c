"""Whatever goes wrong becomes words, JSON when asked for, and an exit status."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from builders import make_event, make_run
from windlass.cli.bugs import write_report
from windlass.cli.group import COMMANDS

FULL = Path("/dev/full")


def test_without_a_command_the_help_is_shown(windlass):
    result = windlass()
    assert result.status == 0
    for name, said in COMMANDS.items():
        assert f"  {name}" in result.out
        assert said in result.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_of_its_use(windlass, name):
    result = windlass(name, "--help")
    assert result.status == 0
    assert result.out.startswith(f"Usage: windlass {name}")


def test_a_misspelt_command_is_suggested(windlass):
    result = windlass("explian", "x")
    assert result.status == 2
    assert "Did you mean `windlass explain`?" in result.err
    assert windlass("qqqq").err.startswith("error[option-refused] There is no command `qqqq`.\n")


@pytest.mark.parametrize(
    ("arguments", "code", "status"),
    [
        (["ps", "--json", "--bogus"], "option-refused", 2),
        (["show", "--json"], "option-refused", 2),
        (["show", "nope", "--json"], "run-unknown", 2),
        (["run", "no-such-file.yaml", "--json"], "option-refused", 2),
        (["stop", "--json"], "option-refused", 2),
        (["stop", "--all", "x", "--json"], "option-refused", 2),
        (["rm", "--json"], "option-refused", 2),
        (["init", "no-such-folder", "--json"], "option-refused", 2),
    ],
)
def test_errors_are_json_when_json_was_asked_for(windlass, arguments, code, status):
    result = windlass(*arguments)
    assert (result.status, result.out) == (status, "")
    error = json.loads(result.err)["error"]
    assert (error["code"], error["exit_status"]) == (code, status)
    assert error["remedy"]
    assert error["docs"].endswith(code)
    assert error["retry"] == "never"


def test_json_after_the_dashes_belongs_to_the_command_that_is_run(windlass):
    result = windlass("exec", "nope", "--", "ls", "--json")
    assert result.err.startswith("error[run-unknown]")


def test_a_bug_becomes_one_report_however_often_it_comes(windlass, seeded):
    # No command writes such a spec: it stands for a bug that nobody has thought of.
    broken = make_run("worse", spec="[]", created_at=seeded.now)
    seeded.home.store().add_run(broken, make_event("worse"))
    for _ in range(2):
        result = windlass("ps", "--json")
        assert result.status == 70
        error = json.loads(result.err)["error"]
        assert error["code"] == "internal-error"
        assert error["message"].startswith("AttributeError")
    (report,) = (seeded.home.path / "reports").iterdir()
    assert str(report) in error["remedy"]
    assert "Traceback" in report.read_text()


def test_a_report_keeps_no_values_of_options():
    path = write_report(ValueError("x"), ["run", "--env", "TOKEN=hunter2", "--env=KEY=hunter2"])
    assert path is not None
    assert "hunter2" not in path.read_text()
    assert "TOKEN=…" in path.read_text()


def test_a_reader_that_leaves_is_no_error(seeded):
    for number in range(300):
        seeded.add(f"run-{number}")
    command = [sys.executable, "-m", "windlass", "ps", "-n", "1000", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait(20)


@pytest.mark.parametrize(
    ("arguments", "forbidden"),
    [
        (["version"], {"yaml", "rich", "sqlite3", "json", "windlass.errors", "windlass.assemble"}),
        (["ps", "--all"], {"yaml", "rich", "httpx", "windlass.spec"}),
        (["--help"], {"yaml", "rich", "sqlite3"}),
    ],
    ids=["version", "ps", "help"],
)
def test_a_command_imports_only_what_it_uses(seeded, arguments, forbidden):
    seeded.add("one")
    program = (
        "import sys; from windlass.cli.main import run; "
        f"status = run({arguments!r}); sys.stderr.write(' '.join(sys.modules)); sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not forbidden & set(done.stderr.split())


def test_version_is_printed(windlass):
    from windlass.version import VERSION

    assert windlass("version").out == f"windlass {VERSION}\n"
    assert windlass("--version").out == f"windlass {VERSION}\n"
    assert windlass("version", "--json").document["version"] == VERSION


@pytest.mark.parametrize("is_buffered", [True, False])
@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
def test_a_full_disk_behind_the_output_is_no_bug(is_buffered):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    if not is_buffered:
        environment["PYTHONUNBUFFERED"] = "1"
    with FULL.open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "windlass", "schema"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
        )
    assert ended.returncode == 74
    assert ended.stderr == "windlass: the output could not be written: No space left on device\n"


def test_a_closed_output_is_no_bug():
    command = f"{shlex.quote(sys.executable)} -m windlass version >&- 2>&-"
    assert subprocess.run(["sh", "-c", command]).returncode == 0
