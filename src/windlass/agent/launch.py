"""The environment of a rank: Windlass's own contract, and what each framework reads.

Must not read anything: equal arguments give equal environments.
"""

from __future__ import annotations

import json
from typing import Callable, Dict, List, NamedTuple, Tuple

from windlass.agent.orders import Claim

Environment = Dict[str, str]


class Place(NamedTuple):
    """Where a rank stands in its gang."""

    node: int
    local_rank: int
    addresses: List[str]
    """`host:port` of every node, by node."""
    folder: str
    """The node-local folder that the agent mirrors."""


def first_rank(claim: Claim, node: int) -> int:
    """The lowest rank of a node. Ranks count through the nodes in order."""
    return node * claim.ranks_per_node


def ports_needed(claim: Claim) -> int:
    """How many ports a node has to reserve: TensorFlow wants one for each rank."""
    return claim.ranks_per_node if claim.launch == "tensorflow" else 1


def rank_environment(claim: Claim, place: Place, given: Environment) -> Environment:
    """Everything a rank is told: what was given (machine, spec, secrets), then the contract."""
    env = {**given, **_contract(claim, place), **_rendezvous(claim, place)}
    env.setdefault("PYTHONUNBUFFERED", "1")
    _LAUNCHES[claim.launch](claim, place, env)
    return env


def base_environment(given: Environment, package_root: str) -> Environment:
    """What `setup` and every rank share. `windlass.runtime` can be imported, wherever it is."""
    path = [entry for entry in given.get("PYTHONPATH", "").split(":") if entry]
    return {**given, "PYTHONPATH": ":".join([*path, package_root])}


def is_known(kind: str) -> bool:
    """Whether there is such a launch."""
    return kind in _LAUNCHES


def _contract(claim: Claim, place: Place) -> Environment:
    rank = first_rank(claim, place.node) + place.local_rank
    env = {
        "WINDLASS_RUN": claim.run,
        "WINDLASS_ATTEMPT": str(claim.attempt),
        "WINDLASS_CLAIM": claim.claim,
        "WINDLASS_FOLDER": place.folder,
        "WINDLASS_NODE": str(place.node),
        "WINDLASS_NODES": str(claim.nodes),
        "WINDLASS_RANK": str(rank),
        "WINDLASS_RANKS": str(claim.nodes * claim.ranks_per_node),
        "WINDLASS_LOCAL_RANK": str(place.local_rank),
        "WINDLASS_COORDINATOR": place.addresses[0],
        "WINDLASS_NOTICE": notice_path(place.folder),
        "WINDLASS_NOTICE_S": _number(claim.notice_s),
    }
    if claim.checkpoint is not None:
        env["WINDLASS_CHECKPOINT_TO"] = claim.checkpoint.to
        env["WINDLASS_CHECKPOINT_KEEP"] = str(claim.checkpoint.keep)
        if claim.checkpoint.every_s is not None:
            env["WINDLASS_CHECKPOINT_EVERY_S"] = _number(claim.checkpoint.every_s)
    for name, url in claim.data.items():
        env[f"WINDLASS_DATA_{_variable(name)}"] = url
    return env


def notice_path(folder: str) -> str:
    """The file that says when the node will be taken away."""
    return f"{folder}/notice.json"


def _rendezvous(claim: Claim, place: Place) -> Environment:
    """What most frameworks read to find each other, whoever started them."""
    host, port = split_address(place.addresses[0])
    return {
        "MASTER_ADDR": host,
        "MASTER_PORT": port,
        "RANK": str(first_rank(claim, place.node) + place.local_rank),
        "WORLD_SIZE": str(claim.nodes * claim.ranks_per_node),
        "LOCAL_RANK": str(place.local_rank),
        "LOCAL_WORLD_SIZE": str(claim.ranks_per_node),
        "GROUP_RANK": str(place.node),
        "NODE_RANK": str(place.node),
    }


def _plain(claim: Claim, place: Place, env: Environment) -> None:
    _emulate(claim, env)


def _torchrun(claim: Claim, place: Place, env: Environment) -> None:
    """What torchrun gives its workers. The store is rank 0's own: no agent holds one."""
    rank = env["RANK"]
    env.update(
        GROUP_WORLD_SIZE=str(claim.nodes),
        ROLE_NAME="default",
        ROLE_RANK=rank,
        ROLE_WORLD_SIZE=env["WORLD_SIZE"],
        TORCHELASTIC_RUN_ID=claim.run,
        TORCHELASTIC_RESTART_COUNT=str(claim.attempt - 1),
        TORCHELASTIC_MAX_RESTARTS="0",
        TORCHELASTIC_USE_AGENT_STORE="False",
        TORCHELASTIC_ERROR_FILE=f"{place.folder}/rank-{rank}/error.json",
    )
    env.setdefault("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1")
    if claim.ranks_per_node > 1:
        env.setdefault("OMP_NUM_THREADS", "1")


def _jax(claim: Claim, place: Place, env: Environment) -> None:
    env.update(
        JAX_COORDINATOR_ADDRESS=place.addresses[0],
        JAX_NUM_PROCESSES=env["WORLD_SIZE"],
        JAX_PROCESS_ID=env["RANK"],
    )
    env.setdefault("JAX_CPU_COLLECTIVES_IMPLEMENTATION", "gloo")
    _emulate(claim, env)


def _tensorflow(claim: Claim, place: Place, env: Environment) -> None:
    workers = []
    for address in place.addresses:
        host, port = address.rsplit(":", 1)
        workers += [f"{host}:{int(port) + k}" for k in range(claim.ranks_per_node)]
    whole = {
        "cluster": {"worker": workers},
        "task": {"type": "worker", "index": int(env["RANK"])},
    }
    env["TF_CONFIG"] = json.dumps(whole)


def _emulate(claim: Claim, env: Environment) -> None:
    if claim.emulate_devices is None:
        return
    count = f"--xla_force_host_platform_device_count={claim.emulate_devices}"
    env["JAX_PLATFORMS"] = "cpu"
    if "PJRT_DEVICE" in env:
        env["PJRT_DEVICE"] = "CPU"
    env["XLA_FLAGS"] = f"{env.get('XLA_FLAGS', '')} {count}".strip()


_LAUNCHES: Dict[str, Callable[[Claim, Place, Environment], None]] = {
    "plain": _plain,
    "torchrun": _torchrun,
    "jax": _jax,
    "tensorflow": _tensorflow,
}


def split_address(address: str) -> Tuple[str, str]:
    """Host and port; the brackets of an IPv6 address are not part of its host."""
    host, port = address.rsplit(":", 1)
    return host.strip("[]"), port


def _variable(name: str) -> str:
    return "".join(char if char.isalnum() else "_" for char in name).upper()


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)
