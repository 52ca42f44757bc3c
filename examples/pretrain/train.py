"""Train a small language model on every process of the run, and survive losing any of them.

Must run alone too: `python train.py` trains in one process and writes to ./checkpoints.
"""

from __future__ import annotations

import argparse
import functools
import os
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import model
import numpy as np
import text
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from windlass.runtime import Checkpointer, context, leave, notice, progress


class Plan(NamedTuple):
    steps: int = 200
    rows: int = 16
    """Of the whole batch, over all processes."""
    rate: float = 3e-3
    pace_s: float = 0.0
    """What a step takes at the least, so that fast machines do not end before anything happens."""
    size: model.Size = model.Size(vocabulary=len(text.WORDS))


def join() -> None:
    """Meet the other processes, if there are any. JAX reads only the address by itself."""
    here = context()
    if here.ranks > 1:
        jax.distributed.initialize(os.environ["JAX_COORDINATOR_ADDRESS"], here.ranks, here.rank)


class Trainer:
    """The compiled step and where its arrays live: weights everywhere, the batch spread out."""

    def __init__(self, plan: Plan) -> None:
        mesh = Mesh(np.array(jax.devices()), ("data",))
        self.plan = plan
        self.spread = NamedSharding(mesh, PartitionSpec("data"))
        everywhere = NamedSharding(mesh, PartitionSpec())
        self.init = jax.jit(
            functools.partial(model.init, plan.size), static_argnums=0, out_shardings=everywhere
        )
        self._step = jax.jit(self._both, donate_argnums=0, out_shardings=everywhere)

    def step(self, state: model.State, position: int, is_leaving: bool) -> tuple:
        """The state after one batch, its loss, and whether any process has to leave."""
        words = text.batch(position, self.plan.rows, self.plan.size.length)
        flags = np.full(jax.device_count(), is_leaving)
        state, loss, any_leaving = self._step(state, self._spread(words), self._spread(flags))
        return state, float(loss), bool(any_leaving)

    def _both(self, state: model.State, words: jax.Array, flags: jax.Array) -> tuple:
        state, loss = model.step(state, words, self.plan.size, self.plan.rate)
        return state, loss, jnp.any(flags)

    def _spread(self, whole: np.ndarray) -> jax.Array:
        return jax.make_array_from_callback(whole.shape, self.spread, lambda index: whole[index])


def train(plan: Plan, checkpoints: Checkpointer) -> list[float]:
    """Train up to the plan's last step, from the newest checkpoint on; the losses of the steps."""
    trainer = Trainer(plan)
    state, position, first, losses = trainer.init(0), 0, 0, []
    found = checkpoints.restore(like={"model": state, "position": 0})
    if found is not None:
        first, state, position = found.step, found.state["model"], found.state["position"]
        print(f"going on after step {first}", flush=True)
    began = time.monotonic()
    for step in range(first + 1, plan.steps + 1):
        # Every process has to leave at the same step, so the first that is told tells the others.
        state, loss, is_leaving = trainer.step(state, position, notice() is not None)
        position += plan.rows
        time.sleep(max(0.0, began + plan.pace_s - time.monotonic()))
        now = time.monotonic()
        progress(step, loss=loss, tokens_per_s=plan.rows * plan.size.length / (now - began))
        began = now
        losses.append(loss)
        if context().rank == 0 and (step % 20 == 0 or step == plan.steps):
            print(f"step {step} loss {loss:.3f}", flush=True)
        if is_leaving or step == plan.steps or checkpoints.due(step):
            checkpoints.save(step, {"model": state, "position": position})
        if is_leaving:
            leave()
    return losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=Plan().steps)
    parser.add_argument("--pace", type=float, default=0.0, help="seconds of a step at the least")
    given = parser.parse_args()
    join()
    here = context()
    print(f"rank {here.rank} of {here.ranks}, attempt {here.attempt}", flush=True)
    try:
        train(
            Plan(steps=given.steps, pace_s=given.pace),
            Checkpointer(here.checkpoint_to or "checkpoints"),
        )
    except RuntimeError as error:
        if here.ranks == 1:
            raise
        # A sum over the network fails when another process is gone. Leave at once: JAX would wait
        # for the others in vain, and Windlass starts all of them again.
        print(f"cannot go on: {error}", flush=True)
        os._exit(1)


if __name__ == "__main__":
    main()
