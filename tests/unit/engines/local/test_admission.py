"""What can never run on this machine, in whole sentences."""

from __future__ import annotations

import pytest

from claims import make_gpus, make_local_request
from windlass.engines.local.admission import admit
from windlass.errors import EngineRejected, MachineTooSmall

GIB = 2**30
EMULATE = "Add --emulate to run it on the CPU, or choose an engine that has them with --on."


class FakeMachine:
    """A machine of the test's choice."""

    def __init__(self, *gpus, cpus=4, memory_gib=16):
        self.gpus = make_gpus(*gpus)
        self.cpus = cpus
        self.memory_bytes = memory_gib * GIB


REFUSED = {
    "a TPU": (
        FakeMachine(),
        {"on": "v5e-8"},
        "this machine has no TPU",
        EMULATE,
    ),
    "a GPU where there is none": (
        FakeMachine(),
        {"on": "H100:8"},
        "8 x H100 needed, and this machine has no GPU that nvidia-smi shows",
        EMULATE,
    ),
    "another model": (
        FakeMachine("L4", "L4", "T4"),
        {"on": "H100:1"},
        "1 x H100 needed, and this machine has 2 x L4, 1 x T4",
        EMULATE,
    ),
    "too few for all nodes": (
        FakeMachine("L4", "L4", "L4"),
        {"on": "L4:2", "nodes": 2},
        "4 x L4 (2 nodes of 2) needed, and this machine has 3 x L4",
        EMULATE,
    ),
    "any of several models": (
        FakeMachine("T4"),
        {"on": "L4:2,T4:2"},
        "2 x L4 or 2 x T4 needed, and this machine has 1 x T4",
        EMULATE,
    ),
    "more processors than there are": (
        FakeMachine(),
        {"cpus_per_node": 4.5},
        "each node needs 4.5 processors and this machine has 4",
        "Lower resources.cpus, or choose another engine with --on.",
    ),
    "more memory than there is": (
        FakeMachine(),
        {"nodes": 2, "memory_bytes_per_node": 10 * GIB},
        "20.0 GiB of memory are needed (2 nodes) and this machine has 16.0 GiB",
        "Lower resources.memory or resources.nodes, or choose another engine with --on.",
    ),
}


@pytest.mark.parametrize(("machine", "fields", "message", "remedy"), REFUSED.values(), ids=REFUSED)
def test_what_can_never_run_is_refused(machine, fields, message, remedy):
    with pytest.raises(MachineTooSmall) as refused:
        admit(machine, make_local_request(**fields), {})
    assert (refused.value.message, refused.value.remedy) == (message, remedy)


def test_options_are_refused_by_name():
    with pytest.raises(EngineRejected) as refused:
        admit(FakeMachine(), make_local_request(), {"partition": "h100", "network": "x"})
    assert "sets network, partition" in refused.value.message
    assert refused.value.remedy


ADMITTED = {
    "a CPU run": (FakeMachine(), {}),
    "as many GPUs as there are": (FakeMachine("L4", "L4"), {"on": "L4:1", "nodes": 2}),
    "the second model": (FakeMachine("T4", "T4"), {"on": "L4:2,T4:2"}),
    "any model": (FakeMachine("NVIDIA GeForce"), {"on": "GPU:1"}),
    "more nodes than processors": (FakeMachine(cpus=1), {"nodes": 8}),
    "emulated GPUs": (FakeMachine(), {"on": "H100:8", "is_emulated": True}),
    "an emulated TPU": (FakeMachine(), {"on": "v5e-8", "is_emulated": True}),
}


@pytest.mark.parametrize(("machine", "fields"), ADMITTED.values(), ids=ADMITTED)
def test_what_will_fit_one_day_is_admitted(machine, fields):
    admit(machine, make_local_request(**fields), {})
