"""Real distributed programs under the agent: JAX and PyTorch find each other by what it sets."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gangs import Gang

JAX = """
import os
import jax
import jax.numpy as jnp
from jax.experimental import multihost_utils

jax.distributed.initialize(
    num_processes=int(os.environ["JAX_NUM_PROCESSES"]),
    process_id=int(os.environ["JAX_PROCESS_ID"]),
)
rank = jax.process_index()
gathered = multihost_utils.process_allgather(jnp.array([rank + 1.0]))
mesh = jax.make_mesh((jax.device_count(),), ("all",))
spread = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("all"))
values = jax.make_array_from_process_local_data(
    spread, jnp.full((jax.local_device_count(),), rank + 1.0)
)
total = jax.jit(jnp.sum)(values)
print("devices", jax.local_device_count(), jax.device_count(), "ranks", gathered.ravel().tolist())
print("sum", float(total))
jax.distributed.shutdown()
"""

TORCH = """
import os
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = torch.tensor([float(dist.get_rank())])
dist.all_reduce(rank)
print("rank", dist.get_rank(), "of", dist.get_world_size(), "sum", rank.item())
print("elastic", dist.is_torchelastic_launched(), "local", os.environ["LOCAL_RANK"])
dist.destroy_process_group()
"""


def run(gang: Gang) -> None:
    gang.start_all()
    assert gang.wait(120) == [0] * gang.nodes
    for node in range(gang.nodes):
        said = gang.exit(node)
        assert said is not None
        assert said["outcome"] == "succeeded", "\n".join(gang.log(k, k) for k in range(gang.nodes))


def test_jax_processes_of_two_nodes_sum_over_emulated_devices(tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="jax is not installed: pip install 'windlass[jax]'")
    (tmp_path / "train.py").write_text(JAX)
    command = f"'{sys.executable}' '{tmp_path}/train.py'"
    gang = Gang(tmp_path, nodes=2, launch="jax", emulate_devices=2, command=command)
    run(gang)
    for node in range(2):
        assert "devices 2 4 ranks [1.0, 2.0]" in gang.log(node, node)
        assert "sum 6.0" in gang.log(node, node)


def test_torch_ranks_of_two_nodes_reduce_over_gloo(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install 'windlass[torch]'")
    (tmp_path / "train.py").write_text(TORCH)
    command = f"'{sys.executable}' '{tmp_path}/train.py'"
    gang = Gang(tmp_path, nodes=2, ranks_per_node=2, launch="torchrun", command=command)
    run(gang)
    for rank in range(4):
        said = gang.log(rank, rank // 2)
        assert f"rank {rank} of 4 sum 6.0" in said
        assert f"elastic True local {rank % 2}" in said
