"""Gathers what is known of a run, from the store and its folder, for `explain` and `show`.

Must not judge it: windlass.controller.explain does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windlass.agent import layout
from windlass.controller.explanation import Facts, NodeFacts
from windlass.controller.logs import Choice, gang_size, read_json, tail_lines, winning_claim
from windlass.state.phases import ENDED_RUNS, RunPhase, is_ended

if TYPE_CHECKING:
    from windlass.agent.folder import Folder
    from windlass.assemble import Home
    from windlass.controller.report import Loss
    from windlass.state.model import Attempt, Run

LAST_LINES = 12
EARLY_S = 30.0
"""Before that, a machine that says nothing is only booting."""


def gather(home: Home, run: Run) -> Facts:
    """Everything an explanation may look at."""
    from windlass.spec.canonical import from_json

    store, folder = home.store(), home.folder(run.id)
    attempts = tuple(store.list_attempts(run.id))
    return Facts(
        run=run,
        now=home.world.clock.now(),
        attempts=attempts,
        claims=tuple(store.list_claims(run.id)),
        nodes=nodes_of(folder, run, now=home.world.clock.now()),
        last_lines=_last_lines(folder, run, attempts),
        early_lines=_early_lines(home, run, attempts),
        others=() if is_ended(run.phase) else _others(home, run),
        restarts_max=from_json(run.spec).limits.restarts,
        losses=_losses(home, run),
        is_controller_alive=is_ended(run.phase) or home.is_controller_alive(),
    )


def nodes_of(folder: Folder, run: Run, *, now: float) -> tuple[NodeFacts, ...]:
    """The nodes of the newest attempt; none before its machines are up."""
    claim = winning_claim(folder, run.attempt) if run.attempt else None
    if claim is None:
        return ()
    nodes = []
    for index in range(gang_size(folder, run.attempt)):
        order = (run.attempt, claim, index)
        beat = read_json(folder, layout.heartbeat(*order))
        left = read_json(folder, layout.exit_file(*order))
        state = str(left["outcome"]) if left else str(beat.get("state", "")) if beat else ""
        at = left.get("time") if left else beat.get("time") if beat else None
        age_s = None if at is None else max(0.0, now - float(at))
        address = str(beat.get("address", "")) if beat else ""
        nodes.append(
            NodeFacts(
                index=index,
                address=address,
                state=state,
                beat_age_s=age_s,
                has_ended=left is not None,
            )
        )
    return tuple(nodes)


def _last_lines(folder: Folder, run: Run, attempts: tuple[Attempt, ...]) -> tuple[str, ...]:
    """What the rank printed that failed, in the last attempt that has ended."""
    ended = [one for one in attempts if one.ended_at is not None]
    if not ended or run.phase is RunPhase.SUCCEEDED:
        return ()
    last = ended[-1]
    is_setup = last.code == "setup-failed"
    choice = Choice(
        node=last.failed_node,
        rank=None if is_setup else last.failed_rank,
        attempt=last.number,
        has_ranks=not is_setup,
        has_setup=is_setup,
    )
    lines = tail_lines(folder, run.attempt, choice, count=LAST_LINES)
    return tuple(line.text for line in lines)


def _early_lines(home: Home, run: Run, attempts: tuple[Attempt, ...]) -> tuple[str, ...]:
    """What machines said of which no agent was ever heard: now, or when they were still there."""
    last = attempts[-1] if attempts else None
    if last is None or last.winner or last.started_at is not None:
        return ()
    from windlass.controller.early import asked, kept

    now, folder = home.world.clock.now(), home.folder(run.id)
    for claim in reversed(home.store().list_claims(run.id)):
        is_due = claim.attempt == last.number and now - claim.created_at >= EARLY_S
        if is_due and claim.handle and not claim.refused:
            return asked(home.engine(claim.engine), claim.handle) or kept(folder, claim)
    return ()


def _losses(home: Home, run: Run) -> tuple[Loss, ...]:
    """Work that was done in vain; read only where there can be any."""
    if run.attempt < 2:
        return ()
    from windlass.cli.attach import report_of

    return report_of(home, run).losses


def _others(home: Home, run: Run) -> tuple[Run, ...]:
    live = [phase for phase in RunPhase if phase not in ENDED_RUNS]
    found = home.store().list_runs(phases=live, limit=1000)
    return tuple(one for one in reversed(found) if one.engine == run.engine and one.id != run.id)
