"""`nvidia-smi` shows what the machine is said to have."""

from __future__ import annotations

import io

import pytest

from windlass.twin.machines.inside import gpus

ENV = {gpus.VARIABLE: "NVIDIA A100-SXM4-40GB:40960:2"}

LINES = {
    "a list": (["-L"], "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-"),
    "a query": (
        ["--query-gpu=index,name,memory.total", "--format=csv"],
        "index, name, memory.total\n0, NVIDIA A100-SXM4-40GB, 40960 MiB\n",
    ),
    "a bare query": (
        ["--query-gpu=memory.used,power.draw", "--format=csv,noheader,nounits"],
        "0, [N/A]\n0, [N/A]\n",
    ),
    "the table": ([], "|   0  NVIDIA A100-SXM4-40GB      On"),
}


@pytest.mark.parametrize("case", LINES)
def test_it_prints(case):
    words, expected = LINES[case]
    out = io.StringIO()
    assert gpus.show(gpus.of(ENV), words, out) == 0
    assert expected in out.getvalue()


def test_the_table_is_as_wide_everywhere():
    out = io.StringIO()
    gpus.show(gpus.of({gpus.VARIABLE: "NVIDIA H100 80GB HBM3:81559:8"}), [], out)
    framed = [line for line in out.getvalue().splitlines() if line[:1] in ("|", "+")]
    assert {len(line) for line in framed} == {gpus.WIDTH}


@pytest.mark.parametrize("text", ["", "NVIDIA L4", "NVIDIA L4:many:1"])
def test_without_accelerators_it_fails_as_the_real_one(text):
    out = io.StringIO()
    assert gpus.show(gpus.of({gpus.VARIABLE: text}), [], out) == 9
    assert "couldn't communicate with the NVIDIA driver" in out.getvalue()
