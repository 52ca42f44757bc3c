"""Which run, attempt and rank this process is: the environment contract as one immutable value.

Must not touch files, nor fail where there is no Windlass around: then it is rank 0 of 1.
"""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import Mapping, NamedTuple, Optional

_DATA = "WINDLASS_DATA_"


class Context(NamedTuple):
    """What the agent told this process about its place in the run."""

    run: str = ""
    """Empty when the program was not started by Windlass."""
    attempt: int = 0
    """Counts the starts of the run from 1; 0 outside of Windlass."""
    node: int = 0
    nodes: int = 1
    rank: int = 0
    ranks: int = 1
    local_rank: int = 0
    coordinator: str = ""
    """`host:port` of node 0."""
    folder: str = ""
    """A folder on this node that the agent mirrors into the run folder."""
    checkpoint_to: str = ""
    """A folder's path or `file://` URL; empty when nobody said where."""
    checkpoint_every_s: Optional[float] = None
    """None: as often as pays off, see `Checkpointer.due`."""
    checkpoint_keep: int = 3
    mtbf_s: float = 4 * 3600.0
    """How long the gang runs between two interruptions, on average."""
    data: Mapping[str, str] = MappingProxyType({})
    """The spec's `data:` by name, in lower case, dashes as underscores."""


def context(environment: Optional[Mapping[str, str]] = None) -> Context:
    """The place of this process in the run; `environment` is this process's own by default.

    Started by torchrun or with JAX's variables alone, rank and ranks are taken from those, so that
    only one process takes itself for rank 0.

    Raises:
        ValueError: a variable of the contract does not hold a number.
    """
    env = os.environ if environment is None else environment
    every = _first(env, "WINDLASS_CHECKPOINT_EVERY_S")
    return Context(
        run=env.get("WINDLASS_RUN", ""),
        attempt=_int(env, 0, "WINDLASS_ATTEMPT"),
        node=_int(env, 0, "WINDLASS_NODE"),
        nodes=_int(env, 1, "WINDLASS_NODES"),
        rank=_int(env, 0, "WINDLASS_RANK", "RANK", "JAX_PROCESS_ID"),
        ranks=_int(env, 1, "WINDLASS_RANKS", "WORLD_SIZE", "JAX_NUM_PROCESSES"),
        local_rank=_int(env, 0, "WINDLASS_LOCAL_RANK", "LOCAL_RANK"),
        coordinator=env.get("WINDLASS_COORDINATOR", ""),
        folder=env.get("WINDLASS_FOLDER", ""),
        checkpoint_to=env.get("WINDLASS_CHECKPOINT_TO", ""),
        checkpoint_every_s=None if every in ("", "auto") else float(every),
        checkpoint_keep=_int(env, 3, "WINDLASS_CHECKPOINT_KEEP"),
        mtbf_s=float(_first(env, "WINDLASS_MTBF_S") or Context().mtbf_s),
        data=MappingProxyType(
            {
                name[len(_DATA) :].lower(): env[name]
                for name in sorted(env)
                if name.startswith(_DATA)
            }
        ),
    )


def _first(env: Mapping[str, str], *names: str) -> str:
    return next((env[name] for name in names if env.get(name)), "")


def _int(env: Mapping[str, str], default: int, *names: str) -> int:
    text = _first(env, *names)
    try:
        return int(text) if text else default
    except ValueError as exc:
        raise ValueError(f"{names[0]} must be a whole number, not {text!r}") from exc
