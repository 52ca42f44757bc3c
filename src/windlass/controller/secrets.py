"""Secrets of runs on the caller's own machine: private files, never the store.

Must not print, log or return a value to anything but the file. Removed when the run has ended.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from windlass.engines.base import Engine, KeepsSecrets
from windlass.errors import SecretMissing


def check_available(
    secrets: Mapping[str, str], *, engine: Engine[Any], caller: Mapping[str, str]
) -> None:
    """Raise SecretMissing for those that are not where the engine's nodes get them from."""
    if isinstance(engine, KeepsSecrets):
        engine.check_secrets(secrets)
    else:
        check_present(secrets, caller)


class SecretFiles:
    """One file a run, readable by its owner alone."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def keep_for(
        self,
        run_id: str,
        secrets: Mapping[str, str],
        *,
        engine: Engine[Any],
        caller: Mapping[str, str],
    ) -> None:
        """Keep what the engine's nodes cannot get for themselves."""
        if not isinstance(engine, KeepsSecrets):
            self.keep(run_id, secrets, caller)

    def keep(self, run_id: str, secrets: Mapping[str, str], caller: Mapping[str, str]) -> None:
        """Take the values from the caller's environment; SecretMissing names all that lack."""
        if not secrets:
            return
        check_present(secrets, caller)
        values = {name: caller[source] for name, source in secrets.items()}
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._root / f"{run_id}.json"
        staged = path.with_suffix(".new")
        try:
            with open(staged, "w", encoding="utf-8", opener=_private) as file:
                json.dump(values, file)
            staged.replace(path)
        except BaseException:
            staged.unlink(missing_ok=True)
            raise

    def path(self, run_id: str) -> Path | None:
        """The run's file; None when it has no secrets."""
        path = self._root / f"{run_id}.json"
        return path if path.exists() else None

    def forget(self, run_id: str) -> None:
        """The run has ended: nobody needs them any more."""
        (self._root / f"{run_id}.json").unlink(missing_ok=True)

    def forget_if(self, is_over: Callable[[str, float], bool]) -> None:
        """Remove what a killed process did not, where `is_over(run, when it was kept)`."""
        if not self._root.is_dir():
            return
        for path in sorted(self._root.iterdir()):
            try:
                kept_at = path.stat().st_mtime
            except FileNotFoundError:
                continue
            if is_over(path.stem, kept_at):
                path.unlink(missing_ok=True)


def check_present(secrets: Mapping[str, str], caller: Mapping[str, str]) -> None:
    """Raise SecretMissing for those that the caller's environment does not have."""
    missing = sorted(source for source in secrets.values() if source not in caller)
    if missing:
        raise SecretMissing(
            f"not set in the environment: {', '.join(missing)}",
            remedy=f"Run `export {missing[0]}=…` first, or remove it from `secrets:` of the spec.",
        )


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
