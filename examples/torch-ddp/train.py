"""Train a small model with torch's DistributedDataParallel, and survive losing any process.

Must run alone too: `python train.py` trains in one process and writes to ./checkpoints.
"""

from __future__ import annotations

import argparse
import gc
import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from windlass.runtime import Checkpointer, context, leave, notice, progress

ROWS = 256
"""Of the whole batch, over all processes."""
WIDTH = 64


def join() -> None:
    """Meet the other processes, from the variables that torchrun sets (and so does Windlass)."""
    for name, alone in (("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_ADDR", "127.0.0.1")):
        os.environ.setdefault(name, alone)
    os.environ.setdefault("MASTER_PORT", "0")
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")


def part() -> None:
    """Let go of the other processes together: while one still saves, the rest must not be gone.

    Models that hold on to the group are collected first, or its threads would outlive Python.
    """
    dist.barrier()
    gc.collect()
    dist.destroy_process_group()


def batch(step: int) -> tuple[torch.Tensor, torch.Tensor]:
    """This process's share of a batch: points, and how many of their coordinates are positive."""
    chance = torch.Generator().manual_seed(step)
    points = torch.randn(ROWS, 8, generator=chance)
    wanted = (points > 0).sum(dim=1)
    share = slice(dist.get_rank(), None, dist.get_world_size())
    return points[share], wanted[share]


def is_any_leaving(device: torch.device) -> bool:
    """Every process has to leave at the same step: the first that is told tells the others."""
    flag = torch.tensor(float(notice() is not None), device=device)
    dist.all_reduce(flag, op=dist.ReduceOp.MAX)
    return bool(flag)


def built(device: torch.device) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    """The network and its optimizer, the same in every process."""
    torch.manual_seed(0)
    layers = [torch.nn.Linear(8, WIDTH), torch.nn.GELU(), torch.nn.Linear(WIDTH, WIDTH)]
    net = torch.nn.Sequential(*layers, torch.nn.GELU(), torch.nn.Linear(WIDTH, 9)).to(device)
    return net, torch.optim.AdamW(net.parameters(), lr=3e-3)


def train(steps: int, checkpoints: Checkpointer, device: torch.device) -> int:
    """Train up to the last step, from the newest checkpoint on; the step that was reached."""
    net, optimizer = built(device)
    found, step = checkpoints.restore(), 0
    if found is not None:
        step = found.step
        net.load_state_dict(found.state["model"])
        optimizer.load_state_dict(found.state["optimizer"])
        print(f"going on after step {step}", flush=True)
    model, is_leaving = DistributedDataParallel(net), False
    while step < steps and not is_leaving:
        began = time.monotonic()
        step += 1
        points, wanted = (share.to(device) for share in batch(step))
        loss = torch.nn.functional.cross_entropy(model(points), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        progress(step, loss=loss, rows_per_s=ROWS / (time.monotonic() - began))
        if step % 50 == 0 or step == steps:
            print(f"step {step} loss {loss.item():.6f}", flush=True)
        is_leaving = is_any_leaving(device)
        if is_leaving or step == steps or checkpoints.due(step):
            state = {"model": net.state_dict(), "optimizer": optimizer.state_dict()}
            checkpoints.save(step, state)
    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=500)
    steps = parser.parse_args().steps
    join()
    here = context()
    print(f"rank {here.rank} of {here.ranks}, attempt {here.attempt}", flush=True)
    has_gpu = torch.cuda.is_available()
    device = torch.device("cuda", here.local_rank) if has_gpu else torch.device("cpu")
    reached = train(steps, Checkpointer(here.checkpoint_to or "checkpoints"), device)
    part()
    if reached < steps:
        leave()


if __name__ == "__main__":
    main()
