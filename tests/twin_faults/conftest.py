"""One real twin for all cases of a file, in which nothing goes wrong yet.

Must not hold tests.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import records
from faulty_twin import FaultyTwin


@pytest.fixture(scope="module")
def one_twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyTwin]:
    """A minute passes in a second; machines are modelled. However badly things go, its answers are
    as Google's documents say."""
    folder = tmp_path_factory.mktemp("faults")
    record = folder / "record.jsonl"
    twin = FaultyTwin.start(folder, speed=60.0, live=0, record=str(record))
    yield twin
    twin.stop()
    wrong = records.findings(record, only="answer")
    assert not wrong, "\n".join(wrong)


@pytest.fixture
def twin(one_twin: FaultyTwin) -> Iterator[FaultyTwin]:
    """The twin; whatever a test lets go wrong ends with it."""
    yield one_twin
    one_twin.clear()
