"""The two labs of examples/labs, start to finish, with what happens inside their machines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tree
from client_twin import ClientTwin, need_program

pytestmark = pytest.mark.usefixtures("machines")

LABS = tree.ROOT / "examples" / "labs"


def run(twin: ClientTwin, name: str, folder: Path) -> str:
    """What a lab prints. It is run as its first lines say."""
    need_program("gcloud")
    twin.own_configuration(folder / "gcloud")
    more = {"CLOUDSDK_CONFIG": str(folder / "gcloud")}
    done = twin.bash(str(LABS / name), cwd=folder, more=more)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_a_gpu_vm_puts_what_its_model_says_into_a_bucket(twin, tmp_path):
    said = run(twin, "gpu-vm.sh", tmp_path)
    assert "aihc-gpu-lab-1  us-central1-a  g2-standard-4  true" in said
    assert "NVIDIA L4" in said
    assert "Device: cpu" in said  # The GPU is a picture of one.
    assert re.search(r"^gs://\S+/runs/\d{8}-\d{6}-output.txt$", said, re.MULTILINE)
    # Said by the program, shown by `head` on the VM, and read from the bucket.
    assert said.count("google cloud ai hypercomputer helps teams ") == 3
    assert "Deleted [" in said
    left = twin.bash("gcloud compute instances list; gcloud storage ls", cwd=tmp_path).stdout
    assert "aihc" not in left


def test_a_tpu_vm_multiplies_matrices(twin, tmp_path):
    said = run(twin, "tpu-vm.sh", tmp_path)
    assert "state: READY" in said
    assert re.search(r"^Linux t1v-n-\w+-w-0 ", said, re.MULTILINE)
    assert "Default backend: cpu" in said
    assert "Result shape: (2048, 2048)" in said
    assert "Deleted tpu [tpu-jax-lab]." in said
    assert "Listed 0 items." in said
