"""What nvidia-smi says, read as GPUs that a spec can name."""

from __future__ import annotations

import pytest

from windlass.engines.local.machine import Machine, parse_gpus
from windlass.ports.process import Processes

LISTINGS = {
    "one H200": ("0, NVIDIA H200, 143771\n", ["H200"]),
    "eight H100": (
        "".join(f"{n}, NVIDIA H100 80GB HBM3, 81559\n" for n in range(8)),
        ["H100"] * 8,
    ),
    "A100 of 40 GB": ("0, NVIDIA A100-SXM4-40GB, 40960\n", ["A100"]),
    "A100 of 80 GB": ("0, NVIDIA A100-SXM4-80GB, 81920\n", ["A100-80"]),
    "A100 of 80 GB, as a card": ("0, NVIDIA A100 80GB PCIe, 81920\n", ["A100-80"]),
    "A100 that hides its memory": ("0, NVIDIA A100-SXM4-80GB, [N/A]\n", ["A100-80"]),
    "L4": ("0, NVIDIA L4, 23034\n", ["L4"]),
    "L40S is no L4": ("0, NVIDIA L40S, 46068\n", ["NVIDIA L40S"]),
    "T4": ("0, Tesla T4, 15360\n", ["T4"]),
    "V100": ("0, Tesla V100-SXM2-16GB, 16384\n", ["V100"]),
    "B200": ("0, NVIDIA B200, 183359\n", ["B200"]),
    "GB200 is no B200": ("0, NVIDIA GB200, 189471\n", ["NVIDIA GB200"]),
    "GH200 is no H200": ("0, NVIDIA GH200 480GB, 97871\n", ["NVIDIA GH200 480GB"]),
    "RTX PRO 6000": (
        "0, NVIDIA RTX PRO 6000 Blackwell Server Edition, 97887\n",
        ["RTX-PRO-6000"],
    ),
    "one that no spec can name": ("0, NVIDIA RTX A6000, 49140\n", ["NVIDIA RTX A6000"]),
    "two models": ("0, NVIDIA L4, 23034\n1, Tesla T4, 15360\n", ["L4", "T4"]),
    "MIG parts are passed over": (
        "0, NVIDIA A100-SXM4-40GB, 40960\n  MIG 1g.5gb     Device  0: (UUID: MIG-1)\n",
        ["A100"],
    ),
    "no devices": ("No devices were found\n", []),
    "an error": ("Unable to determine the device handle for GPU 0000:04:00.0\n", []),
    "nothing": ("", []),
}


@pytest.mark.parametrize(("listing", "models"), LISTINGS.values(), ids=LISTINGS)
def test_a_listing_is_read(listing, models):
    gpus = parse_gpus(listing)
    assert [gpu.model for gpu in gpus] == models
    assert [gpu.index for gpu in gpus] == list(range(len(models)))


def test_numbers_of_gpus_are_the_drivers_own():
    gpus = parse_gpus("2, NVIDIA L4, 23034\n5, NVIDIA L4, 23034\n")
    assert [(gpu.index, gpu.memory_mib) for gpu in gpus] == [(2, 23034), (5, 23034)]


@pytest.fixture
def put_program(tmp_path, monkeypatch):
    """Puts an `nvidia-smi` of our own before all others."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def put(script):
        path = tmp_path / "nvidia-smi"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    return put


def test_the_driver_is_asked_once(put_program, tmp_path):
    put_program(f"echo asked >> '{tmp_path}/asked'; echo '0, NVIDIA H200, 143771'")
    machine = Machine(Processes())
    assert [gpu.model for gpu in machine.gpus] == ["H200"]
    assert machine.gpus[0].name == "NVIDIA H200"
    assert (tmp_path / "asked").read_text() == "asked\n"


SILENT_DRIVERS = {
    "it fails": "echo '0, NVIDIA H200, 143771'; echo 'driver not loaded' >&2; exit 9",
    "it says something else": "printf '\\377\\376 no table'",
}


@pytest.mark.parametrize("script", SILENT_DRIVERS.values(), ids=SILENT_DRIVERS)
def test_without_an_answer_there_are_no_gpus(script, put_program):
    put_program(script)
    assert Machine(Processes()).gpus == ()


def test_a_driver_that_was_too_slow_is_asked_again(put_program):
    put_program("exit 9")
    machine = Machine(Processes())
    assert machine.gpus == ()
    put_program("echo '0, NVIDIA L4, 23034'")
    assert [gpu.model for gpu in machine.gpus] == ["L4"]


def test_processors_and_memory_are_those_of_this_machine():
    machine = Machine(Processes())
    assert machine.cpus >= 1
    assert machine.memory_bytes > 2**20
