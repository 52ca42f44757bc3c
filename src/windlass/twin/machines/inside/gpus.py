"""What `nvidia-smi` shows of accelerators that are only said to be there.

Must not claim work that nobody does: utilisation is zero, and memory is free.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TextIO

# `NAME:MIB:COUNT`, for instance `NVIDIA L4:23034:2`.
VARIABLE = "WINDLASS_TWIN_GPUS"
DRIVER, CUDA = "550.90.07", "12.4"
WIDTH = 91


class Gpu(NamedTuple):
    """One accelerator."""

    number: int
    name: str
    memory_mib: int

    @property
    def uuid(self) -> str:
        """Always the same for the same accelerator."""
        return f"GPU-00000000-0000-0000-0000-{self.number:012d}"

    @property
    def bus(self) -> str:
        """Where it would be plugged in."""
        return f"00000000:00:{self.number + 4:02X}.0"


def of(env: Mapping[str, str]) -> list[Gpu]:
    """The accelerators that an environment names."""
    name, _, rest = env.get(VARIABLE, "").partition(":")
    memory, _, count = rest.partition(":")
    if not name or not memory.isdecimal():
        return []
    return [Gpu(index, name, int(memory)) for index in range(int(count or 1))]


def show(found: Sequence[Gpu], words: Sequence[str], out: TextIO) -> int:
    """Print them as the words on the command line ask."""
    if not found:
        out.write(
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make "
            "sure that the latest NVIDIA driver is installed and running.\n\n"
        )
        return 9
    query = next((word.partition("=")[2] for word in words if word.startswith("--query-gpu=")), "")
    if "-L" in words or "--list-gpus" in words:
        for gpu in found:
            out.write(f"GPU {gpu.number}: {gpu.name} (UUID: {gpu.uuid})\n")
    elif query:
        form = next((word.partition("=")[2] for word in words if word.startswith("--format=")), "")
        _show_query(found, query.split(","), form.split(","), out)
    else:
        _show_table(found, out)
    return 0


def _show_query(found: Sequence[Gpu], fields: list[str], form: list[str], out: TextIO) -> None:
    if "noheader" not in form:
        out.write(", ".join(field.strip() for field in fields) + "\n")
    for gpu in found:
        values = [_value(gpu, field.strip(), has_units="nounits" not in form) for field in fields]
        out.write(", ".join(values) + "\n")


def _value(gpu: Gpu, field: str, *, has_units: bool) -> str:
    mib, percent = (" MiB", " %") if has_units else ("", "")
    known = {
        "index": str(gpu.number),
        "count": str(gpu.number + 1),
        "name": gpu.name,
        "gpu_name": gpu.name,
        "uuid": gpu.uuid,
        "gpu_uuid": gpu.uuid,
        "pci.bus_id": gpu.bus,
        "driver_version": DRIVER,
        "memory.total": f"{gpu.memory_mib}{mib}",
        "memory.free": f"{gpu.memory_mib}{mib}",
        "memory.used": f"0{mib}",
        "utilization.gpu": f"0{percent}",
        "utilization.memory": f"0{percent}",
        "temperature.gpu": "32",
    }
    return known.get(field, "[N/A]")


def _show_table(found: Sequence[Gpu], out: TextIO) -> None:
    line = "+" + "-" * (WIDTH - 2) + "+"
    parts = "|" + "=" * 41 + "+" + "=" * 24 + "+" + "=" * 22 + "|"
    thin = "+" + "-" * 41 + "+" + "-" * 24 + "+" + "-" * 22 + "+"
    title = f" NVIDIA-SMI {DRIVER:<21} Driver Version: {DRIVER:<14} CUDA Version: {CUDA:<5}"
    rows = [time.strftime("%a %b %d %H:%M:%S %Y", time.gmtime()), line]
    rows += [f"|{title:<89}|", thin]
    rows.append(
        _row("GPU  Name          Persistence-M", "Bus-Id          Disp.A", "Volatile Uncorr. ECC")
    )
    rows.append(
        _row("Fan  Temp   Perf  Pwr:Usage/Cap", "         Memory-Usage", "GPU-Util  Compute M.")
    )
    rows.append(parts)
    for gpu in found:
        rows.append(_row(f"{gpu.number:>3}  {gpu.name:<26} On", f"{gpu.bus} Off", f"{0:>20}"))
        used = f"{'0MiB':>9} /{gpu.memory_mib:>6}MiB"
        rows.append(_row("N/A   32C    P8    N/A /  N/A", used, "     0%      Default"))
        rows.append(thin)
    rows += ["", line, f"|{' Processes:':<89}|", f"|{'  No running processes found':<89}|", line]
    out.write("\n".join(rows) + "\n")


def _row(left: str, middle: str, right: str) -> str:
    return f"| {left:<39} | {middle:<22} | {right:<20} |"
