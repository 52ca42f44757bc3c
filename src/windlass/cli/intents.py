"""What users want of a run that exists: written to the store, then the controller is woken.

Must not carry it out: the controller does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from windlass.errors import RunNotReady
from windlass.state.model import Event, Run
from windlass.state.phases import RunPhase, Wanted, is_ended

if TYPE_CHECKING:
    from windlass.assemble import Home


def stop_run(home: Home, run: Run, *, is_urgent: bool = False) -> Run:
    """Ask for the run to be stopped; nothing happens when it has ended already."""
    if is_ended(run.phase):
        return run
    home.summons.check_here(run)
    said = "asked to stop at once" if is_urgent else "asked to stop"
    event = _event(home, run, code="stop-asked", message=f"{said} by the user")
    stopped = home.store().want(run.id, Wanted.KILL if is_urgent else Wanted.STOP, event)
    home.wake(run)
    return stopped


def _event(home: Home, run: Run, *, code: str, message: str) -> Event:
    at = home.world.clock.now()
    return Event(run=run.id, attempt=run.attempt, at=at, code=code, message=message)


def retry_run(home: Home, run: Run) -> Run:
    """Queue an ended run again; its next attempt goes on from the last checkpoint."""
    if not is_ended(run.phase):
        raise RunNotReady(
            f"{run.id} has not ended: it is {run.phase}",
            remedy=f"Watch it with `windlass attach {run.id}`, or stop it first with "
            f"`windlass stop {run.id}`.",
        )
    if run.phase is RunPhase.SUCCEEDED:
        raise RunNotReady(
            f"{run.id} has succeeded: there is nothing to try again",
            remedy="Start a new run of the same spec with `windlass run SPEC`.",
        )
    home.summons.check_here(run)
    from windlass.controller.secrets import check_available
    from windlass.spec.canonical import from_json

    if run.cloud:
        home.summons.check_free()
    spec = from_json(run.spec)
    if spec.secrets:
        engine = home.engine(run.engine)
        check_available(spec.secrets, engine=engine, caller=home.caller)
        # Secrets are forgotten when a run ends: the next attempts get what the caller has now.
        home.secrets.keep_for(run.id, spec.secrets, engine=engine, caller=home.caller)
    queued = requeued(run, now=home.world.clock.now(), ttl_s=spec.limits.ttl_s)
    event = _event(home, run, code="retried", message="queued again by the user")
    written = home.store().requeue(queued, event)
    home.wake(run)
    return written


def requeued(run: Run, *, now: float, ttl_s: float | None) -> Run:
    """The run as it is written back: queued, with its limits counted anew; what it has spent stays
    spent."""
    return replace(
        run,
        phase=RunPhase.QUEUED,
        wanted=Wanted.RUN,
        restarts=0,
        quick_losses=0,
        next_attempt_at=0.0,
        ended_at=None,
        expires_at=None if ttl_s is None else now + ttl_s,
        market="{}",  # Quota may have grown since; what is out of stock says so again.
        outcome=None,
        code="",
        reason="",
    )
