"""Engines by name."""

from __future__ import annotations

import pytest

from sites import make_site
from windlass.engines.registry import build_engine, engine_names
from windlass.errors import OptionRefused


def test_every_engine_is_built_under_its_own_name(tmp_path):
    site = make_site(tmp_path)
    assert [build_engine(name, site).name for name in engine_names()] == engine_names()


def test_an_unknown_engine_is_refused_with_those_there_are(tmp_path):
    with pytest.raises(OptionRefused) as refused:
        build_engine("nonsense", make_site(tmp_path))
    assert refused.value.message == "there is no engine called 'nonsense'"
    assert refused.value.remedy == f"Engines here: {', '.join(sorted([*engine_names(), 'gcp']))}."
    with pytest.raises(OptionRefused) as refused:
        build_engine("vertx", make_site(tmp_path))
    assert refused.value.remedy == "Did you mean `vertex`?"
    with pytest.raises(OptionRefused, match="stands for several engines"):
        build_engine("gcp", make_site(tmp_path))


def test_names_are_sorted_and_each_is_there_once():
    assert engine_names() == sorted(set(engine_names()))
