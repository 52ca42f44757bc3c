"""Which accelerators there are, in which numbers, and how people write them.

Must not know where they can be rented nor what they cost: that is the catalog's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from windlass.spec.model import ANY_GPU, Accelerators
from windlass.spec.refused import Refused, quoted
from windlass.spec.suggest import nearest

# How many GPUs one node can have at most. Fewer are always possible on a machine of one's own, so
# what can be rented in which number is left to the catalog.
GPUS: dict[str, int] = {
    ANY_GPU: 16,
    "T4": 4,
    "P4": 4,
    "P100": 4,
    "V100": 8,
    "L4": 8,
    "A100": 16,
    "A100-80": 8,
    "H100": 8,
    "H100-MEGA": 8,
    "H200": 8,
    "B200": 8,
    "GB200": 4,
    "GB300": 4,
    "RTX-PRO-6000": 8,
}

# The numbers in the names of TPU slices: chips for v5e and v6e, cores (two per chip) for others.
# Above 8448, v5p and tpu7x exist only in sizes that fold into a torus.
# fmt: off
_LARGE = (
    8704, 8832, 8960, 9216, 9472, 9600, 9728, 9856, 9984, 10240, 10368, 10496, 10752, 10880,
    11008, 11136, 11264, 11520, 11648, 11776, 11904, 12032, 12160, 12288,
)
# fmt: on
TPUS: dict[str, tuple[int, ...]] = {
    "v2": (8, 32, 128, 256, 512),
    "v3": (8, 32, 64, 128, 256, 512, 1024, 2048),
    "v4": (8, 16, 32, 64, *range(128, 6145, 128)),
    "v5e": (1, 4, 8, 16, 32, 64, 128, 256),
    "v5p": (8, 16, 32, 64, *range(128, 8449, 128), *_LARGE),
    "v6e": (1, 4, 8, 16, 32, 64, 128, 256),
    "tpu7x": (8, 16, 32, 64, *range(128, 8449, 128), *_LARGE, 13824, 16384, 17920, 18432),
}

# Other ways to write a name; lower case, words joined by `-`, without `nvidia-` or `tpu-`.
_ALIASES = {
    "tesla-t4": "T4",
    "tesla-p4": "P4",
    "tesla-p100": "P100",
    "p100-16gb": "P100",
    "tesla-v100": "V100",
    "v100-16gb": "V100",
    "tesla-a100": "A100",
    "a100-40": "A100",
    "a100-40gb": "A100",
    "a100-80gb": "A100-80",
    "a100-ultra": "A100-80",
    "h100-80": "H100",
    "h100-80gb": "H100",
    "h100mega": "H100-MEGA",
    "h100-mega-80gb": "H100-MEGA",
    "a3-mega": "H100-MEGA",
    "h200-141gb": "H200",
    "b200-180gb": "B200",
    "rtx-6000": "RTX-PRO-6000",
    "rtx6000": "RTX-PRO-6000",
    "rtxpro6000": "RTX-PRO-6000",
    "rtx-pro-6000-96gb": "RTX-PRO-6000",
    "v4p": "v4",
    "v5litepod": "v5e",
    "v5-lite": "v5e",
    "v5lite": "v5e",
    "trillium": "v6e",
    "v7": "tpu7x",
    "v7x": "tpu7x",
    "tpu7": "tpu7x",
    "ironwood": "tpu7x",
}
_NAMES = {name.casefold(): name for name in (*GPUS, *TPUS)} | _ALIASES

_TURNED_ROUND = r"(?ai)(\d+)\s*[x*]\s*(.+)|(.+?)\s*[x*]\s*(\d+)"
_WITH_COUNT = r"(?a)(.+?)\s*([:-])\s*(\d+)"
_LISTED_MAX = 12
_TEXT_MAX = 60


def accelerators(text: str) -> Accelerators:
    """`H100:8`, `H100` for one, or `v5e-16`, in any of the ways people write them."""
    written = text.strip()
    name = canonical(written)
    if name is not None:
        return _one(name)
    match = re.fullmatch(_WITH_COUNT, written) if len(written) <= _TEXT_MAX else None
    name = canonical(match.group(1)) if match else None
    if match is None or name is None:
        raise _unknown(written)
    separator, count = match.group(2), int(match.group(3))
    if name in TPUS and separator == ":":
        message = f"{quoted(text)}: a TPU slice is named with a dash"
        raise Refused("bad-accelerator", message, remedy=f"Write {name}-{count}.")
    if name in GPUS and separator == "-":
        message = f"{quoted(text)}: a number of GPUs follows a colon"
        raise Refused("bad-accelerator", message, remedy=f"Did you mean `{name}:{count}`?")
    return _counted(name, count)


def canonical(text: str) -> str | None:
    """The canonical name of a model, without a count; None when it is no model."""
    folded = "-".join(text.casefold().replace("_", " ").replace("-", " ").split())
    for prefix in ("", "nvidia-", "google-", "tpu-", "tpu"):
        found = _NAMES.get(folded.removeprefix(prefix))
        if found is not None:
            return found
    return None


def _one(name: str) -> Accelerators:
    if name in GPUS:
        return _counted(name, 1)
    sizes = _listed(name, TPUS[name][: _LISTED_MAX // 2])
    raise Refused(
        "impossible-count",
        f"`{name}` needs the size of the slice",
        remedy=f"Write one of {sizes}{', ...' if len(TPUS[name]) > _LISTED_MAX // 2 else ''}.",
    )


def _counted(name: str, count: int) -> Accelerators:
    if name in GPUS:
        return _gpus(name, count)
    sizes = TPUS[name]
    asked = Accelerators(name=name, count=count, is_tpu=True)
    if count in sizes:
        return asked
    if len(sizes) <= _LISTED_MAX:
        remedy = f"There are {_listed(name, sizes)}."
    else:
        near = sorted(sorted(sizes, key=lambda size: abs(size - count))[:4])
        remedy = (
            f"There are {len(sizes)} sizes from {sizes[0]} to {sizes[-1]}; "
            f"the nearest are {_listed(name, near)}."
        )
    raise Refused("impossible-count", f"`{asked}`: there is no slice of that size", remedy=remedy)


def _gpus(name: str, count: int) -> Accelerators:
    asked = Accelerators(name=name, count=count, is_tpu=False)
    most = GPUS[name]
    if 1 <= count <= most:
        return asked
    raise Refused(
        "impossible-count",
        f"`{asked}`: a node has between 1 and {most} of them",
        remedy=f"Write {name}:{most} or less, and ask for more with `nodes`.",
    )


def _listed(name: str, sizes: Sequence[int]) -> str:
    return ", ".join(f"{name}-{size}" for size in sizes)


def _unknown(text: str) -> Refused:
    message = f"{quoted(text)} is not an accelerator Windlass knows"
    turned = re.fullmatch(_TURNED_ROUND, text) if len(text) <= _TEXT_MAX else None
    if turned:
        count, written = turned.group(1) or turned.group(4), turned.group(2) or turned.group(3)
        name = canonical(written)
        if name is not None:
            form = f"{name}-{count}" if name in TPUS else f"{name}:{count}"
            return Refused("bad-accelerator", message, remedy=f"Write {form}.")
    counted = re.fullmatch(_WITH_COUNT, text) if len(text) <= _TEXT_MAX else None
    bare = counted.group(1) if counted else text
    found = nearest(bare, list(_NAMES))
    if found is None:
        return Refused(
            "unknown-accelerator", message, remedy=f"Known are {', '.join((*GPUS, *TPUS))}."
        )
    name = _NAMES[found]
    form = f"{name}-{counted.group(3) if counted else 16}" if name in TPUS else name
    form = f"{name}:{counted.group(3)}" if name in GPUS and counted else form
    return Refused("unknown-accelerator", message, remedy=f"Did you mean `{form}`?")
