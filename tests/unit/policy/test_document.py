"""A policy file: strict, with every problem at once and its line."""

from __future__ import annotations

import json

import pytest

from windlass.errors import OptionRefused, SpecInvalid
from windlass.policy.document import (
    KEYS,
    NO_POLICY,
    Policy,
    load_policy,
    parse_policy,
    policy_schema,
)

KEY = "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k"
WHOLE = f"""
required_labels: [team, env]
label_values: {{env: [dev, prod]}}
name_pattern: "[a-z]+-.*"
engines: [compute, tpu]
regions: [us-*, europe-west4]
buy: [spot, reservation]
max_budget: 5000 USD
max_ttl: 7d
max_nodes: 64
kms_key: {KEY}
service_accounts: "*@my-project.iam.gserviceaccount.com"
external_addresses: forbidden
"""


def problems(text: str) -> list[tuple[int, str]]:
    with pytest.raises(SpecInvalid) as caught:
        parse_policy(text, path="policy.yaml")
    return [(problem.line, problem.code) for problem in caught.value.problems]


def test_every_key_is_read():
    assert parse_policy(WHOLE, path="policy.yaml") == Policy(
        required_labels=("team", "env"),
        label_values={"env": ("dev", "prod")},
        name_pattern="[a-z]+-.*",
        engines=("compute", "tpu"),
        regions=("us-*", "europe-west4"),
        buy=("spot", "reservation"),
        max_budget_usd=5000.0,
        max_ttl_s=7 * 86400.0,
        max_nodes=64,
        kms_key=KEY,
        service_accounts=("*@my-project.iam.gserviceaccount.com",),
        external_addresses=False,
    )


def test_an_empty_policy_allows_everything():
    assert parse_policy("# nothing yet\n", path="policy.yaml") == NO_POLICY


def test_every_problem_is_told_at_once_with_its_line():
    text = (
        "max_bugdet: 5 USD\nregions: [US East]\nbuy: [credit]\nmax_nodes: 0\n"
        "name_pattern: '['\nkms_key: mine\nservice_accounts: [me]\nexternal_addresses: no\n"
    )
    assert problems(text) == [
        (1, "unknown-key"),
        (2, "bad-value"),
        (3, "unknown-buy"),
        (4, "out-of-range"),
        (5, "bad-pattern"),
        (6, "bad-value"),
        (7, "bad-value"),
        (8, "unknown-choice"),
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("- a\n- b\n", "not-a-mapping"),
        ("max_budget: 5\n", "money-without-currency"),
        ("max_ttl: 7\n", "duration-without-unit"),
        ("label_values: {env: []}\n", "empty-list"),
        ("label_values: {ENV: [dev]}\n", "bad-label"),
        ("required_labels: []\n", "empty-list"),
    ],
)
def test_a_value_that_cannot_be_is_refused(text, code):
    assert [found for _, found in problems(text)] == [code]


def test_a_policy_that_is_not_there_allows_nothing(tmp_path):
    with pytest.raises(OptionRefused, match="no file"):
        load_policy(tmp_path / "policy.yaml")


def test_the_schema_has_every_key_and_is_json():
    schema = policy_schema()
    assert tuple(schema["properties"]) == KEYS
    assert json.loads(json.dumps(schema)) == schema
