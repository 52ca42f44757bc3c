"""The environment contract becomes one value, and its absence too."""

from __future__ import annotations

import pytest

from windlass.runtime.context import Context, context

TOLD = {
    "WINDLASS_RUN": "größe 1",
    "WINDLASS_ATTEMPT": "3",
    "WINDLASS_FOLDER": "/node folder",
    "WINDLASS_NODE": "1",
    "WINDLASS_NODES": "2",
    "WINDLASS_RANK": "5",
    "WINDLASS_RANKS": "8",
    "WINDLASS_LOCAL_RANK": "1",
    "WINDLASS_COORDINATOR": "10.0.0.1:4000",
    "WINDLASS_CHECKPOINT_TO": "file:///ckpt",
    "WINDLASS_CHECKPOINT_EVERY_S": "2.5",
    "WINDLASS_CHECKPOINT_KEEP": "7",
    "WINDLASS_MTBF_S": "60",
    "WINDLASS_DATA_TRAIN": "gs://b/train/",
    "WINDLASS_DATA_HELD_OUT": "gs://b/held/",
    "PATH": "/bin",
}


def test_everything_the_agent_says_is_there():
    assert context(TOLD) == Context(
        run="größe 1",
        attempt=3,
        node=1,
        nodes=2,
        rank=5,
        ranks=8,
        local_rank=1,
        coordinator="10.0.0.1:4000",
        folder="/node folder",
        checkpoint_to="file:///ckpt",
        checkpoint_every_s=2.5,
        checkpoint_keep=7,
        mtbf_s=60.0,
        data={"train": "gs://b/train/", "held_out": "gs://b/held/"},
    )


def test_without_windlass_it_is_rank_0_of_1():
    here = context({})
    assert (here.run, here.rank, here.ranks, here.checkpoint_to) == ("", 0, 1, "")
    assert (here.checkpoint_every_s, here.checkpoint_keep) == (None, 3)


@pytest.mark.parametrize(
    ("told", "place"),
    [
        ({"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1"}, (1, 2, 1)),
        ({"JAX_PROCESS_ID": "3", "JAX_NUM_PROCESSES": "4"}, (3, 4, 0)),
        ({**TOLD, "RANK": "0", "WORLD_SIZE": "1"}, (5, 8, 1)),
    ],
    ids=["torchrun alone", "jax alone", "windlass knows better"],
)
def test_the_rank_comes_from_whoever_started_the_process(told, place):
    here = context(told)
    assert (here.rank, here.ranks, here.local_rank) == place


@pytest.mark.parametrize("every", ["", "auto"])
def test_an_automatic_interval_is_none(every):
    assert context({"WINDLASS_CHECKPOINT_EVERY_S": every}).checkpoint_every_s is None


def test_a_value_that_is_no_number_is_named():
    with pytest.raises(ValueError, match="WINDLASS_RANK must be a whole number, not 'two'"):
        context({"WINDLASS_RANK": "two"})


def test_it_cannot_be_changed():
    here = context(TOLD)
    with pytest.raises(AttributeError):
        here.rank = 0
    with pytest.raises(TypeError):
        here.data["train"] = "elsewhere"
