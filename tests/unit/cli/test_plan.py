"""`windlass plan`, as a person and as a program sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import make_attempt, make_claim
from windlass.assemble import open_home
from windlass.state.phases import AttemptPhase, Outcome

SPEC = """\
name: llm
run: python train.py
resources: {accelerators: [H100:8, A100-80:8], nodes: 1..4}
where: {regions: [us-*, europe-west4], buy: [flex-start, spot, on-demand]}
work: {params: 7e9, tokens: 2e10}
limits: {deadline: 72h}
checkpoint: {to: gs://bucket/ckpt}
data: {train: gs://bucket/shards}
"""
METRIC = "PREEMPTIBLE_NVIDIA_H100_GPUS"


@pytest.fixture
def spec(tmp_path: Path) -> str:
    return write(tmp_path, "train.yaml", SPEC)


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_the_table_shows_the_best_why_others_were_refused_and_the_front(windlass, spec):
    result = windlass("plan", spec, "--top", "3")
    assert result.status == 0
    head, what, _, header, *rows = result.out.splitlines()
    assert head.startswith("llm  ")
    assert "P90" in what
    assert header.split()[:5] == ["ZONE", "MACHINE", "BUY", "NODES", "$/H"]
    assert "cheapest" in rows[0]
    assert "Refused" in result.out
    assert "is not in the regions asked for" in result.out
    assert "Dollars against time" in result.out
    assert "Tried in this order" in result.out
    assert "unpriced: reading gs://bucket/shards" in result.out


def test_json_has_the_same_in_stable_keys(windlass, spec):
    document = windlass("plan", spec, "--json", "--top", "2").document
    assert set(document) == {
        "name",
        "catalog",
        "goal",
        "basis",
        "is_upper_bound",
        "candidates_total",
        "refusals_total",
        "candidates",
        "front",
        "history",
        "failover",
        "refusals",
    }
    best, second = document["candidates"]
    assert best["usd"]["expected"] <= second["usd"]["expected"]
    assert best["usd"]["p50"] <= best["usd"]["p90"]
    assert best["seconds"]["p90"] <= 72 * 3600
    assert best["usd"]["is_lower_bound"] is True
    assert document["front"][0]["offer"] == best["offer"]
    assert document["failover"][0] == {"offer": best["offer"], "nodes": best["nodes"]}
    assert {row["code"] for row in document["refusals"]} >= {"region"}


def test_every_term_of_one_offer_is_explained(windlass, spec):
    best = windlass("plan", spec, "--json").document["candidates"][0]
    text = windlass("plan", spec, "--explain", best["offer"]).out
    for term in ("machines", "boot disks", "checkpoints kept", "useful work", "waits", "P90"):
        assert term in text
    document = windlass("plan", spec, "--explain", best["offer"], "--json").document
    total = sum(term["value"] for term in document["dollars"])
    assert total == pytest.approx(document["usd"]["expected"], rel=1e-4)
    assert sum(term["value"] for term in document["time"]) == pytest.approx(
        document["seconds"]["expected"], rel=1e-4
    )


@pytest.mark.parametrize(
    ("offer", "said"),
    [
        ("us-central1-a/g2-standard-4/spot", "the spec does not ask for"),
        ("us-central1-a/nothing/spot", "there is no offer"),
    ],
)
def test_an_offer_that_is_no_candidate_says_why(windlass, spec, offer, said):
    result = windlass("plan", spec, "--explain", offer)
    assert result.status == 2
    assert said in result.err


def test_a_refused_offer_is_explained_too(windlass, spec):
    offer = "asia-east1-c/a3-highgpu-8g/spot"
    text = windlass("plan", spec, "--explain", offer).out
    assert "refused for region: asia-east1 is not in the regions asked for" in text
    for term in ("machines", "boot disks", "useful work", "expected", "P90"):
        assert term in text
    document = windlass("plan", spec, "--explain", offer, "--json").document
    assert document["refusal"]["code"] == "region"
    total = sum(term["value"] for term in document["dollars"])
    assert total == pytest.approx(document["usd"]["expected"], rel=1e-4)


def test_an_offer_is_explained_even_when_nothing_can_be_done(windlass, tmp_path):
    path = write(tmp_path, "a.yaml", SPEC.replace("deadline: 72h", "deadline: 1h"))
    result = windlass("plan", path, "--explain", "us-central1-a/a3-highgpu-8g/on-demand")
    assert result.status == 0
    assert "the deadline is 1h" in result.out


def test_what_never_ends_has_no_end(windlass, tmp_path):
    endless = SPEC.replace("2e10", "2e14").replace("checkpoint: {to: gs://bucket/ckpt}\n", "")
    path = write(tmp_path, "a.yaml", endless)
    arguments = ("plan", path, "--explain", "us-central1-a/a3-highgpu-8g/spot")
    assert "no end" in windlass(*arguments).out
    document = windlass(*arguments, "--json").document
    assert document["refusal"]["code"] == "never-ends"
    assert document["usd"]["expected"] is None


def test_a_reservation_is_billed_anyway(windlass, tmp_path):
    text = SPEC.replace("[flex-start, spot, on-demand]", "[spot, reservation/block]")
    path = write(tmp_path, "a.yaml", text)
    out = windlass("plan", path).out
    assert "billed anyway" in out
    assert "name its region in `where.regions`" in out
    best = windlass("plan", path, "--json").document["candidates"][0]
    assert best["buy"] == "reservation/block"
    assert best["usd"]["billed_anyway"] > 1000 > best["usd"]["expected"]
    explained = windlass("plan", path, "--explain", best["offer"]).out
    assert "reserved, billed anyway" in explained


def test_assumptions_are_shown_with_their_sources(windlass):
    text = windlass("plan", "--assumptions").out
    assert "hazard/spot/H100" in text
    assert "skynomad" in text
    document = windlass("plan", "--assumptions", "--json").document
    assert all(row["source"] for row in document)
    assert any(row["is_assumption"] for row in document)


STEPS = """\
name: llm
run: python train.py
resources: {accelerators: H100:8}
where: {regions: us-central1, buy: spot}
work: {steps: 20000, reference: {accelerators: A100-80:8, step_seconds: 1.9}}
checkpoint: {to: gs://bucket/ckpt}
"""
OFFER = "us-central1-a/a3-highgpu-8g/spot"


def remember(seeded, run_id, *, losses=0, hours=1.0, nodes=2, offer=OFFER, **fields):
    """A run of one attempt that lasted that long, and as many that were lost at once."""
    claim = {"buy": "spot", "accelerators": "H100:8", "nodes": nodes, "offer": offer}
    numbers = range(1, losses + 2)
    attempts = tuple(
        make_attempt(
            run_id,
            number,
            phase=AttemptPhase.ENDED,
            winner=f"{run_id}-{number}-0",
            started_at=0.0,
            ended_at=0.0 if number <= losses else hours * 3600.0,
            outcome=Outcome.PREEMPTED if number <= losses else Outcome.SUCCEEDED,
            **(fields if number > losses else {}),
        )
        for number in numbers
    )
    claims = tuple(make_claim(run_id, number, **claim) for number in numbers)
    seeded.add(run_id, name="llm", attempts=attempts, claims=claims)


def test_a_plan_learns_the_hazard_from_what_was_rented(windlass, seeded, spec):
    def spot(plan):
        return next(one for one in plan["candidates"] if one["offer"] == OFFER)

    before = windlass("plan", spec, "--json", "--top", "300").document
    assert before["history"] == []
    remember(seeded, "a", losses=3, hours=10.0)
    remember(seeded, "b", losses=1, hours=5.0)
    remember(seeded, "free", losses=50, hours=100.0, offer="")
    document = windlass("plan", spec, "--json", "--top", "300").document
    (figure,) = [one for one in document["history"] if one["key"] == "hazard/spot/H100"]
    assert (figure["preemptions"], figure["node_hours"], figure["prior"]) == (4, 30.0, 0.06)
    expected = (2 + 4) / (2 / 0.06 + 30.0)
    assert figure["value"] == pytest.approx(expected, rel=1e-5)
    assert "Learned from your own runs" in windlass("plan", spec, "--top", "300").out

    assert spot(document)["preemptions"] > spot(before)["preemptions"]


def test_a_plan_uses_the_step_that_was_measured(windlass, seeded, tmp_path):
    path = write(tmp_path, "steps.yaml", STEPS)
    best = windlass("plan", path, "--json").document["candidates"][0]
    remember(seeded, "a", nodes=1, step_s=0.75)
    document = windlass("plan", path, "--json").document
    assert document["candidates"][0]["seconds"]["useful"] == 20_000 * 0.75 != best["seconds"]
    (step,) = [one for one in document["history"] if one["key"] == "step"]
    assert (step["value"], step["is_own"]) == (0.75, True)
    assert step["source"] == "your own runs: on 1 x H100:8"


def test_a_step_of_another_program_is_not_used(windlass, seeded, tmp_path):
    path = write(tmp_path, "steps.yaml", STEPS.replace("train.py", "train.py --batch 64"))
    remember(seeded, "a", nodes=1, offer="", step_s=0.75)
    assert windlass("plan", path, "--json").document["history"] == []


def test_assumptions_say_what_history_has_moved(windlass, seeded, tmp_path):
    remember(seeded, "a", losses=3, hours=10.0, step_s=0.75)
    path = write(tmp_path, "steps.yaml", STEPS)
    rows = {row["key"]: row for row in windlass("plan", path, "--assumptions", "--json").document}
    assert rows["hazard/spot/H100"]["is_own"]
    assert rows["step"]["value"] == 0.75
    assert not rows["hazard/spot"]["is_own"]
    assert rows["hazard/spot/H100"]["preemptions"] == 3
    text = windlass("plan", "--assumptions").out
    assert "your own runs: 3 preemptions in 20.0 node-hours; the prior was 0.06" in text
    assert "assumption: as for H100" in text


def test_an_explanation_says_which_figures_are_ones_own(windlass, seeded, tmp_path):
    path = write(tmp_path, "steps.yaml", STEPS)
    text = windlass("plan", path, "--explain", OFFER).out
    assert "work.reference of the spec: on 1 x A100-80:8" in text
    assert "skynomad" in text
    remember(seeded, "a", losses=1, hours=10.0, step_s=0.75)
    text = windlass("plan", path, "--explain", OFFER).out
    assert "your own runs: on 2 x H100:8" in text
    assert "your own runs: 1 preemption in 20.0 node-hours" in text
    figures = windlass("plan", path, "--explain", OFFER, "--json").document["figures"]
    assert [figure["is_own"] for figure in figures] == [True, True, False, False, False]


def test_planning_makes_no_store(windlass, spec):
    assert windlass("plan", spec).status == 0
    assert windlass("plan", "--assumptions").status == 0
    assert not open_home().has_store


def test_a_store_that_cannot_be_read_costs_no_more_than_its_history(windlass, spec):
    (open_home().path / "windlass.db").write_bytes(b"This is no database." * 100)
    result = windlass("plan", spec)
    assert result.status == 0
    assert "planned without your own history" in result.err


def test_specs_are_compared_side_by_side(windlass, spec, tmp_path):
    other = write(tmp_path, "other.yaml", SPEC.replace("[H100:8, A100-80:8]", "[H200:8]"))
    result = windlass("plan", "--compare", spec, other)
    assert result.status == 0
    assert spec in result.out
    assert other in result.out
    documents = windlass("plan", "--compare", spec, other, "--json").document
    assert [document["spec"] for document in documents] == [spec, other]


def test_a_quota_refuses_and_names_what_is_missing(windlass, spec, tmp_path):
    quota = write(tmp_path, "quota.yaml", f"us-central1: {{{METRIC}: 4}}\n")
    fast = write(tmp_path, "fast.yaml", SPEC.replace("[H100:8, A100-80:8]", "[H100:8]"))
    document = windlass("plan", fast, "--quota", quota, "--json").document
    refusal = next(row for row in document["refusals"] if row["code"] == "quota")
    said = f"us-central1 has 4 of {METRIC} free; 16 are needed for 2 nodes"
    assert refusal["example"]["message"] == said


def test_a_commitment_makes_on_demand_cheaper(windlass, tmp_path):
    path = write(tmp_path, "a.yaml", SPEC.replace("[flex-start, spot, on-demand]", "[on-demand]"))
    plain = windlass("plan", path, "--json").document["candidates"][0]
    committed = windlass("plan", path, "--json", "--commit", "3y").document["candidates"][0]
    assert committed["usd_per_hour"] == pytest.approx(plain["usd_per_hour"] * 0.45)


def test_data_whose_place_is_told_is_priced(windlass, spec):
    best = windlass("plan", spec, "--json", "--data", "train=us:10TiB").document["candidates"][0]
    assert best["unpriced"] == []
    assert best["usd"]["is_lower_bound"] is False


def test_an_impossible_ask_names_the_nearest(windlass, tmp_path):
    path = write(tmp_path, "a.yaml", SPEC.replace("deadline: 72h", "deadline: 1h"))
    result = windlass("plan", path)
    assert result.status == 2
    assert "no-feasible-plan" in result.err
    assert "Nearest:" in result.err
    assert "deadline: " in result.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "0 specs are named"),
        (("a.yaml", "b.yaml"), "2 specs are named"),
        (("--compare", "a.yaml"), "needs two specs"),
        (("SPEC", "--quota", "nowhere.yaml"), "--quota nowhere.yaml"),
        (("SPEC", "--quota", "SPEC"), "holds no quota"),
        (("SPEC", "--data", "train"), "a part is missing"),
        (("SPEC", "--data", "train=us:10"), "has no unit"),
    ],
)
def test_options_that_make_no_sense_are_refused(windlass, spec, arguments, said):
    result = windlass("plan", *(spec if word == "SPEC" else word for word in arguments))
    assert result.status == 2
    assert said in result.err


def test_a_spec_without_work_is_labelled_an_upper_bound(windlass, tmp_path):
    text = "name: a\nrun: b\nresources: {accelerators: H100:8}\nlimits: {ttl: 4h}\n"
    path = write(tmp_path, "a.yaml", text)
    assert "upper bound" in windlass("plan", path).out
    assert windlass("plan", path, "--json").document["is_upper_bound"] is True
