"""What engines and agents are asked to do, out of a run's row."""

from __future__ import annotations

import json

import pytest

from builders import make_claim, make_run
from windlass.agent.orders import parse_claim
from windlass.controller.renting import Gang
from windlass.controller.request import claim_order, claim_request, facts_of
from windlass.controller.view import Wishes
from windlass.spec.accelerators import accelerators
from windlass.spec.canonical import to_json
from windlass.spec.model import Checkpoint, Launch, Limits, Resources, Spec, Where

FOLDER = "file:///home/runs/r"


def facts(options=None, **fields):
    spec = Spec(**{"name": "Träning", "run": "python train.py", **fields})
    chosen = {"emulate": False, "environment": {"PATH": "/bin"}, "source": "abc", **(options or {})}
    return facts_of(make_run(spec=to_json(spec), options=json.dumps(chosen)))


def order(**fields):
    return claim_order(facts(**fields), make_claim(), folder=FOLDER, notice_s=30.0)


def resources(*names, nodes=1, **fields):
    wanted = tuple(accelerators(name) for name in names)
    return Resources(accelerators=wanted, nodes_min=nodes, nodes_max=nodes, **fields)


def test_an_engine_is_asked_for_all_that_the_spec_wants():
    request = claim_request(
        facts(
            resources=resources("H100:8", "A100-80:8", nodes=2, cpus=4.0, memory_bytes=1024),
            engine={"local": {"x": 1}, "slurm": {"partition": "p"}},
            secrets={"TOKEN": "MY_TOKEN"},
        ),
        make_claim(),
        folder=FOLDER,
    )
    assert (request.id, request.run, request.attempt) == ("r-1-0", "r", 1)
    assert (request.nodes, request.accelerators_per_node) == (2, 8)
    assert [str(one) for one in request.accelerators] == ["H100:8"], "the one that was chosen"
    assert (request.cpus_per_node, request.memory_bytes_per_node) == (4.0, 1024)
    assert request.options == {"x": 1}, "only what this engine knows"
    assert (request.folder, request.environment) == (FOLDER, {"PATH": "/bin"})
    assert request.secrets == {"TOKEN": "MY_TOKEN"}
    assert not request.is_emulated


def test_agents_read_the_order_that_is_written_for_them():
    said = order(
        launch=Launch.JAX,
        setup="make",
        env={"A": "b"},
        data={"train": "gs://x"},
        secrets={"S": "T"},
    )
    claim = parse_claim(json.dumps(said).encode())
    assert (claim.run, claim.claim, claim.attempt) == ("r", "r-1-0", 1)
    assert (claim.command, claim.setup, claim.source) == ("python train.py", "make", "abc")
    assert (claim.launch, claim.env, claim.data) == ("jax", {"A": "b"}, {"train": "gs://x"})
    assert claim.notice_s == 30.0
    assert said["secrets"] == ["S"], "names, never values"


DEVICES = {
    "CPUs": ({}, 1, 1, None),
    "GPUs under torchrun": (
        {"launch": Launch.TORCHRUN, "resources": resources("H100:8", nodes=2)},
        2,
        8,
        None,
    ),
    "a TPU slice": ({"launch": Launch.JAX, "resources": resources("v5e-16")}, 4, 1, None),
    "an emulated slice": (
        {
            "launch": Launch.JAX,
            "resources": resources("v5e-16"),
            "options": {"emulate": True},
        },
        4,
        1,
        4,
    ),
    "emulated GPUs": (
        {
            "launch": Launch.TORCHRUN,
            "resources": resources("H100:8"),
            "options": {"emulate": True},
        },
        1,
        8,
        8,
    ),
}


@pytest.mark.parametrize(("fields", "nodes", "ranks", "emulated"), DEVICES.values(), ids=DEVICES)
def test_nodes_ranks_and_devices(fields, nodes, ranks, emulated):
    said = order(**fields)
    assert (said["nodes"], said["ranks_per_node"], said["emulate_devices"]) == (
        nodes,
        ranks,
        emulated,
    )
    assert (said["accelerator"] is None) == (emulated is not None or not fields)


