"""What this machine has: processors, memory, GPUs.

Must not say who uses them (queue.py does).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property

from windlass.ports.process import Processes

_QUERY = ("nvidia-smi", "--query-gpu=index,name,memory.total", "--format=csv,noheader,nounits")
_80_GB_MIB = 60_000
_MODELS = (
    ("RTX-PRO-6000", r"RTX PRO 6000"),
    ("H100-MEGA", r"H100 Mega"),
    ("H200", r"\bH200\b"),
    ("H100", r"\bH100\b"),
    ("B200", r"\bB200\b"),
    ("A100", r"\bA100\b"),
    ("L4", r"\bL4\b"),
    ("T4", r"\bT4\b"),
    ("V100", r"\bV100\b"),
    ("P100", r"\bP100\b"),
    ("P4", r"\bP4\b"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU of this machine."""

    index: int
    name: str
    """As the driver calls it."""
    model: str
    """As a spec calls it; the driver's name when no spec could name it."""
    memory_mib: int


class Machine:
    """This machine. GPUs are looked up when somebody asks for one."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._gpus: tuple[Gpu, ...] = ()

    @cached_property
    def cpus(self) -> int:
        """Processors that this process may use."""
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else _cpu_count()

    @cached_property
    def memory_bytes(self) -> int:
        """Physical memory."""
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """GPUs that the NVIDIA driver shows; none when there is no driver.

        Once seen they stay. None is no answer for ever: a driver may have been too slow.
        """
        if not self._gpus:
            answer = self._processes.ask(_QUERY)
            if answer is not None and answer.status == 0:
                self._gpus = parse_gpus(answer.stdout)
        return self._gpus


def parse_gpus(listing: str) -> tuple[Gpu, ...]:
    """GPUs out of nvidia-smi's table; lines that are not GPUs are passed over."""
    gpus = []
    for line in listing.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != 3 or not fields[0].isdigit():
            continue
        memory_mib = int(fields[2]) if fields[2].isdigit() else 0
        name = fields[1]
        model = _model(name, memory_mib)
        gpus.append(Gpu(index=int(fields[0]), name=name, model=model, memory_mib=memory_mib))
    return tuple(gpus)


def _model(name: str, memory_mib: int) -> str:
    for model, pattern in _MODELS:
        if re.search(pattern, name, re.IGNORECASE):
            is_large = memory_mib > _80_GB_MIB or "80GB" in name
            return "A100-80" if model == "A100" and is_large else model
    return name


def _cpu_count() -> int:
    return os.cpu_count() or 1
