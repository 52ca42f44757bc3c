"""`windlass lint-gcloud` as people call it."""

from __future__ import annotations

import json

import pytest

from windlass.cli.main import run

STALE = "gcloud config get-value project\n"
WRONG = "gcloud billing budgets list\n"


@pytest.mark.parametrize(
    ("text", "options", "status"),
    [
        ("gcloud projects list\n", [], 0),
        (STALE, [], 0),
        (STALE, ["--strict"], 2),
        (WRONG, [], 2),
        ("gcloud compute instances create v\n", ["--hints", "--strict"], 0),
    ],
)
def test_the_exit_status_tells_how_bad_it_is(tmp_path, text, options, status):
    file = tmp_path / "a.sh"
    file.write_text(text)
    assert run(["lint-gcloud", str(file), *options]) == status


def test_a_finding_names_place_rule_and_right_form(tmp_path, capsys):
    file = tmp_path / "a.sh"
    file.write_text("true\n" + WRONG)
    run(["lint-gcloud", str(file)])
    said = capsys.readouterr().out
    assert f"{file}:2: error" in said and "[billing-account-missing]" in said
    assert "    gcloud billing budgets list --billing-account=BILLING_ACCOUNT_ID\n" in said


def test_programs_get_the_same_as_json(tmp_path, capsys):
    file = tmp_path / "a.sh"
    file.write_text(WRONG)
    run(["lint-gcloud", str(file), "--json"])
    [finding] = json.loads(capsys.readouterr().out)
    assert (finding["line"], finding["rule"]) == (1, "billing-account-missing")
    assert finding["fixed"].endswith("--billing-account=BILLING_ACCOUNT_ID")


def test_hints_are_shown_when_asked_for(tmp_path, capsys):
    file = tmp_path / "a.sh"
    file.write_text("gcloud compute instances create v\n")
    run(["lint-gcloud", str(file)])
    assert capsys.readouterr().out == "Every gcloud command is fine.\n"
    run(["lint-gcloud", str(file), "--hints"])
    assert "[public-address]" in capsys.readouterr().out


def test_a_file_that_is_not_there_is_said(tmp_path, capsys):
    assert run(["lint-gcloud", str(tmp_path / "none.md")]) == 2
    assert "does not exist" in capsys.readouterr().err
