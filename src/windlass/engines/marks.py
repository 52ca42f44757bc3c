"""The marks of asks in runs' folders: what was once asked for is never asked for again.

Must not know what is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from windlass.agent import layout
from windlass.agent.folder import Folder
from windlass.errors import EngineTransient
from windlass.ports.clock import Clock

ASKED = "asked"
HURRY = "hurry.json"
"""In a claim's folder: its nodes, which are being told to end, are to do so at once."""


class Mark:
    """What is known of the asks for one claim. Made before the first: a crash in between leaves a
    mark that says so."""

    def __init__(self, folder: Folder, name: str, said: dict[str, Any]) -> None:
        self._folder = folder
        self._name = name
        self._said = said

    @property
    def is_asked(self) -> bool:
        """Whether an ask was answered."""
        return ASKED in self._said

    @property
    def first_at(self) -> float:
        """When the claim was first to be asked for."""
        return float(self._said["first_at"])

    def asked(self, answer: str) -> None:
        """The ask was taken; `answer` is what the engine calls it."""
        self._said[ASKED] = answer
        try:
            self._folder.write(self._name, json.dumps(self._said).encode())
        except OSError as error:
            raise EngineTransient(f"the run's folder cannot be written: {error}") from error


class Marks:
    """Marks of one engine's asks, in the folders of the runs."""

    def __init__(self, engine: str, *, clock: Clock, open_folder: Callable[[str], Folder]) -> None:
        self._engine = engine
        self._clock = clock
        self._open_folder = open_folder

    def of(self, folder_url: str, attempt: int, claim: str) -> Mark:
        """The mark of a claim, made if there is none."""
        name = f"{layout.claim(attempt, claim)}/{self._engine}.json"
        fresh = {"first_at": self._clock.now()}
        try:
            folder = self._open_folder(folder_url)
            if folder.create(name, json.dumps(fresh).encode()):
                return Mark(folder, name, fresh)
            return Mark(folder, name, json.loads(folder.read(name) or b"{}") or fresh)
        except OSError as error:
            raise EngineTransient(f"the run's folder cannot be written: {error}") from error

    def age_s(self, mark: Mark) -> float:
        """How long ago a claim was first to be asked for."""
        return self._clock.now() - mark.first_at

    def hurry(self, claim_folder_url: str) -> None:
        """For engines that can end machines only with all their patience: let none be needed."""
        try:
            self._open_folder(claim_folder_url).write(HURRY, b"{}")
        except OSError as error:
            raise EngineTransient(f"the run's folder cannot be written: {error}") from error


def claim_folder(folder_url: str, attempt: int, claim: str) -> str:
    """The URL of a claim's own folder, as nodes are told it."""
    return f"{folder_url}/{layout.claim(attempt, claim)}"
