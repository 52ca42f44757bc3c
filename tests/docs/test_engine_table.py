"""The table of engines says what their classes say."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import tree
from sites import make_site
from windlass.engines import base
from windlass.engines.registry import build_engine, engine_names

PAGE = "docs/engines/index.md"
OPTIONAL = sorted(
    name
    for name, cls in inspect.getmembers(base, inspect.isclass)
    if getattr(cls, "_is_runtime_protocol", False) and cls.__module__ == base.__name__
)


def row(name: str, home: Path) -> str:
    """The row that an engine should have."""
    engine = build_engine(name, make_site(home))
    limits = engine.limits()
    can = ["yes" if isinstance(engine, getattr(base, protocol)) else "no" for protocol in OPTIONAL]
    seconds = [limits.notice_s, limits.start_timeout_s, limits.stale_s]
    cells = [f"[{name}]({name}.md)", str(limits.nodes_max), *(f"{s:g} s" for s in seconds), *can]
    return f"| {' | '.join(cells)} |"


@pytest.mark.parametrize("name", engine_names())
def test_an_engine_has_the_row_that_its_class_gives_it(name, tmp_path):
    assert row(name, tmp_path) in tree.text(PAGE).splitlines()


def test_every_optional_protocol_has_a_column_and_is_explained():
    text = tree.text(PAGE)
    assert f"| {' | '.join(OPTIONAL)} |" in text
    assert [name for name in OPTIONAL if f"- **{name}**: " not in text] == []
