"""What a policy forbids, and what it fills in."""

from __future__ import annotations

import pytest

from windlass.policy.document import NO_POLICY, Policy
from windlass.policy.rules import Circumstances, breaches, filled
from windlass.spec.model import Limits, Resources, Spec, Where

RENTS = Circumstances(engines=("compute",), renting=frozenset({"compute", "tpu"}), defaults={})
HERE = Circumstances(engines=("local",), renting=frozenset({"compute", "tpu"}), defaults={})
KEY = "projects/p/locations/l/keyRings/r/cryptoKeys/k"


def spec(**fields) -> Spec:
    return Spec(**{"name": "llm", "run": "python train.py", **fields})


# name: (policy, spec, codes when it rents, codes when it does not)
CASES = {
    "nothing is said": (NO_POLICY, spec(), [], []),
    "a name that does not match": (
        Policy(name_pattern="nlp-.*"),
        spec(),
        ["policy-name"],
        ["policy-name"],
    ),
    "a name that matches only in part": (
        Policy(name_pattern="llm|x"),
        spec(name="llm-2"),
        ["policy-name"],
        ["policy-name"],
    ),
    "labels that are missing": (
        Policy(required_labels=("team", "env")),
        spec(labels={"team": "nlp"}),
        ["policy-label-missing"],
        ["policy-label-missing"],
    ),
    "a label of another value": (
        Policy(label_values={"env": ("dev", "prod")}),
        spec(labels={"env": "test"}),
        ["policy-label-value"],
        ["policy-label-value"],
    ),
    "an engine that is not allowed": (
        Policy(engines=("tpu",)),
        spec(),
        ["policy-engine"],
        ["policy-engine"],
    ),
    "a region that is not allowed": (
        Policy(regions=("us-*",)),
        spec(where=Where(regions=("us-central1", "asia-east1"))),
        ["policy-region"],
        [],
    ),
    "a pattern within another": (
        Policy(regions=("us-*",)),
        spec(where=Where(regions=("us-central*",))),
        [],
        [],
    ),
    "a pattern that is wider": (
        Policy(regions=("us-central*",)),
        spec(where=Where(regions=("us-*",))),
        ["policy-region"],
        [],
    ),
    "a way to buy that is not allowed": (
        Policy(buy=("spot",)),
        spec(where=Where(buy=("spot", "on-demand"))),
        ["policy-buy"],
        [],
    ),
    "a reservation that is allowed": (
        Policy(buy=("reservation",)),
        spec(where=Where(buy=("reservation/my-block",))),
        [],
        [],
    ),
    "no budget where one is wanted": (
        Policy(max_budget_usd=100.0),
        spec(),
        ["policy-budget"],
        [],
    ),
    "a budget that is too high": (
        Policy(max_budget_usd=100.0),
        spec(limits=Limits(budget_usd=101.0)),
        ["policy-budget"],
        [],
    ),
    "a budget that will do": (
        Policy(max_budget_usd=100.0),
        spec(limits=Limits(budget_usd=100.0)),
        [],
        [],
    ),
    "no ttl where one is wanted": (Policy(max_ttl_s=3600.0), spec(), ["policy-ttl"], []),
    "too many nodes": (
        Policy(max_nodes=4),
        spec(resources=Resources(nodes_min=2, nodes_max=8)),
        ["policy-nodes"],
        [],
    ),
    "an external address": (
        Policy(external_addresses=False),
        spec(engine={"compute": {"external_address": True}}),
        ["policy-external-address"],
        [],
    ),
    "an external address of another engine": (
        Policy(external_addresses=False),
        spec(engine={"tpu": {"external_address": True}}),
        [],
        [],
    ),
    "the default account": (
        Policy(service_accounts=("*@p.iam.gserviceaccount.com",)),
        spec(),
        ["policy-service-account"],
        [],
    ),
    "an account that is allowed": (
        Policy(service_accounts=("*@p.iam.gserviceaccount.com",)),
        spec(engine={"compute": {"service_account": "runs@p.iam.gserviceaccount.com"}}),
        [],
        [],
    ),
    "another key": (
        Policy(kms_key=KEY),
        spec(engine={"compute": {"kms_key": "projects/x"}}),
        ["policy-kms-key"],
        [],
    ),
    "no key, which is filled in": (Policy(kms_key=KEY), spec(), [], []),
}


@pytest.mark.parametrize(("policy", "one", "rented", "here"), CASES.values(), ids=CASES)
def test_a_policy_forbids_what_it_says(policy, one, rented, here):
    assert [breach.code for breach in breaches(one, policy, RENTS)] == rented
    assert [breach.code for breach in breaches(one, policy, HERE)] == here


@pytest.mark.parametrize(("policy", "one"), [case[:2] for case in CASES.values()], ids=CASES)
def test_every_breach_says_what_to_do(policy, one):
    assert all(breach.remedy and breach.key for breach in breaches(one, policy, RENTS))


def test_what_a_spec_leaves_open_is_taken_from_the_policy():
    policy = Policy(regions=("us-*",), buy=("spot", "reservation"), kms_key=KEY)
    found = filled(spec(), policy, RENTS)
    assert found.where.regions == ("us-*",)
    assert found.where.buy == ("spot",)
    assert found.engine == {"compute": {"kms_key": KEY}}
    assert breaches(found, policy, RENTS) == []


def test_what_a_spec_says_is_not_changed():
    policy = Policy(regions=("us-*",), buy=("spot",), kms_key=KEY)
    where = Where(regions=("asia-east1",), buy=("on-demand",))
    one = spec(where=where, engine={"compute": {"kms_key": "other"}})
    assert filled(one, policy, RENTS) == one


def test_a_run_on_this_machine_is_filled_with_nothing_of_engines_that_rent():
    assert filled(spec(), Policy(kms_key=KEY), HERE).engine == {}
