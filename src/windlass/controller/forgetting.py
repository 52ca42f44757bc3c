"""When the secrets of a run are no longer kept.

Must not touch a secret itself (secrets.py does).
"""

from __future__ import annotations

from windlass.controller.secrets import SecretFiles
from windlass.ports.clock import Clock
from windlass.state.phases import is_ended
from windlass.state.store import Store

UNDER_WAY_S = 3600.0
"""A command that keeps secrets for a run has written the run long before that."""


class Forgetting:
    """Lets go of secrets that nobody needs any more."""

    def __init__(self, store: Store, secrets: SecretFiles, *, clock: Clock) -> None:
        self._store = store
        self._secrets = secrets
        self._clock = clock

    def sweep(self) -> None:
        """Forget everything that is over."""
        self._secrets.forget_if(self._is_over)

    def after_end(self, run_id: str) -> None:
        """A run has ended."""
        path = self._secrets.path(run_id)
        if path is not None and self._is_over(run_id, path.stat().st_mtime):
            self._secrets.forget(run_id)

    def _is_over(self, run_id: str, kept_at: float) -> bool:
        """Whether nobody needs secrets any more that were kept at this time. Those of a run that
        is not there yet, or that were kept after its end, are of a command that is under way."""
        run = self._store.get_run(run_id)
        if run is not None and not is_ended(run.phase):
            return False
        if run is not None and run.ended_at is not None and kept_at <= run.ended_at:
            return True
        return self._clock.now() - kept_at > UNDER_WAY_S
