"""Why a run waits for rented machines, or could not have them, and what to do about it.

Must not look anything up: a run and its claims in, sentences out.
"""

from __future__ import annotations

from collections.abc import Sequence

from windlass.controller.report import Loss
from windlass.state.model import Claim, Run

WAITS = frozenset({"out-of-stock", "quota-exceeded", "preempted", "waiting-to-buy"})
"""Codes of runs that wait in the queue because there is nothing to rent."""

MOVING = "moving"
"""The code of runs that are about to leave spot machines for on-demand ones."""

REMEDIES = {
    "out-of-stock": "Allow more: other `where.regions`, another way to `where.buy`, other "
    "accelerators; or let it wait, it is tried again by itself.",
    "quota-exceeded": "Ask Google for more quota (Console: IAM & Admin, Quotas), or allow other "
    "`where.regions` or another way to `where.buy`; then `windlass retry` it.",
    "place-unfit": "Make what the message names in that place (`windlass network up --region …` "
    "for subnetworks), or leave it out of `where.regions`; then `windlass retry` it.",
    "permission-missing": "Grant the role that the message names, then `windlass retry` it.",
    "api-disabled": "Turn the API on that the message names, then `windlass retry` it.",
    "credentials-missing": "Log in (`gcloud auth application-default login`), then `windlass "
    "retry` it.",
}
UNFIT = (
    "Change what the spec asks for (`resources`, `where`), or use `--emulate` to try it without "
    "the accelerators."
)
UNRENTABLE = (
    "Mend what the message names, in the spec or in config.yaml, and run it again; where it is "
    "something of the project, `windlass retry` it."
)
OUT_OF_BUDGET = (
    "Raise `limits.budget` in the spec and run it again: it goes on from a checkpoint "
    "in `checkpoint.to`."
)


def waits_for_offers(run: Run) -> bool:
    """Whether it waits because there is nothing to rent."""
    return run.code in WAITS


def refusals(claims: Sequence[Claim]) -> tuple[str, ...]:
    """What was refused in the newest attempt, one sentence in all."""
    newest = max((claim.attempt for claim in claims), default=0)
    refused = [claim for claim in claims if claim.attempt == newest and claim.refused]
    if not refused:
        return ()
    last = refused[-1]
    each = f"{last.offer or last.engine} was refused ({last.refused}): {last.error}".rstrip(": ")
    more = f" So were {len(refused) - 1} more." if len(refused) > 1 else ""
    return (f"{each.rstrip('.')}.{more}",)


def work_lost(losses: Sequence[Loss]) -> tuple[str, ...]:
    """What restarts have cost in work, one sentence in all."""
    if not losses:
        return ()
    steps = sum(loss.steps for loss in losses)
    times = [loss.seconds for loss in losses if loss.seconds is not None]
    took = f" ({sum(times):.0f} s of work)" if times else ""
    each = ", ".join(f"{loss.steps} after attempt {loss.attempt}" for loss in losses[-3:])
    noun = "step" if steps == 1 else "steps"
    return (f"{steps} {noun} had to be done again{took}: {each}.",)