CHECKPOINTS = {
    "none named": (None, {"to": f"{FOLDER}/checkpoints", "every_s": None, "keep": 3}),
    "only how many": (
        Checkpoint(keep=5),
        {"to": f"{FOLDER}/checkpoints", "every_s": None, "keep": 5},
    ),
    "elsewhere": (
        Checkpoint(to="gs://b/c", every_s=60.0),
        {"to": "gs://b/c", "every_s": 60.0, "keep": 3},
    ),
}


@pytest.mark.parametrize(("checkpoint", "said"), CHECKPOINTS.values(), ids=CHECKPOINTS)
def test_every_run_may_save(checkpoint, said):
    assert order(checkpoint=checkpoint)["checkpoint"] == said


RENTED = {"offer": "z/a3-highgpu-8g/spot", "buy": "spot", "accelerators": "H100:8", "nodes": 3}
GANGS = {
    "nothing": ({}, {}, Gang()),
    "real GPUs": (
        {"resources": resources("A100-80:8", "H100:4", nodes=2)},
        {"wanted": 1},
        Gang(accelerators="H100:4", nodes=2),
    ),
    "emulated GPUs": (
        {"resources": resources("H100:4", nodes=2)},
        {"emulate": True},
        Gang(nodes=2),
    ),
    "slices": (
        {"resources": resources("v5e-16", nodes=2)},
        {},
        Gang(accelerators="v5e-16", nodes=2),
    ),
    "what was rented": ({"resources": resources("H100:8")}, {"rented": RENTED}, Gang(**RENTED)),
}


@pytest.mark.parametrize(("fields", "options", "gang"), GANGS.values(), ids=GANGS)
def test_what_a_claim_is_for_is_known_from_its_run(fields, options, gang):
    assert facts(options, **fields).gang == gang


RENTED = {
    "machines": (
        {"offer": "z/a3-highgpu-8g/spot", "accelerators": "A100-80:8", "nodes": 3},
        (3, ["A100-80:8"], 8),
    ),
    "slices": (
        {"offer": "z/v5e-16/spot", "accelerators": "v5e-16", "nodes": 2},
        (8, ["v5e-16"], 4),
    ),
    "no accelerators": ({"offer": "z/n2-standard-8/spot", "nodes": 2}, (2, [], 0)),
}


@pytest.mark.parametrize(("rented", "expected"), RENTED.values(), ids=RENTED)
def test_what_is_rented_decides_how_many_nodes_there_are_and_what_they_have(rented, expected):
    known = facts(resources=resources("H100:8", nodes=7))
    claim = make_claim(**rented)
    request = claim_request(known, claim, folder=FOLDER)
    names = [str(one) for one in request.accelerators]
    assert (request.nodes, names, request.accelerators_per_node) == expected
    assert claim_order(known, claim, folder=FOLDER, notice_s=30.0)["nodes"] == expected[0]


def test_what_is_rented_carries_labels_and_an_end():
    known = facts(labels={"team": "nlp", "env": "dev"})
    claim = make_claim(offer="z/m/spot", buy="spot", created_at=5.0, expires_at=65.0)
    request = claim_request(known, claim, folder=FOLDER)
    assert (request.offer, request.buy) == ("z/m/spot", "spot")
    assert (request.made_at, request.expires_at) == (5.0, 65.0)
    assert request.labels == {"team": "nlp", "env": "dev", "run": "r", "owner": "ada"}


def test_wishes_come_from_the_spec():
    known = facts(
        labels={"team": "nlp", "env": "dev"},
        where=Where(race=3),
        limits=Limits(budget_usd=900.0, deadline_s=60.0),
    )
    assert known.wishes == Wishes(race=3, budget_usd=900.0, deadline_s=60.0, team="nlp", env="dev")


def test_offers_are_known_once_in_the_order_of_the_plan():
    first, second = Gang(offer="a", buy="spot"), Gang(offer="b", buy="spot", usd_per_h=2.5)
    offers = [list(first), list(second)]
    known = facts(options={"rented": first._asdict(), "offers": offers})
    assert known.gangs == (first, second)
