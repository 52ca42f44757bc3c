"""A file that somebody else made is taken as a catalog or refused with words, and never breaks."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogs import sections_of, write_tables
from windlass.catalog.check import check
from windlass.catalog.container import compose
from windlass.catalog.install import read_checked
from windlass.catalog.load import PACKAGED
from windlass.catalog.tables import Complaints
from windlass.errors import CatalogRefused

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-5, 10**13)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["H100", "v5e", "a3-highgpu-8g", "us-central1", "spot", "tpu", "", "a,b"])
)
values = st.recursive(
    scalars,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=5), below),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The sections of a small catalog."""
    folder = write_tables(tmp_path_factory.mktemp("catalog") / "tables")
    return sections_of(read_checked(folder, today="2026-11-15").data)


def places(value):
    """Every container inside, with the keys it can be changed at."""
    if isinstance(value, dict) and value:
        yield value, list(value)
        for cell in value.values():
            yield from places(cell)
    elif isinstance(value, list) and value:
        yield value, list(range(len(value)))
        for cell in value:
            yield from places(cell)


@given(st.data())
def test_a_changed_file_is_taken_or_refused_and_never_breaks(small, data):
    sections = copy.deepcopy(small)
    for _ in range(data.draw(st.integers(1, 3))):
        inside, keys = data.draw(st.sampled_from(list(places(sections))))
        key = data.draw(st.sampled_from(keys))
        if isinstance(inside, dict) and data.draw(st.booleans()):
            inside[data.draw(st.text(max_size=6))] = inside.pop(key, None)
        else:
            inside[key] = data.draw(values)
    try:
        catalog = check(compose("2026-09-01", sections), Complaints(), where="it")
    except CatalogRefused as refused:
        assert refused.context
        assert refused.remedy
        return
    for offer in catalog.all_offers():
        assert catalog.offer(offer.id) == offer
        assert offer.usd_per_h > 0
    assert all(price.usd >= 0 for price in catalog.other_prices)
    assert len(list(catalog.machines.values())) == len(catalog.machines)
    assert len(list(catalog.images)) == len(catalog.images)


@given(position=st.integers(0, 188_000), byte=st.integers(0, 255))
def test_no_single_byte_can_be_changed_unnoticed(position, byte):
    data = bytearray(PACKAGED.read_bytes())
    position %= len(data)
    if data[position] == byte:
        return
    data[position] = byte
    with pytest.raises(CatalogRefused):
        check(bytes(data), Complaints(), where="it")
