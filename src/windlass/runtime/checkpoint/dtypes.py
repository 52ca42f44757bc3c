"""Element types by name, so that a checkpoint means the same on every machine.

Must not store anything that only one machine or library version understands.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np

from windlass.runtime.checkpoint.errors import CheckpointMismatch, CheckpointRefused

_PLAIN_KINDS = "biufc"
_STRING_KINDS = "SUmM"


def name_of(dtype: np.dtype[Any], path: str) -> str:
    """`float32`, `bfloat16`, `float8_e4m3fn`; in NumPy's short form where the name says too little
    (`>f4`, `<U5`, `<M8[ns]`).

    Raises:
        CheckpointRefused: the elements are Python objects, structures or the like.
    """
    if dtype.names is None and dtype.subdtype is None and not dtype.hasobject:
        if dtype.isbuiltin == 2 and _is_extension(dtype.name):
            return dtype.name
        if dtype.isbuiltin != 2 and dtype.kind in _PLAIN_KINDS:
            return dtype.str if _is_big_endian(dtype) else dtype.name
        if dtype.isbuiltin != 2 and dtype.kind in _STRING_KINDS:
            return dtype.str
    raise CheckpointRefused(
        f"{path} is an array of {dtype}, which cannot be saved.",
        remedy="Save one plain array per field, or convert the elements to numbers or texts first.",
    )


def dtype_of(name: str) -> np.dtype[Any]:
    """The NumPy type that `name_of` named.

    Raises:
        CheckpointMismatch: this machine has no such type.
    """
    try:
        if not name.isidentifier():
            return np.dtype(name)
        # A name says nothing about the order of bytes: they are written little end first.
        return np.dtype(name).newbyteorder("<")
    except TypeError:
        pass
    try:
        extension: np.dtype[Any] = np.dtype(getattr(importlib.import_module("ml_dtypes"), name))
        return extension
    except (ImportError, AttributeError):
        raise CheckpointMismatch(
            f"The checkpoint has elements of type {name}, which NumPy does not know here.",
            remedy="Install the package ml_dtypes, in the version that wrote it or a newer one.",
        ) from None


def _is_extension(name: str) -> bool:
    """Whether `ml_dtypes` has it: it is loaded, or nobody could have made such an array."""
    return hasattr(sys.modules.get("ml_dtypes"), name)


def _is_big_endian(dtype: np.dtype[Any]) -> bool:
    order = dtype.byteorder
    return order == ">" or (order == "=" and sys.byteorder == "big")
