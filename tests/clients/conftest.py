"""One real twin for all clients of a test process; at its end everything said to it is checked.

Must not hold tests.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import records
from client_twin import ClientTwin
from clients.mismatches import unexplained


@pytest.fixture(scope="session")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClientTwin]:
    """Up until the last client is done. Whatever they asked and were answered must be as Google's
    own documents say."""
    twin = ClientTwin.start(tmp_path_factory.mktemp("clients"))
    try:
        yield twin
    finally:
        twin.stop()
    wrong = unexplained(records.findings(twin.record))
    if wrong:
        shown = "\n".join(f"  {count} x {what}" for what, count in sorted(wrong.items()))
        pytest.fail(f"not as Google's documents say:\n{shown}", pytrace=False)


@pytest.fixture
def machines(twin: ClientTwin) -> None:
    """For tests of what happens inside machines."""
    reason = twin.refusal()
    if reason is not None:
        pytest.skip(f"machines are only modelled on this host: {reason}")


@pytest.fixture
def env(twin: ClientTwin, monkeypatch: pytest.MonkeyPatch) -> ClientTwin:
    """The twin, with this process's environment as `windlass twin env` sets it: clients that are
    told nothing find it."""
    for name, value in twin.changes().items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    return twin
