"""The examples do what they promise: a resumed run computes the numbers of an undisturbed one."""

from __future__ import annotations

import importlib
import math
import os
import re
import shutil
import socket
import subprocess
import sys

import pytest

import tree
from windlass.runtime import Checkpointer

EXAMPLES = tree.ROOT / "examples"


@pytest.fixture
def pretrain(monkeypatch):
    pytest.importorskip("jax", reason="JAX is not installed")
    monkeypatch.syspath_prepend(str(EXAMPLES / "pretrain"))
    yield importlib.import_module("train")
    for name in ("train", "model", "text"):
        sys.modules.pop(name)


def tiny(pretrain, steps):
    vocabulary = len(pretrain.text.WORDS)
    size = pretrain.model.Size(vocabulary, length=16, width=16, layers=1, heads=2)
    return pretrain.Plan(steps=steps, rows=4, size=size)


def forget_after(folder, last):
    """As if the run had been cut off there."""
    for step in Checkpointer(folder).steps():
        if step > last:
            shutil.rmtree(folder / str(step))


def test_a_resumed_pretraining_has_the_losses_of_an_undisturbed_one(pretrain, tmp_path):
    plan = tiny(pretrain, 8)
    whole = pretrain.train(plan, Checkpointer(tmp_path, every_s=0, keep=10))
    forget_after(tmp_path, 5)
    rest = pretrain.train(plan, Checkpointer(tmp_path))
    assert rest == whole[5:] and len(whole) == 8
    assert abs(whole[0] - math.log(plan.size.vocabulary)) < 0.7


def test_the_text_is_the_same_everywhere_and_its_sums_are_right(pretrain):
    text = pretrain.text
    assert text.batch(3, 2, 40).tolist() == text.batch(2, 3, 40)[1:].tolist()
    said = text.words(text.tokens(11, 400))
    sums = re.findall(r"has (\d+) \w+ \w+ and \w+ (\d+) more so \w+ has (\d+)", said)
    assert len(sums) > 20
    assert all(int(first) + int(second) == int(total) for first, second, total in sums)


def ranks(folder, steps, **environment):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    told = {
        "PATH": os.defpath,
        "PYTHONPATH": ":".join(sys.path),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
        "WORLD_SIZE": "2",
        "OMP_NUM_THREADS": "1",
        "WINDLASS_CHECKPOINT_TO": str(folder),
        **environment,
    }
    processes = [
        subprocess.Popen(
            [sys.executable, "train.py", "--steps", str(steps)],
            cwd=EXAMPLES / "torch-ddp",
            env={**told, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in (0, 1)
    ]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    return outputs[0]


def test_two_ranks_of_torch_go_on_with_the_same_losses(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed (the extra `torch` has it)")
    every = {"WINDLASS_CHECKPOINT_EVERY_S": "0", "WINDLASS_CHECKPOINT_KEEP": "1000"}
    whole = ranks(tmp_path, 40, **every)
    forget_after(tmp_path, 25)
    rest = ranks(tmp_path, 40)
    assert "going on after step 25" in rest
    assert rest.splitlines()[-1] == whole.splitlines()[-1]
