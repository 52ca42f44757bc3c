"""The framework is seen from the command and its entry point, without running anything."""

from __future__ import annotations

import pytest

from windlass.spec.framework import READ_MAX, entry_point, launch_for, launch_of
from windlass.spec.model import Launch

PROGRAMS = {
    "import jax\n": Launch.JAX,
    "import jax.numpy as jnp\n": Launch.JAX,
    "from jax import numpy\n": Launch.JAX,
    "def f():\n    import jax\n": Launch.JAX,
    "import torch.distributed as dist\n": Launch.TORCHRUN,
    "import torch\ntorch.distributed.init_process_group()\n": Launch.TORCHRUN,
    "from torch import nn, distributed\n": Launch.TORCHRUN,
    "import torch\n": Launch.PLAIN,
    "s = tf.distribute.MultiWorkerMirroredStrategy()\n": Launch.TENSORFLOW,
    "import tensorflow as tf\n": Launch.PLAIN,
    "import torch.distributed\nimport jax\njax.distributed.initialize()\n": Launch.JAX,
    "import torch.distributed\nimport jax\n": Launch.TORCHRUN,
    "# import jax; jax.distributed, torch.distributed\n": Launch.PLAIN,
    "import jaxtyping\n": Launch.PLAIN,
    "": Launch.PLAIN,
}


@pytest.mark.parametrize(("program", "launch"), PROGRAMS.items())
def test_the_program_tells_who_starts_its_ranks(program, launch):
    assert launch_of(program) is launch


@pytest.fixture
def workdir(tmp_path):
    inside = tmp_path / "work dir"
    (inside / "pkg" / "sub").mkdir(parents=True)
    for name in ("train.py", "pkg/mod.py", "pkg/sub/__main__.py", "my train.py", "größe.py"):
        (inside / name).write_text("import jax\n")
    (tmp_path / "outside.py").write_text("import jax\n")
    (inside / "link.py").symlink_to(tmp_path / "outside.py")
    return inside


@pytest.mark.parametrize(
    ("run", "entry"),
    [
        ("python train.py --x", "train.py"),
        ("cd . && python3 -u ./train.py", "train.py"),
        ("A=b exec python train.py; true", "train.py"),
        ("python -m pkg.mod", "pkg/mod.py"),
        ("python -m pkg.sub --x", "pkg/sub/__main__.py"),
        ("python 'my train.py'", "my train.py"),
        ('python "größe.py"', "größe.py"),
        ("python missing.py", None),
        ("python ../outside.py", None),
        ("python link.py", None),
        ("echo 'unclosed", None),
        ("python " + "x" * 5000 + ".py", None),
        ("bash run.sh", None),
        ("", None),
    ],
)
def test_the_entry_point_is_found_only_inside_the_workdir(workdir, run, entry):
    found = entry_point(run, workdir)
    assert found == (None if entry is None else (workdir / entry).resolve())
    assert launch_for(run, workdir) is (Launch.JAX if entry else Launch.PLAIN)


@pytest.mark.parametrize(
    "run",
    [
        "torchrun --nproc-per-node 8 train.py",
        "python -m torch.distributed.run train.py",
        "accelerate launch train.py",
        "deepspeed train.py",
        "mpirun -n 4 python train.py",
    ],
)
def test_a_command_that_starts_ranks_itself_is_left_alone(workdir, run):
    assert launch_for(run, workdir) is Launch.PLAIN


def test_without_a_folder_nothing_is_looked_up():
    assert launch_for("python train.py", None) is Launch.PLAIN


def test_only_the_beginning_of_a_huge_program_is_read(workdir):
    (workdir / "train.py").write_text("#" * READ_MAX + "\nimport jax\n")
    assert launch_for("python train.py", workdir) is Launch.PLAIN


def test_a_program_that_is_not_text_is_no_trouble(workdir):
    (workdir / "train.py").write_bytes(b"\xff\xfe\0import jax\n\nimport jax\n")
    assert launch_for("python train.py", workdir) is Launch.JAX
