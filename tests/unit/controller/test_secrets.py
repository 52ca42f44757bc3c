"""Secrets on the caller's machine: private while they are needed, gone after."""

from __future__ import annotations

import json
import os

import pytest

from windlass.controller.secrets import SecretFiles, check_present
from windlass.errors import SecretMissing

CALLER = {"HF_TOKEN": "hf-123", "OTHER": "x"}


@pytest.fixture
def files(tmp_path):
    return SecretFiles(tmp_path / "secrets")


def test_values_are_taken_from_the_caller_under_the_names_ranks_know(files):
    files.keep("r", {"TOKEN": "HF_TOKEN"}, CALLER)
    assert json.loads(files.path("r").read_text()) == {"TOKEN": "hf-123"}


def test_only_the_owner_may_read_them(files, tmp_path):
    before = os.umask(0)
    try:
        files.keep("r", {"TOKEN": "HF_TOKEN"}, CALLER)
    finally:
        os.umask(before)
    assert files.path("r").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700


def test_a_run_without_secrets_has_no_file(files, tmp_path):
    files.keep("r", {}, CALLER)
    assert files.path("r") is None
    assert not (tmp_path / "secrets").exists()


def test_all_that_are_missing_are_named_and_nothing_is_written(files, tmp_path):
    wanted = {"A": "NO_SUCH", "B": "HF_TOKEN", "C": "NOR_THIS"}
    with pytest.raises(SecretMissing) as missing:
        files.keep("r", wanted, CALLER)
    assert missing.value.message == "not set in the environment: NOR_THIS, NO_SUCH"
    assert "export NOR_THIS=" in missing.value.remedy
    assert "hf-123" not in str(missing.value)
    assert not (tmp_path / "secrets").exists()


def test_an_empty_value_is_a_value():
    check_present({"A": "EMPTY"}, {"EMPTY": ""})


def test_a_second_keep_replaces_the_first(files, tmp_path):
    files.keep("r", {"TOKEN": "HF_TOKEN"}, CALLER)
    files.keep("r", {"TOKEN": "OTHER"}, CALLER)
    assert json.loads(files.path("r").read_text()) == {"TOKEN": "x"}
    assert [path.name for path in (tmp_path / "secrets").iterdir()] == ["r.json"]


def test_forgetting_twice_does_no_harm(files):
    files.keep("r", {"TOKEN": "HF_TOKEN"}, CALLER)
    files.forget("r")
    files.forget("r")
    assert files.path("r") is None


def test_what_is_over_is_forgotten_with_what_a_kill_left_half_written(files, tmp_path):
    for run in ("live", "over"):
        files.keep(run, {"TOKEN": "HF_TOKEN"}, CALLER)
    (tmp_path / "secrets" / "over.new").write_text('{"TOK')
    asked = []

    def is_over(run, kept_at):
        asked.append((run, kept_at))
        return run == "over"

    files.forget_if(is_over)
    assert [path.name for path in (tmp_path / "secrets").iterdir()] == ["live.json"]
    assert dict(asked)["live"] == files.path("live").stat().st_mtime


def test_nothing_kept_is_nothing_to_forget(files):
    files.forget_if(lambda run, kept_at: pytest.fail("there is none"))


def test_a_value_that_cannot_be_written_leaves_nothing(files, tmp_path):
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "r.json").mkdir()
    with pytest.raises(OSError):
        files.keep("r", {"TOKEN": "HF_TOKEN"}, CALLER)
    assert [path.name for path in (tmp_path / "secrets").iterdir()] == ["r.json"]
