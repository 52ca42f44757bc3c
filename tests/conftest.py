"""What holds for every test: no network, no home of the user's, no process left behind.

Must not hold fixtures that only some tests need; those stand beside the tests.
"""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

import counts
import isolation
from goldens import Golden

TESTS = Path(__file__).parent

# Tests that start processes are checked one by one; the others together, at the end.
STARTS_PROCESSES = ("kill", "conformance", "unit/agent", "unit/engines", "unit/cli")

_numbers = itertools.count(1)

# `make test` tries the same examples everywhere and every day; `make soak` looks for new ones.
hypothesis.settings.register_profile(
    "windlass",
    max_examples=counts.EXAMPLES,
    derandomize="WINDLASS_EXAMPLES" not in os.environ,
    deadline=None,
    database=None,
    print_blob=True,
)
hypothesis.settings.load_profile("windlass")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden`, for whoever changed a request on purpose."""
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares what is rendered with what is kept under tests/golden."""
    return Golden(is_updating=request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def _marks(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """What only this session's processes carry: its folder, and its name in their environment."""
    return (f"WINDLASS_TEST_ID={os.getpid()}-", f"{tmp_path_factory.getbasetemp()}/")


@pytest.fixture(scope="session", autouse=True)
def _session(tmp_path_factory: pytest.TempPathFactory, _marks: tuple[str, ...]) -> Iterator[None]:
    """Cut the whole session off from the network and the user's home; look for leftovers."""
    with pytest.MonkeyPatch.context() as patch:
        isolation.clear_environment(keep=counts.NAMES)
        isolation.block_network(patch)
        home = tmp_path_factory.mktemp("home")
        patch.setenv("HOME", str(home))
        patch.setenv("WINDLASS_HOME", str(home / "windlass"))
        patch.setenv("WINDLASS_TEST_ID", f"{os.getpid()}-0")
        yield
    _fail_for(isolation.end_left_behind(_marks, {}), "the tests")


@pytest.fixture(autouse=True)
def _test(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    _session: None,
    _marks: tuple[str, ...],
) -> Iterator[None]:
    """Give each test a home of its own, and check that it leaves no process behind."""
    number = next(_numbers)
    home = tmp_path_factory.getbasetemp() / f"w{number}"
    monkeypatch.setenv("WINDLASS_HOME", str(home))
    monkeypatch.setenv("WINDLASS_TEST_ID", f"{os.getpid()}-{number}")
    if not request.path.relative_to(TESTS).as_posix().startswith(STARTS_PROCESSES):
        yield
        return
    before = isolation.processes_of(_marks)
    yield
    _fail_for(isolation.end_left_behind(_marks, before), "this test")


def _fail_for(left: list[isolation.Process], who: str) -> None:
    if left:
        shown = "\n".join(f"  {process.pid}: {process.command}" for process in left)
        pytest.fail(f"{who} left processes behind (killed now):\n{shown}", pytrace=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests measured: whatever they gave to `record_property`."""
    lines = [
        f"{report.nodeid}: {name} = {value}"
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for name, value in report.user_properties
    ]
    if lines:
        terminalreporter.section("figures")
        terminalreporter.write_line("\n".join(sorted(lines)))


@pytest.fixture(autouse=True)
def _no_signal_is_held_back():
    """Programs that a later test starts would inherit it, and could not be told to end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
