"""Canonical JSON: equal specs give equal text, and the text gives the spec back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.errors import InternalError
from windlass.spec.canonical import from_json, to_json
from windlass.spec.model import (
    Accelerators,
    Checkpoint,
    Launch,
    Limits,
    Resources,
    Spec,
    Where,
    Work,
)

texts = st.text(max_size=12)
some_text = st.none() | texts
wholes = st.integers(0, 10**12)
numbers = st.floats(0, 1e18, allow_nan=False)
mappings = st.dictionaries(texts, texts, max_size=3)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
accelerators = st.builds(Accelerators, name=texts, count=wholes, is_tpu=st.booleans())
tuples = st.lists(texts, max_size=3).map(tuple)
specs = st.builds(
    Spec,
    name=texts,
    run=texts,
    launch=st.sampled_from(Launch),
    workdir=texts,
    setup=some_text,
    image=some_text,
    env=mappings,
    secrets=mappings,
    resources=st.builds(
        Resources,
        accelerators=st.lists(accelerators, max_size=2).map(tuple),
        nodes_min=wholes,
        nodes_max=wholes,
        cpus=st.none() | numbers,
        memory_bytes=st.none() | wholes,
        disk_bytes=st.none() | wholes,
        machine=some_text,
    ),
    where=st.builds(Where, engines=tuples, regions=tuples, buy=tuples, race=wholes),
    engine=st.dictionaries(texts, st.dictionaries(texts, json_values, max_size=3), max_size=2),
    work=st.none()
    | st.builds(
        Work,
        steps=st.none() | wholes,
        params=st.none() | numbers,
        tokens=st.none() | numbers,
        reference_accelerators=st.none() | accelerators,
        reference_nodes=st.none() | wholes,
        reference_step_s=st.none() | numbers,
    ),
    limits=st.builds(
        Limits,
        deadline_s=st.none() | numbers,
        budget_usd=st.none() | numbers,
        restarts=wholes,
        ttl_s=st.none() | numbers,
    ),
    checkpoint=st.none()
    | st.builds(Checkpoint, to=some_text, every_s=st.none() | numbers, keep=wholes),
    data=mappings,
    labels=mappings,
)


@given(specs)
def test_a_spec_comes_back_exactly(spec):
    text = to_json(spec)
    assert from_json(text) == spec
    assert to_json(from_json(text)) == text


def test_the_order_of_keys_does_not_matter():
    first = Spec(name="a", run="b", env={"A": "1", "B": "2"}, engine={"x": {"p": 1, "q": 2}})
    second = Spec(name="a", run="b", env={"B": "2", "A": "1"}, engine={"x": {"q": 2, "p": 1}})
    assert to_json(first) == to_json(second)


def test_a_field_that_an_older_windlass_did_not_write_takes_its_default():
    fields = json.loads(to_json(Spec(name="a", run="b")))
    for name in set(fields) - {"name", "run", "format"}:
        del fields[name]
    assert from_json(json.dumps(fields)) == Spec(name="a", run="b")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 2}', '{"format": 1, "name": "a"}', '{"format": 1, "x": 1}']
)
def test_what_is_no_stored_spec_is_an_internal_error(text):
    with pytest.raises(InternalError):
        from_json(text)
