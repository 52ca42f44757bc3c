"""The way to a node: one command for each, of the claim that has won."""

from __future__ import annotations

import shlex

from windlass.governance.holdings import Holding
from windlass.governance.shells import shells

PROJECT = "my-project"


def machine(name: str, claim: str, *, run: str = "llm-1", zone: str = "us-east4-b") -> Holding:
    pairs = {"windlass": "true", "windlass-run": run, "windlass-claim": claim}
    return Holding(kind="instance", name=name, place=zone, collection="instances", pairs=pairs)


def slice_of(name: str, claim: str, workers: int) -> Holding:
    return Holding(
        kind="slice",
        name=name,
        place="us-west4-a",
        collection="nodes",
        pairs={"windlass": "true", "windlass-run": "llm-1", "windlass-claim": claim},
        raw={"networkEndpoints": [{"ipAddress": f"10.0.0.{n}"} for n in range(workers)]},
    )


def lines(*holdings: Holding, winner: str = "") -> list[str]:
    found = shells(holdings, "llm-1", project=PROJECT, winner=winner)
    return [f"{shell.node}: {shlex.join(shell.words)}" for shell in found]


def test_machines_are_reached_by_their_names_through_iap():
    claim = "llm-1-1-0"
    found = lines(machine("w-llm-1-1-0-10", claim), machine("w-llm-1-1-0-2", claim))
    assert found == [
        "2: gcloud compute ssh w-llm-1-1-0-2 --zone=us-east4-b --project=my-project "
        "--tunnel-through-iap",
        "10: gcloud compute ssh w-llm-1-1-0-10 --zone=us-east4-b --project=my-project "
        "--tunnel-through-iap",
    ]


def test_nodes_of_slices_are_counted_on_from_one_slice_to_the_next():
    claim = "llm-1-1-0"
    found = lines(slice_of("w-llm-1-1-0-0", claim, 2), slice_of("w-llm-1-1-0-1", claim, 2))
    assert [line.partition(" --zone")[0] for line in found] == [
        "0: gcloud alpha compute tpus tpu-vm ssh w-llm-1-1-0-0",
        "1: gcloud alpha compute tpus tpu-vm ssh w-llm-1-1-0-0",
        "2: gcloud alpha compute tpus tpu-vm ssh w-llm-1-1-0-1",
        "3: gcloud alpha compute tpus tpu-vm ssh w-llm-1-1-0-1",
    ]
    assert [line.partition("--worker=")[2][0] for line in found] == ["0", "1", "0", "1"]


def test_while_a_race_is_on_the_winner_is_shown_alone():
    first, second = machine("w-a-0", "llm-1-1-0"), machine("w-b-0", "llm-1-1-1")
    assert len(lines(first, second)) == 2
    assert [line.split()[4] for line in lines(first, second, winner="llm-1-1-1")] == ["w-b-0"]


def test_machines_of_other_runs_are_not_shown():
    assert lines(machine("w-c-0", "other-1-0", run="other")) == []
