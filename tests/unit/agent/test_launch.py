"""The environment of a rank under every launch."""

from __future__ import annotations

import json
from typing import Any

import pytest

from windlass.agent import launch
from windlass.agent.orders import Claim, parse_claim

ADDRESSES = ["10.0.0.1:20001", "10.0.0.2:20002"]


def make_claim(**fields: Any) -> Claim:
    said = {"run": "llm-x", "claim": "llm-x-2-0", "attempt": 2, "nodes": 2, "command": "true"}
    return parse_claim(json.dumps({**said, "notice_s": 30, **fields}).encode())


def environment(
    given: dict[str, str] | None = None, *, node: int = 1, local_rank: int = 0, **fields: Any
) -> dict[str, str]:
    place = launch.Place(node, local_rank, ADDRESSES, "/node/folder-2")
    return launch.rank_environment(make_claim(**fields), place, given or {})


COMMON = {
    "WINDLASS_RUN": "llm-x",
    "WINDLASS_ATTEMPT": "2",
    "WINDLASS_CLAIM": "llm-x-2-0",
    "WINDLASS_FOLDER": "/node/folder-2",
    "WINDLASS_NODE": "1",
    "WINDLASS_NODES": "2",
    "WINDLASS_RANK": "5",
    "WINDLASS_RANKS": "8",
    "WINDLASS_LOCAL_RANK": "1",
    "WINDLASS_COORDINATOR": "10.0.0.1:20001",
    "WINDLASS_NOTICE": "/node/folder-2/notice.json",
    "WINDLASS_NOTICE_S": "30",
    "MASTER_ADDR": "10.0.0.1",
    "MASTER_PORT": "20001",
    "RANK": "5",
    "WORLD_SIZE": "8",
    "LOCAL_RANK": "1",
    "LOCAL_WORLD_SIZE": "4",
    "GROUP_RANK": "1",
    "NODE_RANK": "1",
    "PYTHONUNBUFFERED": "1",
}


def test_plain_gives_only_what_is_common() -> None:
    assert environment(local_rank=1, ranks_per_node=4) == COMMON


def test_torchrun_gives_what_torchrun_gives_its_workers() -> None:
    found = environment(local_rank=1, ranks_per_node=4, launch="torchrun")
    assert found == {
        **COMMON,
        "GROUP_WORLD_SIZE": "2",
        "ROLE_NAME": "default",
        "ROLE_RANK": "5",
        "ROLE_WORLD_SIZE": "8",
        "TORCHELASTIC_RUN_ID": "llm-x",
        "TORCHELASTIC_RESTART_COUNT": "1",
        "TORCHELASTIC_MAX_RESTARTS": "0",
        "TORCHELASTIC_USE_AGENT_STORE": "False",
        "TORCHELASTIC_ERROR_FILE": "/node/folder-2/rank-5/error.json",
        "TORCH_NCCL_ASYNC_ERROR_HANDLING": "1",
        "OMP_NUM_THREADS": "1",
    }


SETTINGS: dict[str, tuple[dict[str, Any], dict[str, str], dict[str, str | None]]] = {
    "one rank keeps its threads": ({"launch": "torchrun"}, {}, {"OMP_NUM_THREADS": None}),
    "threads as the user set them": (
        {"launch": "torchrun", "ranks_per_node": 2},
        {"OMP_NUM_THREADS": "7"},
        {"OMP_NUM_THREADS": "7"},
    ),
    "jax": (
        {"launch": "jax"},
        {},
        {
            "JAX_COORDINATOR_ADDRESS": "10.0.0.1:20001",
            "JAX_NUM_PROCESSES": "2",
            "JAX_PROCESS_ID": "1",
            "JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo",
            "JAX_PLATFORMS": None,
        },
    ),
    "jax on emulated devices": (
        {"launch": "jax", "emulate_devices": 8},
        {"XLA_FLAGS": "--xla_dump_to=/d", "JAX_PLATFORMS": "cuda", "PJRT_DEVICE": "TPU"},
        {
            "JAX_PLATFORMS": "cpu",
            "PJRT_DEVICE": "CPU",
            "XLA_FLAGS": "--xla_dump_to=/d --xla_force_host_platform_device_count=8",
        },
    ),
    "tensorflow": (
        {"launch": "tensorflow"},
        {},
        {
            "TF_CONFIG": '{"cluster": {"worker": ["10.0.0.1:20001", "10.0.0.2:20002"]},'
            ' "task": {"type": "worker", "index": 1}}'
        },
    ),
    "checkpoints": (
        {"checkpoint": {"to": "gs://b/c", "every_s": 2.5, "keep": 4}},
        {},
        {
            "WINDLASS_CHECKPOINT_TO": "gs://b/c",
            "WINDLASS_CHECKPOINT_EVERY_S": "2.5",
            "WINDLASS_CHECKPOINT_KEEP": "4",
        },
    ),
    "checkpoints as often as it pays": (
        {"checkpoint": {"to": "/c", "every_s": None, "keep": 3}},
        {},
        {"WINDLASS_CHECKPOINT_TO": "/c", "WINDLASS_CHECKPOINT_EVERY_S": None},
    ),
    "data": (
        {"data": {"train": "gs://b/t", "eval-set": "/e"}},
        {},
        {"WINDLASS_DATA_TRAIN": "gs://b/t", "WINDLASS_DATA_EVAL_SET": "/e"},
    ),
    "buffering as the user set it": ({}, {"PYTHONUNBUFFERED": ""}, {"PYTHONUNBUFFERED": ""}),
    "the contract is not the user's": ({}, {"RANK": "9", "MASTER_ADDR": "x"}, {"RANK": "1"}),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_what_a_rank_is_told(case: str) -> None:
    fields, given, expected = SETTINGS[case]
    found = environment(given, **fields)
    assert {name: found.get(name) for name in expected} == expected


def test_tensorflow_gives_each_rank_of_a_node_a_port() -> None:
    claim = make_claim(launch="tensorflow", ranks_per_node=2)
    found = environment(local_rank=1, launch="tensorflow", ranks_per_node=2)
    said = json.loads(found["TF_CONFIG"])
    assert said["cluster"]["worker"][1::2] == ["10.0.0.1:20002", "10.0.0.2:20003"]
    assert said["task"]["index"] == 3
    assert launch.ports_needed(claim) == 2


def test_runtime_is_found_after_what_the_user_put_on_the_path() -> None:
    assert launch.base_environment({}, "/a.pyz") == {"PYTHONPATH": "/a.pyz"}
    found = launch.base_environment({"PYTHONPATH": "/mine:/too"}, "/a.pyz")
    assert found == {"PYTHONPATH": "/mine:/too:/a.pyz"}


@pytest.mark.parametrize(
    ("address", "expected"), [("h:1", ("h", "1")), ("[::1]:20", ("::1", "20"))], ids=["v4", "v6"]
)
def test_an_address_splits_into_host_and_port(address: str, expected: tuple[str, str]) -> None:
    assert launch.split_address(address) == expected
