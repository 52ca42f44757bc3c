"""The containers of a state as JSON, and back: by themselves, or shaped like another tree.

Must not touch the bytes of arrays: it refers to them by number.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import Any, Callable, Dict, List, Mapping, NoReturn, Sequence, Tuple

import numpy as np

from windlass.runtime.checkpoint import tensors
from windlass.runtime.checkpoint.errors import CheckpointMismatch, CheckpointRefused
from windlass.runtime.checkpoint.tensors import Source

DEPTH_MAX = 100
_EXACT_INT_MAX = 2**53
"""Larger ones are written as text: few JSON readers keep them, and Python bounds their digits."""

Node = Any
"""A JSON list: the kind, then what the kind needs."""


class Free:
    """Stands for "no `like` here": None would be a value."""


FREE = Free()


# ---- to JSON ----------------------------------------------------------------------------------


def encode(state: object) -> Tuple[Node, List[Source]]:
    """The containers of a state, and its arrays in the order of their numbers.

    Raises:
        CheckpointRefused: something in the state cannot be saved; its place is named.
    """
    sources: List[Source] = []
    return _encode(state, "state", sources, 0), sources


def _encode(value: Any, path: str, sources: List[Source], depth: int) -> Node:
    if depth > DEPTH_MAX:
        _refuse(path, "is nested too deep, or contains itself")
    if tensors.is_jax_key(value):
        impl, bits = tensors.key_parts(value)
        return ["key", impl, _number(bits, path, sources)]
    if isinstance(value, np.generic):
        return ["scalar", _number(value, path, sources)]
    if tensors.is_torch(value) or tensors.is_jax(value) or isinstance(value, np.ndarray):
        return ["tensor", _number(value, path, sources)]
    if isinstance(value, (bytes, bytearray)):
        return ["bytes", _number(np.frombuffer(value, np.uint8), path, sources)]
    if value is None or isinstance(value, (bool, int, float, str)):
        return _encode_plain(value)
    return _encode_container(value, path, sources, depth + 1)


def _number(value: Any, path: str, sources: List[Source]) -> int:
    source = tensors.source_of(value, path)
    assert source is not None
    sources.append(source)
    return len(sources) - 1


def _encode_plain(value: Any) -> Node:
    if value is None:
        return ["none"]
    if isinstance(value, bool):
        return ["bool", value]
    if isinstance(value, int):
        return ["int", int(value) if abs(value) < _EXACT_INT_MAX else hex(value)]
    if isinstance(value, float):
        return ["float", float.hex(value)]
    return ["str", str.__str__(value)]


def _encode_container(value: Any, path: str, sources: List[Source], depth: int) -> Node:
    if isinstance(value, Mapping):
        return ["dict", _encode_items(value, path, sources, depth)]
    fields = _fields(value)
    if fields is not None:
        items = [
            [name, _encode(getattr(value, name), f"{path}.{name}", sources, depth)]
            for name in fields
        ]
        return ["record", type(value).__name__, items]
    if isinstance(value, (list, tuple)):
        items = [
            _encode(item, f"{path}[{index}]", sources, depth) for index, item in enumerate(value)
        ]
        return ["list" if isinstance(value, list) else "tuple", items]
    _refuse(path, f"is a {type(value).__name__}, which cannot be saved")


def _encode_items(
    value: Mapping[Any, Any], path: str, sources: List[Source], depth: int
) -> List[Node]:
    items = []
    for key, item in value.items():
        if isinstance(key, bool) or not isinstance(key, (str, int)):
            _refuse(path, f"has the key {key!r}; keys must be texts or whole numbers")
        plain = str.__str__(key) if isinstance(key, str) else int(key)
        items.append([plain, _encode(item, f"{path}[{key!r}]", sources, depth)])
    return items


def _fields(value: object) -> Any:
    """The names of a named tuple's or dataclass's fields; None when it is neither.

    Fields that JAX libraries mark as static (functions, configuration) are not part of the state.
    """
    if isinstance(value, tuple):
        return getattr(value, "_fields", None)
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return None
    return tuple(
        field.name
        for field in dataclasses.fields(value)
        if field.metadata.get("pytree_node", True) and not field.metadata.get("static", False)
    )


def _refuse(path: str, why: str) -> NoReturn:
    raise CheckpointRefused(
        f"{path} {why}.",
        remedy="A state is made of dicts, lists, tuples, named tuples, dataclasses, arrays, "
        "numbers, texts, bytes and None.",
    )


# ---- from JSON --------------------------------------------------------------------------------

Leaf = Callable[[int, Any, str], Any]
"""Gives the array of that number as the kind of the `like` array (None: as it was saved)."""


def rebuild(node: Node, like: Any, leaf: Leaf, path: str = "state") -> Any:
    """The state that was encoded; with `like` other than FREE, in containers of the same types.

    Raises:
        CheckpointMismatch: `like` has another shape than what was saved.
    """
    return _BUILDERS[node[0]](node, like, leaf, path)


def _none(node: Node, like: Any, leaf: Leaf, path: str) -> None:
    if like is not FREE and like is not None:
        _differ(path, "None", like)


def _plain(node: Node, like: Any, leaf: Leaf, path: str) -> Any:
    kind, value = node
    types: Dict[str, type] = {"bool": bool, "int": int, "float": float, "str": str}
    is_other = not isinstance(like, types[kind]) or (kind == "int" and isinstance(like, bool))
    if like is not FREE and is_other:
        _differ(path, kind, like)
    if kind == "float":
        return float.fromhex(value)
    return int(value, 16) if kind == "int" and isinstance(value, str) else value


def _bytes(node: Node, like: Any, leaf: Leaf, path: str) -> bytes:
    if like is not FREE and not isinstance(like, (bytes, bytearray)):
        _differ(path, "bytes", like)
    content = leaf(node[1], None, path)
    return b"" if content is None else bytes(content)


def _array(node: Node, like: Any, leaf: Leaf, path: str) -> Any:
    if like is FREE:
        array = leaf(node[1], None, path)
        return array[()] if node[0] == "scalar" and array is not None else array
    is_array = isinstance(like, (np.ndarray, np.generic)) or tensors.is_torch(like)
    if tensors.is_jax_key(like) or not (is_array or tensors.is_jax(like)):
        _differ(path, "an array", like)
    return leaf(node[1], like, path)


def _key(node: Node, like: Any, leaf: Leaf, path: str) -> Any:
    if like is not FREE and not tensors.is_jax_key(like):
        _differ(path, "a JAX key", like)
    bits = leaf(node[2], None, path)
    return None if bits is None else tensors.key_from(node[1], bits, None if like is FREE else like)


def _list(node: Node, like: Any, leaf: Leaf, path: str) -> Any:
    kind: Any = list if node[0] == "list" else tuple
    items: Sequence[Node] = node[1]
    likes: Sequence[Any] = [FREE] * len(items)
    if like is not FREE:
        if not isinstance(like, kind) or hasattr(like, "_fields") or len(like) != len(items):
            _differ(path, f"a {node[0]} of {len(items)}", like)
        likes = like
    return kind(
        rebuild(item, likes[index], leaf, f"{path}[{index}]") for index, item in enumerate(items)
    )


def _dict(node: Node, like: Any, leaf: Leaf, path: str) -> Any:
    items = {key: item for key, item in node[1]}
    if like is FREE:
        return {key: rebuild(item, FREE, leaf, f"{path}[{key!r}]") for key, item in items.items()}
    if not isinstance(like, Mapping):
        _differ(path, "a dict", like)
    _same_names(path, list(items), list(like))
    built = {key: rebuild(items[key], like[key], leaf, f"{path}[{key!r}]") for key in like}
    if not isinstance(like, dict):
        return type(like)(built)  # type: ignore[call-arg] # mappings are built from a dict
    if type(like) is dict:
        return built
    refilled = copy.copy(like)  # Keeps what a subclass adds, such as a default factory.
    refilled.clear()
    refilled.update(built)
    return refilled


def _record(node: Node, like: Any, leaf: Leaf, path: str) -> Any:
    items = {name: item for name, item in node[2]}
    if like is FREE:
        return {name: rebuild(item, FREE, leaf, f"{path}.{name}") for name, item in items.items()}
    fields = _fields(like)
    if fields is None:
        _differ(path, f"a {node[1]}", like)
    _same_names(path, list(items), list(fields))
    built = {
        name: rebuild(items[name], getattr(like, name), leaf, f"{path}.{name}") for name in fields
    }
    if isinstance(like, tuple):
        return type(like)(**built)
    filled = copy.copy(like)
    for name, value in built.items():
        object.__setattr__(filled, name, value)  # Also where the dataclass is frozen.
    return filled


_BUILDERS: Dict[str, Callable[[Node, Any, Leaf, str], Any]] = {
    "none": _none,
    **dict.fromkeys(("bool", "int", "float", "str"), _plain),
    "bytes": _bytes,
    **dict.fromkeys(("tensor", "scalar"), _array),
    "key": _key,
    **dict.fromkeys(("list", "tuple"), _list),
    "dict": _dict,
    "record": _record,
}


def _same_names(path: str, saved: List[Any], wanted: List[Any]) -> None:
    missing = [name for name in wanted if name not in saved]
    extra = [name for name in saved if name not in wanted]
    if not missing and not extra:
        return
    raise CheckpointMismatch(
        f"{path} differs from `like`: not saved {missing[:5]!r}, not wanted {extra[:5]!r}.",
        remedy="Restore with the model that was saved, or restore without `like` and convert.",
    )


def _differ(path: str, saved: str, like: object) -> NoReturn:
    raise CheckpointMismatch(
        f"{path} was saved as {saved}, and `like` has a {type(like).__name__} there.",
        remedy="Restore with the model that was saved, or restore without `like` and convert.",
    )
