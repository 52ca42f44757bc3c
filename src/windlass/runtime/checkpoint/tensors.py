"""Arrays of NumPy, JAX and torch as blocks of bytes, and back.

Must not import JAX or torch before the program did, except to give back what was saved from them.
"""

from __future__ import annotations

import importlib
import operator
import sys
from typing import Any, Iterator, NamedTuple, Optional, Tuple

import numpy as np

from windlass.runtime.checkpoint import dtypes
from windlass.runtime.checkpoint.errors import CheckpointMismatch, CheckpointRefused
from windlass.runtime.checkpoint.manifest import Tensor

Array = Any
"""An array of one of three libraries, two of which may be absent."""


class Source(NamedTuple):
    """An array of the state: what it is, and where its bytes come from."""

    tensor: Tensor
    value: Array
    path: str


class Block(NamedTuple):
    """A part of an array that lies in C order, as bytes."""

    start: Tuple[int, ...]
    shape: Tuple[int, ...]
    content: memoryview


# ---- what is it? ------------------------------------------------------------------------------


def source_of(value: Array, path: str) -> Optional[Source]:
    """The array as something to save; None when it is no array.

    Raises:
        CheckpointRefused: it is an array of a kind that cannot be saved.
    """
    if isinstance(value, np.generic):
        value = np.asarray(value)  # NumPy gives an empty text another type as an array.
    if isinstance(value, np.ndarray):
        return Source(_numpy_tensor(value, path), value, path)
    if is_jax(value):
        return Source(_jax_tensor(value, path), value, path)
    if is_torch(value):
        return Source(_torch_tensor(value, path), value, path)
    return None


def is_jax(value: object) -> bool:
    """Whether it is an array of JAX, or the description of one."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, (jax.Array, jax.ShapeDtypeStruct))


def is_jax_key(value: Array) -> bool:
    """Whether it is a key of `jax.random`, whose bits are only half of it."""
    jax = sys.modules.get("jax")
    if jax is None or not is_jax(value):
        return False
    return bool(jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key))


def is_torch(value: object) -> bool:
    """Whether it is a tensor of torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def key_parts(value: Array) -> Tuple[str, Array]:
    """The algorithm of a JAX key, and its bits."""
    jax = importlib.import_module("jax")
    if not value.is_fully_addressable and value.is_fully_replicated:
        value = value.addressable_data(0)
    return str(jax.random.key_impl(value)), jax.random.key_data(value)


def _numpy_tensor(value: Array, path: str) -> Tensor:
    if isinstance(value, np.ma.MaskedArray):
        raise CheckpointRefused(
            f"{path} is a masked array, which would lose its mask.",
            remedy="Save its `.data` and its `.mask` as two arrays.",
        )
    name = dtypes.name_of(value.dtype, path)
    return Tensor("numpy", name, value.dtype.itemsize, tuple(value.shape))


def _jax_tensor(value: Array, path: str) -> Tensor:
    jax = importlib.import_module("jax")
    if isinstance(value, (jax.core.Tracer, jax.ShapeDtypeStruct)):
        raise CheckpointRefused(
            f"{path} has no values: it is a {type(value).__name__}.",
            remedy="Save outside of functions that JAX transforms, with arrays that were computed.",
        )
    name = dtypes.name_of(value.dtype, path)
    return Tensor("jax", name, value.dtype.itemsize, tuple(value.shape))


def _torch_tensor(value: Array, path: str) -> Tensor:
    torch = importlib.import_module("torch")
    if hasattr(value, "full_tensor"):
        remedy = "Gather it with `.full_tensor()` on every rank, then save that."
    elif value.is_quantized or value.layout is not torch.strided or value.is_meta:
        remedy = "Save a dense tensor instead: `.dequantize()` or `.to_dense()` makes one."
    else:
        name = str(value.dtype).rpartition(".")[2]
        return Tensor("torch", name, value.element_size(), tuple(value.shape))
    raise CheckpointRefused(f"{path} is a tensor that is not dense and whole.", remedy=remedy)


# ---- to bytes ---------------------------------------------------------------------------------


def blocks(source: Source, *, writer: int, writers: int, bytes_max: int) -> Iterator[Block]:
    """The blocks of an array that this writer must store, each of at most `bytes_max` bytes.

    What every process holds is stored by writer 0 alone; of a JAX array that is spread over
    processes, each writer stores the shards it has, without their copies.
    """
    if source.tensor.kind == "jax" and not _is_local(source.value):
        if writers == 1:
            raise CheckpointRefused(
                f"{source.path} is spread over processes, and only one of them saves.",
                remedy="Make every process a writer: `Checkpointer(writer=(rank, ranks))`.",
            )
        for shard in source.value.addressable_shards:
            if shard.replica_id == 0:
                start = tuple(cut.start or 0 for cut in shard.index)
                yield from _cut(np.asarray(shard.data), start, bytes_max)
    elif writer == 0:
        yield from _cut(_on_host(source), (0,) * len(source.tensor.shape), bytes_max)


def _is_local(value: Array) -> bool:
    return bool(value.is_fully_addressable or value.is_fully_replicated)


def _on_host(source: Source) -> np.ndarray[Any, Any]:
    value, kind = source.value, source.tensor.kind
    if kind == "torch":
        torch = importlib.import_module("torch")
        host = value.detach().resolve_conj().resolve_neg().cpu().contiguous().reshape(-1)
        void = f"V{source.tensor.itemsize}"
        raw: np.ndarray[Any, Any] = host.view(torch.uint8).numpy() if host.numel() else np.empty(0)
        return raw.view(void).reshape(source.tensor.shape) if host.numel() else _nothing(source)
    if kind == "jax" and not value.is_fully_addressable:
        value = value.addressable_data(0)
    return np.asarray(value)


