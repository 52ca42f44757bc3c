"""A real twin for real clients: a process with a port of its own, whose every call is recorded.

Must not share a home with anybody.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

from windlass.twin.machines.machines import Machines
from windlass.twin.server import control
from windlass.twin.server.home import TwinHome
from windlass.twin.server.variables import applied, variables

COMMAND_S = 300


def need_program(name: str) -> None:
    """Skip the test where there is no such program; in CI, which sees to it, fail."""
    if shutil.which(name) is None:
        _absent(f"{name} is not installed")


def need_package(module: str) -> Any:
    """A client's module. Skip where it is not installed (extra `clients`); fail in CI."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        _absent(f"{module} is not installed: `make test ALL=1` does so")


def _absent(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@dataclass
class ClientTwin:
    """A twin that runs."""

    home: TwinHome
    record: Path

    @classmethod
    def start(cls, folder: Path, **wish: Any) -> ClientTwin:
        home, record = TwinHome(folder / "twin"), folder / "record.jsonl"
        control.start(home, control.Wish(record=str(record), **wish), environment=os.environ)
        return cls(home, record)

    def stop(self) -> None:
        control.stop(self.home)

    @property
    def token(self) -> str:
        return self.home.token()

    def refusal(self) -> str | None:
        """Why machines are not real processes on this host, where they are not."""
        return Machines(self.home.path).refusal()

    def changes(self) -> dict[str, str | None]:
        """What `windlass twin env` sets and unsets."""
        running = self.home.running()
        assert running is not None
        return variables(self.home, running, mode="proxy", caller=os.environ)

    def environment(self, **more: str) -> dict[str, str]:
        """Of a program that is to find the twin."""
        return {**applied(os.environ, self.changes()), **more}

    def own_configuration(self, folder: Path) -> Path:
        """gcloud's settings once more, for somebody who changes them."""
        return shutil.copytree(self.home.gcloud, folder, ignore=shutil.ignore_patterns("logs"))

    def bash(
        self, command: str, *, cwd: Path, more: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """One command in a shell that finds the twin; both its outputs together."""
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=cwd,
            env=self.environment(**(more or {})),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=COMMAND_S,
        )
