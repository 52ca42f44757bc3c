"""Containers survive: by themselves as plain ones, with `like` as what they were."""

from __future__ import annotations

import collections
import dataclasses
import enum
import math
import types
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.runtime import CheckpointMismatch, CheckpointRefused
from windlass.runtime.checkpoint import tree
from windlass.runtime.checkpoint.tree import FREE


class Moments(NamedTuple):
    mu: Any
    nu: Any


class Nothing(NamedTuple):
    pass


class Level(enum.IntEnum):
    HIGH = 3


@dataclasses.dataclass(frozen=True)
class Frozen:
    weights: Any
    step: int
    apply: Any = dataclasses.field(default=len, metadata={"pytree_node": False})


def there_and_back(state, like=FREE):
    node, sources = tree.encode(state)
    values = [source.value for source in sources]
    return tree.rebuild(node, like, lambda number, _like, _path: values[number])


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters())
    | st.binary(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=4)
    ),
    max_leaves=20,
)


def typed(value):
    """Equality that tells True from 1, 1 from 1.0 and 0.0 from -0.0."""
    if isinstance(value, dict):
        return [(repr(key), typed(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [typed(item) for item in value]
    return type(value), hex(value) if type(value) is int else repr(value)


@given(PLAIN)
def test_plain_trees_come_back_equal_with_and_without_like(state):
    assert typed(there_and_back(state)) == typed(state)
    assert typed(there_and_back(state, like=state)) == typed(state)


def test_numbers_that_json_has_no_room_for_survive():
    state = [math.inf, -math.inf, -0.0, 5e-324, 10**5000, -(2**53), 2**53 + 1]
    assert typed(there_and_back(state)) == typed(state)
    assert math.isnan(there_and_back(math.nan))


def test_named_tuples_and_dataclasses_come_back_as_dicts_without_like():
    state = (Moments(1, Nothing()), Frozen("w", 3))
    assert there_and_back(state) == ({"mu": 1, "nu": {}}, {"weights": "w", "step": 3})


def test_like_gives_the_same_containers_back():
    state = {
        "opt": (Moments([1], Nothing()), Frozen({"a": 1.5}, 3, apply=print)),
        "ordered": collections.OrderedDict(b=1, a=2),
        "counts": collections.defaultdict(int, x=1),
        "view": types.MappingProxyType({"k": None}),
    }
    like = {**state, "counts": collections.defaultdict(list, x=0)}
    back = there_and_back(state, like=like)
    assert back == state
    assert type(back["ordered"]) is collections.OrderedDict and list(back["ordered"]) == ["b", "a"]
    assert back["counts"].default_factory is list
    assert back["opt"][1].apply is print, "static fields come from `like`"
    assert like["counts"]["x"] == 0, "`like` itself stays as it was"


def test_subclasses_of_plain_values_come_back_plain():
    assert typed(there_and_back([Level.HIGH, np.str_("x")[:0] + "y"])) == typed([3, "y"])


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"a": [{1, 2}]}, r"state\['a'\]\[0\] is a set"),
        ({"f": len}, r"state\['f'\] is a builtin_function"),
        ({(1, 2): 3}, r"state has the key \(1, 2\)"),
        ({True: 3}, "state has the key True"),
        (Moments(1j, 0), r"state\.mu is a complex"),
        ({"t": np.zeros(2, [("x", "f4")])}, r"state\['t'\] is an array of"),
        ({"m": np.ma.masked_array([1], [True])}, "would lose its mask"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_saved_is_named_with_its_place(state, message):
    with pytest.raises(CheckpointRefused, match=message) as caught:
        tree.encode(state)
    assert caught.value.remedy


def test_a_state_that_contains_itself_is_refused():
    state: list[Any] = []
    state.append(state)
    with pytest.raises(CheckpointRefused, match="contains itself"):
        tree.encode(state)


@pytest.mark.parametrize(
    ("saved", "like", "message"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, r"not saved \['b'\], not wanted \[\]"),
        ({"a": 1, "b": 2}, {"a": 1}, r"not saved \[\], not wanted \['b'\]"),
        ([1, 2], [1], "a list of 2"),
        ([1], (1,), "a list of 1"),
        ((1, 2), Moments(1, 2), "a tuple of 2"),
        (Moments(1, 2), (1, 2), "a Moments"),
        (Moments(1, 2), Frozen(1, 2), "differs"),
        ({"a": None}, {"a": 3}, "saved as None"),
        ({"a": 3}, {"a": None}, "saved as int"),
        ({"a": 3}, {"a": True}, "saved as int"),
        ({"a": "x"}, {"a": b"x"}, "saved as str"),
        ({"a": b"x"}, {"a": "x"}, "saved as bytes"),
        ({"a": np.zeros(2)}, {"a": 0.0}, "saved as an array"),
        ({"a": 0.0}, {"a": np.zeros(())}, "saved as float"),
        ([1], {"a": 1}, "a list of 1"),
        ({"a": 1}, [1], "saved as a dict"),
    ],
)
def test_a_like_of_another_shape_is_refused(saved, like, message):
    with pytest.raises(CheckpointMismatch, match=message):
        there_and_back(saved, like=like)