def _nothing(source: Source) -> np.ndarray[Any, Any]:
    return np.empty(source.tensor.shape, f"V{source.tensor.itemsize}")


def _cut(array: np.ndarray[Any, Any], start: Tuple[int, ...], bytes_max: int) -> Iterator[Block]:
    """Cut along the first axes, so that every block lies in one stretch of memory."""
    if array.nbytes == 0:
        return
    if array.nbytes <= bytes_max or array.size == 1:
        content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        yield Block(start, array.shape, content.data)
        return
    axis = next(index for index, length in enumerate(array.shape) if length > 1)
    length = array.shape[axis]
    rows = max(1, bytes_max // (array.nbytes // length))
    for first in range(0, length, rows):
        cut = (slice(None),) * axis + (slice(first, first + rows),)
        moved = (*start[:axis], start[axis] + first, *start[axis + 1 :])
        yield from _cut(array[cut], moved, bytes_max)


# ---- from bytes -------------------------------------------------------------------------------


def empty(tensor: Tensor) -> np.ndarray[Any, Any]:
    """Room for the bytes of a tensor, whatever its elements mean."""
    return np.empty(tensor.shape, f"V{max(1, tensor.itemsize)}")


def fill(
    room: np.ndarray[Any, Any], start: Tuple[int, ...], shape: Tuple[int, ...], content: memoryview
) -> None:
    """Put a block where it belongs."""
    where = tuple(map(slice, start, map(operator.add, start, shape)))
    room[where] = np.frombuffer(content, room.dtype).reshape(shape)


def check(tensor: Tensor, like: Array, path: str) -> None:
    """Refuse to restore an array into one of another type or shape.

    Raises:
        CheckpointMismatch: they differ.
    """
    wanted = source_shape(like, path)
    if wanted != (tensor.dtype, tensor.shape):
        raise CheckpointMismatch(
            f"{path} was saved as {_words(tensor.dtype, tensor.shape)}, "
            f"and `like` has {_words(*wanted)}.",
            remedy="Restore with the model that was saved, or restore without `like` and convert.",
        )


def source_shape(like: Array, path: str) -> Tuple[str, Tuple[int, ...]]:
    """The type and shape of an array of a `like` tree, also of one without values."""
    if is_torch(like):
        return str(like.dtype).rpartition(".")[2], tuple(like.shape)
    return dtypes.name_of(like.dtype, path), tuple(like.shape)


def finish(tensor: Tensor, room: np.ndarray[Any, Any], like: Optional[Array]) -> Array:
    """The array, as the kind that `like` is; without it, torch as torch and the rest as NumPy."""
    if is_torch(like) or (like is None and tensor.kind == "torch"):
        return _as_torch(tensor, room, like)
    if tensor.itemsize == 0 or room.size == 0:
        array: Array = np.zeros(tensor.shape, dtypes.dtype_of(tensor.dtype))
    else:
        array = room.view(dtypes.dtype_of(tensor.dtype))
    if is_jax(like):
        return _as_jax(array, like)
    return array[()] if isinstance(like, np.generic) else array


def key_from(impl: str, bits: Array, like: Optional[Array]) -> Array:
    """A key of `jax.random`, placed as `like` is."""
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        raise CheckpointMismatch(
            "The checkpoint has random keys of JAX, which is not installed here.",
            remedy="Install jax, or restore where it is installed.",
        ) from None
    # The bits are placed before they become a key: only plain arrays can be put on devices of
    # other processes. They have one axis more than the key, which is never spread.
    return jax.random.wrap_key_data(_as_jax(bits, like), impl=impl)


def _as_jax(array: np.ndarray[Any, Any], like: Optional[Array]) -> Array:
    jax = importlib.import_module("jax")
    sharding = _placement(like)
    if sharding is None:
        return jax.numpy.asarray(array)
    return jax.make_array_from_callback(array.shape, sharding, lambda index: array[index])


def _placement(like: Optional[Array]) -> Any:
    """Where JAX should put it; None where nobody chose, so that it may still be moved."""
    return getattr(like, "sharding", None) if getattr(like, "committed", True) else None


def _as_torch(tensor: Tensor, room: np.ndarray[Any, Any], like: Optional[Array]) -> Array:
    try:
        torch = importlib.import_module("torch")
        dtype = getattr(torch, tensor.dtype)
    except (ImportError, AttributeError):
        raise CheckpointMismatch(
            f"The checkpoint has torch tensors of {tensor.dtype}, which cannot be made here.",
            remedy="Install the torch that wrote them, or pass a `like` tree of NumPy arrays.",
        ) from None
    if room.size == 0:
        restored = torch.empty(tensor.shape, dtype=dtype)
    else:
        flat = torch.from_numpy(room.reshape(-1).view(np.uint8))
        restored = flat.view(dtype).reshape(tensor.shape)
    if like is None:
        return restored
    restored = restored.to(like.device)
    if isinstance(like, torch.nn.Parameter):
        return torch.nn.Parameter(restored, requires_grad=like.requires_grad)
    return restored.requires_grad_(like.requires_grad)


def _words(dtype: str, shape: Tuple[int, ...]) -> str:
    return f"{dtype}[{','.join(str(length) for length in shape)}]"
