"""Element types survive by name, or are refused by name."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from windlass.runtime import CheckpointMismatch, CheckpointRefused
from windlass.runtime.checkpoint.dtypes import dtype_of, name_of

NAMES = {
    "bool": "bool",
    "<f4": "float32",
    "<f2": "float16",
    "<c16": "complex128",
    "<u8": "uint64",
    "i1": "int8",
    ">f8": ">f8",
    ">i2": ">i2",
    "<U7": "<U7",
    ">U2": ">U2",
    "S3": "|S3",
    "<M8[ns]": "<M8[ns]",
    "<m8[25s]": "<m8[25s]",
}
EXTENSIONS = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "int4", "uint4"]


@pytest.mark.parametrize("spelling", NAMES)
def test_a_numpy_type_goes_by_its_name_and_comes_back(spelling):
    dtype = np.dtype(spelling)
    assert name_of(dtype, "state") == NAMES[spelling]
    assert dtype_of(NAMES[spelling]) == dtype


@pytest.mark.parametrize("name", EXTENSIONS)
def test_a_machine_learning_type_goes_by_its_name_and_comes_back(name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    assert name_of(dtype, "state") == name
    assert dtype_of(name) == dtype


@pytest.mark.parametrize(
    "dtype", [object, [("x", "f4"), ("y", "i8")], "V8"], ids=["objects", "structures", "raw bytes"]
)
def test_other_elements_are_refused_with_their_place(dtype):
    with pytest.raises(CheckpointRefused, match=r"state\['table'\]"):
        name_of(np.dtype(dtype), "state['table']")


def test_a_type_that_nobody_knows_is_named():
    with pytest.raises(CheckpointMismatch, match="float3_e1m1"):
        dtype_of("float3_e1m1")
