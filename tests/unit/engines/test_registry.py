"""Engines by name."""

from __future__ import annotations

import pytest

from conformance.engines import Bench
from windlass.engines.registry import build_engine, engine_names
from windlass.errors import OptionRefused


def test_every_engine_is_built_under_its_own_name(tmp_path):
    for name in engine_names():

        def build(site, name=name):
            return build_engine(name, site)

        assert Bench(build, tmp_path / name).engine.name == name


def test_an_unknown_engine_is_refused_with_those_there_are(tmp_path):
    with pytest.raises(OptionRefused) as refused:
        Bench(lambda site: build_engine("nonsense", site), tmp_path)
    assert refused.value.message == "there is no engine called 'nonsense'"
    assert refused.value.remedy == f"Engines here: {', '.join(engine_names())}."


def test_names_are_sorted_and_each_is_there_once():
    assert engine_names() == sorted(set(engine_names()))
