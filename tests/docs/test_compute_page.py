"""The page of the compute engine names every option with its default."""

from __future__ import annotations

import dataclasses

import tree
from windlass.engines.compute.options import ComputeOptions

PAGE = "docs/engines/compute.md"


def shown(default: object) -> str:
    if default == "":
        return "none"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def test_every_option_is_in_the_table_with_what_holds_when_it_is_left_out():
    rows = [line.split(" | ") for line in tree.text(PAGE).splitlines() if line.startswith("| `")]
    table = {name.strip("|` "): default for name, default, *_ in rows}
    wanted = {one.name: shown(one.default) for one in dataclasses.fields(ComputeOptions)}
    assert {name: table.get(name) for name in wanted} == wanted
