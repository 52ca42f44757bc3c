"""One real twin for all cases of a file, in which nothing goes wrong yet.

Must not hold tests.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from faulty_twin import FaultyTwin


@pytest.fixture(scope="module")
def one_twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyTwin]:
    """A minute passes in a second; machines are modelled."""
    twin = FaultyTwin.start(tmp_path_factory.mktemp("faults"), speed=60.0, live=0)
    yield twin
    twin.stop()


@pytest.fixture
def twin(one_twin: FaultyTwin) -> Iterator[FaultyTwin]:
    """The twin; whatever a test lets go wrong ends with it."""
    yield one_twin
    one_twin.clear()
