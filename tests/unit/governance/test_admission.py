"""A spec is held against a policy: every breach with the line that it is about."""

from __future__ import annotations

import pytest

from houses import furnished, make_bucket, session_of
from windlass.errors import OptionRefused, PolicyDenied
from windlass.governance.admission import admitted, circumstances, problems_of
from windlass.governance.policy_source import read_policy
from windlass.policy.document import Policy
from windlass.spec.load import parse_spec

TEXT = b"""name: llm
run: python train.py
where:
  regions: [us-central1, asia-east1]
limits: {budget: 900 USD}
"""
POLICY = Policy(
    required_labels=("team",), regions=("us-*",), max_budget_usd=500.0, max_ttl_s=86400.0
)


def check(*engines: str):
    spec = parse_spec(TEXT, path="train.yaml", folder=None)
    return problems_of(spec, POLICY, circumstances(engines, {}), text=TEXT, path="train.yaml")


def test_every_breach_has_the_line_that_it_is_about():
    assert [(one.code, one.line, one.column) for one in check("compute")] == [
        ("policy-label-missing", 1, 1),
        ("policy-region", 4, 3),
        ("policy-ttl", 5, 1),
        ("policy-budget", 5, 10),
    ]
    assert "budget: 900 USD" in check("compute")[-1].source


def test_all_engines_of_google_are_meant_by_one_word():
    assert circumstances(("gcp",), {}).rented == ("compute", "tpu", "vertex")
    assert [one.code for one in check("gcp")] == [one.code for one in check("compute")]


def test_a_run_on_this_machine_needs_only_its_labels():
    assert [one.code for one in check("local")] == ["policy-label-missing"]


def test_a_spec_that_breaks_the_policy_is_not_admitted(tmp_path):
    path = tmp_path / "train.yaml"
    path.write_bytes(TEXT)
    spec = parse_spec(TEXT, path="train.yaml", folder=None)
    with pytest.raises(PolicyDenied) as caught:
        admitted(spec, POLICY, circumstances(("compute",), {}), path=path)
    assert len(caught.value.problems) == 4
    assert caught.value.exit_status == 2


def test_a_policy_is_read_from_a_file_or_a_bucket(tmp_path):
    (tmp_path / "policy.yaml").write_text("max_nodes: 3\n")
    house = furnished(tmp_path / "buckets")
    make_bucket(house, "platform")
    path = "/upload/storage/v1/b/platform/o?uploadType=media&name=team%2Fpolicy.yaml"
    house.send("POST", "storage.googleapis.com", path, b"max_nodes: 5\n")

    def read(where: str) -> Policy:
        return read_policy(where, home=tmp_path, session=lambda: session_of(house))

    assert read("policy.yaml").max_nodes == 3
    assert read("gs://platform/team/policy.yaml").max_nodes == 5
    with pytest.raises(OptionRefused, match="no policy gs://platform/other"):
        read("gs://platform/other.yaml")
