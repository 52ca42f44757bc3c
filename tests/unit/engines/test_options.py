"""What only one engine knows, read strictly."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from windlass.engines.options import read_options
from windlass.errors import EngineRejected


@dataclass(frozen=True, slots=True, kw_only=True)
class Spare:
    name: str = ""
    size: int = 3
    is_on: bool = False


def test_the_specs_options_win_over_the_configurations():
    found = read_options(Spare, "spare", {"name": "a"}, defaults={"name": "b", "size": 4})
    assert found == Spare(name="a", size=4)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"nam": "a"}, "engine.spare has no option 'nam'"),
        ({"size": "3"}, "engine.spare.size is '3'"),
        ({"size": True}, "engine.spare.size is True"),
        ({"is_on": 1}, "engine.spare.is_on is 1"),
    ],
    ids=["unknown", "text for a number", "yes for a number", "a number for yes"],
)
def test_what_makes_no_sense_is_refused(given, message):
    with pytest.raises(EngineRejected) as refused:
        read_options(Spare, "spare", given, defaults={})
    assert refused.value.message == message
