from __future__ import annotations

from typing import Any

import pytest

from windlass.twin.refusals import Refusal
from windlass.twin.wellknown import duration_s, moment, patched

BEFORE = {"name": "n", "labels": {"a": "1", "b": "2"}, "config": {"size": 1, "kind": "x"}}
PATCHES: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "only what the mask names": ({"labels": {}, "config": {"size": 2}}, "labels", {"labels": {}}),
    "inside": ({"config": {"size": 2}}, "config.size", {"config": {"size": 2, "kind": "x"}}),
    "what the change lacks is cleared": ({}, "config.kind", {"config": {"size": 1}}),
    "names with underscores": ({"newField": 1}, "new_field", {"newField": 1}),
    "something new inside": ({"a": {"b": 1}}, "a.b", {"a": {"b": 1}}),
    "all that the change has": ({"labels": {}}, "", {"labels": {}}),
    "a star": ({"labels": {}, "name": "m"}, "*", {"labels": {}}),
}


@pytest.mark.parametrize("case", PATCHES)
def test_patch_changes(case: str) -> None:
    change, mask, changed = PATCHES[case]
    assert patched(BEFORE, change, mask, fixed=("name",)) == {**BEFORE, **changed}


def test_what_is_patched_stays_as_it_was() -> None:
    result = patched(BEFORE, {"config": {"size": 9}}, "config.size")
    assert (result["config"]["size"], BEFORE["config"]) == (9, {"size": 1, "kind": "x"})


def test_fixed_field_in_a_mask_is_refused() -> None:
    with pytest.raises(Refusal, match="cannot be updated"):
        patched(BEFORE, {"name": "m"}, "name", fixed=("name",))


@pytest.mark.parametrize(("text", "seconds"), [("3600s", 3600.0), ("0.5s", 0.5), ("-1s", -1.0)])
def test_duration_is_read(text: str, seconds: float) -> None:
    assert duration_s(text) == seconds


def test_moments_with_and_without_a_zone_are_read() -> None:
    assert moment("1970-01-01T00:01:00Z") == moment("1970-01-01T00:01:00") == 60.0


@pytest.mark.parametrize("read", [duration_s, moment])
def test_nonsense_is_refused(read: Any) -> None:
    with pytest.raises(Refusal, match="nonsense"):
        read("nonsense")
