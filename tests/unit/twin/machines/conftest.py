"""Real machines for the tests beside it, or the reason why there are none here."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from patience import wait_until
from windlass.twin.machines.machines import Machines
from windlass.twin.machines.plan import Plan

_addresses = itertools.count(1)


class Farm:
    """The machines of one test module, with short ways to start them and to wait."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.machines = Machines(home)

    def start(self, name: str, **wanted: object) -> str:
        address = f"127.77.0.{next(_addresses)}"
        plan = Plan(id=name, hostname=name, address=address, **wanted)  # type: ignore[arg-type] # a test's own words
        self.machines.start(plan)
        return address

    def ask(self, name: str, command: str, *, user: str = "root") -> str:
        done = self.machines.run(name, command, user=user)
        return (done.stdout + done.stderr).decode()

    def says(self, name: str, text: str) -> None:
        wait_until(lambda: text.encode() in self.machines.console(name))

    def ends(self, name: str) -> int | None:
        wait_until(lambda: not self.machines.is_alive(name))
        return self.machines.exited(name)


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Farm]:
    farm = Farm(tmp_path_factory.mktemp("twin"))
    reason = farm.machines.refusal()
    if reason is not None:
        pytest.skip(f"machines are only modelled on this host: {reason}")
    yield farm
    for folder in (farm.home / "machines").iterdir():
        farm.machines.delete(folder.name)
