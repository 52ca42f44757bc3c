"""Why a run is where it is and what to do about it, in plain words.

Must not look anything up: facts in, an explanation out. symptoms.py reads what failed runs print.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from windlass.controller.clouds import INTO_TWIN, is_twin, is_within, named, way_to
from windlass.controller.explanation import Explanation, Facts, NodeFacts
from windlass.controller.node_symptoms import SECRET, cure_of_early, symptom_of_node
from windlass.controller.renting_words import (
    MOVING,
    OUT_OF_BUDGET,
    REMEDIES,
    UNFIT,
    UNRENTABLE,
    refusals,
    waits_for_offers,
    work_lost,
)
from windlass.controller.symptoms import Symptom, symptom_of
from windlass.state.model import Attempt, Claim, Run
from windlass.state.phases import ClaimPhase, Outcome, RunPhase, Wanted

WAITING = "waiting-for-engine"
SUSPECT_S = 15.0
"""A node that has said nothing for this long may be lost."""


def explain(facts: Facts) -> Explanation:
    """Why the run is in its phase, and what to do."""
    tellers: dict[RunPhase, Callable[[Facts], Explanation]] = {
        RunPhase.QUEUED: _queued,
        RunPhase.STARTING: _starting,
        RunPhase.RUNNING: _running,
        RunPhase.STOPPING: _stopping,
        RunPhase.SUCCEEDED: _succeeded,
        RunPhase.FAILED: _failed,
        RunPhase.STOPPED: _stopped,
    }
    told = tellers[facts.run.phase](facts)
    return told if is_within(facts.run, facts.cloud) else _from_afar(facts, told)


def _from_afar(facts: Facts, told: Explanation) -> Explanation:
    """What the store knows, and the way to where the rest can be asked."""
    cloud, command = facts.run.cloud, f"explain {facts.run.id}"
    said = (
        f"It is on {named(cloud)}, and this command talks to {named(facts.cloud)}: "
        "nothing is asked or done about it from here."
    )
    return replace(
        told,
        why=(said, *told.why),
        remedy=way_to(cloud, words=command),
        next_commands=(f"{INTO_TWIN} {command}",) if is_twin(cloud) else (),
    )


# ---- live runs -------------------------------------------------------------------------------


def _queued(facts: Facts) -> Explanation:
    run = facts.run
    wait_s = run.next_attempt_at - facts.now
    if run.code == MOVING:
        return Explanation(
            headline=f"{run.id} moves from spot to on-demand machines, which are there.",
            why=(*_history(facts), *_controller(facts)),
            next_commands=_waiting_commands(facts),
        )
    if waits_for_offers(run) and wait_s > 0:
        return Explanation(
            headline=f"{run.id} waits {wait_s:.0f} s: there is nothing to rent for it now.",
            why=(_sentence(run.reason), *refusals(facts.claims), *_controller(facts)),
            remedy=REMEDIES.get(run.code, ""),
            next_commands=(f"windlass events {run.id}", f"windlass stop {run.id}"),
        )
    if run.attempt and wait_s > 0:
        headline = f"{run.id} waits {wait_s:.0f} s before it is started again."
        why = (
            *_history(facts),
            f"It fails soon after each start: {run.reason}.",
            *_unheard(facts),
        )
        return Explanation(
            headline=headline,
            why=why,
            evidence=facts.evidence,
            next_commands=(f"windlass logs {run.id} --tail 50", f"windlass stop {run.id}"),
        )
    headline = f"{run.id} is about to be started again." if run.attempt else f"{run.id} is queued."
    why = (*_history(facts), *_controller(facts), *_holders(facts))
    return Explanation(
        headline=headline,
        why=why or ("The controller has not looked at it yet; that takes a moment.",),
        next_commands=_waiting_commands(facts),
    )


def _starting(facts: Facts) -> Explanation:
    run = facts.run
    claim = facts.claims[-1] if facts.claims else None
    why: list[str] = [*_history(facts), *_controller(facts), *refusals(facts.claims)]
    if run.code == WAITING:
        headline = f"{run.id} waits for room on {run.engine}."
        if run.reason:
            why.append(_sentence(run.reason))
        why += _holders(facts)
    elif run.code == "preparing":
        headline = f"{run.id} is being prepared: {run.reason}."
        why.append(f"See what setup prints with `windlass logs {run.id} --setup -f`.")
    elif claim is not None and claim.error:
        headline = f"{run.engine} has not taken {run.id} yet."
        tries = f"{claim.tries} tries" if claim.tries != 1 else "one try"
        why.append(f"After {tries} it last said: {claim.error}")
    elif claim is not None and claim.phase is ClaimPhase.ASKED:
        headline = f"{run.engine} is being asked to start {run.id}."
    else:
        headline = f"{run.id} is starting."
        why += _nodes(facts)
    return Explanation(
        headline=headline,
        why=(*why, *_unheard(facts)),
        evidence=() if run.code == WAITING else facts.early_lines,
        next_commands=_waiting_commands(facts),
    )


def _running(facts: Facts) -> Explanation:
    run = facts.run
    why = (*_history(facts), *work_lost(facts.losses), *_controller(facts), *_nodes(facts))
    headline = f"{run.id} is running (attempt {run.attempt})."
    if run.code == MOVING:
        headline = f"{run.id} is running on spot, and is to move to on-demand machines."
        why = (_sentence(run.reason), *refusals(facts.claims), *why)
    return Explanation(
        headline=headline,
        why=why,
        next_commands=(f"windlass attach {run.id}", f"windlass show {run.id}"),
    )


def _stopping(facts: Facts) -> Explanation:
    run = facts.run
    if run.outcome is Outcome.SUCCEEDED:
        return Explanation(
            headline=f"{run.id} has done its work; its machines are being given back.",
            why=_controller(facts),
            next_commands=(f"windlass show {run.id}", f"windlass logs {run.id}"),
        )
    unasked = [one for one in facts.claims if one.phase is ClaimPhase.CANCELLING and one.error]
    if unasked:
        return _unasked(facts, unasked)
    why = (_sentence(run.reason), *_controller(facts), *_nodes(facts))
    commands: tuple[str, ...] = (f"windlass show {run.id}",)
    if run.wanted is not Wanted.KILL:
        commands += (f"windlass stop {run.id} --now",)
    return Explanation(
        headline=f"{run.id} is stopping: its ranks have been told and may still save.",
        why=tuple(filter(None, why)),
        next_commands=commands,
    )


def _unasked(facts: Facts, claims: list[Claim]) -> Explanation:
    """It cannot end before its engine says that nothing is left, and nobody can ask that."""
    run, engine = facts.run, claims[-1].engine
    remedy = "Mend that: it is asked again all the time, and the run ends by itself."
    commands = [f"windlass doctor --on {engine}", f"windlass show {run.id}"]
    if not any(claim.handle for claim in claims):
        remedy += (
            " Or end it unseen with `--now`: no machine was ever acknowledged, and `windlass reap` "
            f"looks for one once {engine} can be asked."
        )
        commands.append(f"windlass stop {run.id} --now")
    return Explanation(
        headline=f"{run.id} is over, but {engine} cannot be asked whether machines of it are left.",
        why=(_sentence(claims[-1].error), f"Why it ended: {run.reason}.", *_controller(facts)),
        remedy=remedy,
        next_commands=tuple(commands),
    )


# ---- ended runs ------------------------------------------------------------------------------


def _succeeded(facts: Facts) -> Explanation:
    return Explanation(
        headline=f"{facts.run.id} succeeded.",
        why=(*_history(facts), *work_lost(facts.losses)),
        next_commands=(f"windlass show {facts.run.id}", f"windlass logs {facts.run.id}"),
    )


def _stopped(facts: Facts) -> Explanation:
    run = facts.run
    if run.code == "ttl":
        headline = f"{run.id} was stopped because its time to live is over."
        remedy = "Raise `limits.ttl` in the spec and run it again, or retry it as it is."
    elif run.code == "budget":
        headline = f"{run.id} was stopped because {run.reason}."
        remedy = OUT_OF_BUDGET
    else:
        headline = f"{run.id} was stopped by you."
        remedy = "Retry it: it goes on from its last checkpoint."
    return Explanation(
        headline=headline,
        why=(*_history(facts), *work_lost(facts.losses)),
        remedy=remedy,
        next_commands=(f"windlass retry {run.id}", f"windlass show {run.id}"),
    )


def _failed(facts: Facts) -> Explanation:
    run = facts.run
    attempt = facts.attempts[-1] if facts.attempts else None
    if attempt is None:
        return _rejected(facts)
    if attempt.outcome in (Outcome.LOST, Outcome.PREEMPTED):
        return _gave_up(facts, attempt)
    if attempt.outcome in (Outcome.REJECTED, Outcome.REFUSED):
        return _rejected(facts)
    symptom = _symptom(facts, attempt)
    return Explanation(
        headline=_blame(run, attempt, symptom),
        why=(*symptom.why, *_history(facts)),
        evidence=facts.evidence,
        remedy=symptom.remedy,
        next_commands=_failed_commands(run, attempt, symptom),
    )


def _symptom(facts: Facts, attempt: Attempt) -> Symptom:
    if _is_of_node(attempt):
        return symptom_of_node(attempt.reason)
    return symptom_of(attempt.exit_status, attempt.code, facts.last_lines)


def _is_of_node(attempt: Attempt) -> bool:
    """Whether no rank failed: a node could not start any."""
    is_setup = attempt.code == "setup-failed"
    return attempt.failed_rank is None and bool(attempt.reason) and not is_setup


def _blame(run: Run, attempt: Attempt, symptom: Symptom) -> str:
    where = "setup" if attempt.code == "setup-failed" else _rank_name(attempt)
    said = symptom.what or attempt.reason or "it ended badly"
    return f"{run.id} failed: {where}: {said}." if where else f"{run.id} failed: {said}."


def _failed_commands(run: Run, attempt: Attempt, symptom: Symptom) -> tuple[str, ...]:
    if attempt.code == "setup-failed":
        return (f"windlass logs {run.id} --setup", f"windlass retry {run.id}")
    if symptom.name == SECRET:
        return (f"windlass doctor --on {run.engine} --spec FILE", f"windlass retry {run.id}")
    only = "" if attempt.failed_rank is None else f" --rank {attempt.failed_rank}"
    return (f"windlass logs {run.id}{only} --tail 100", f"windlass retry {run.id}")


def _gave_up(facts: Facts, attempt: Attempt) -> Explanation:
    run = facts.run
    limit = facts.restarts_max if facts.restarts_max is not None else run.restarts
    return Explanation(
        headline=f"{run.id} failed: it was lost again after {run.restarts} restarts.",
        why=(
            f"`limits.restarts` allows {limit}.",
            f"The last loss: {attempt.reason}.",
            *_unheard(facts),
            *_history(facts),
        ),
        evidence=facts.evidence,
        remedy="Raise `limits.restarts`, or find out why its nodes go away; a retry goes on from "
        "the last checkpoint.",
        next_commands=(f"windlass show {run.id}", f"windlass retry {run.id}"),
    )


def _rejected(facts: Facts) -> Explanation:
    run = facts.run
    error = next((claim.error for claim in reversed(facts.claims) if claim.error), "")
    said = run.reason or error or "no reason was given"
    doctor, otherwise = "windlass doctor", UNFIT
    if any(claim.offer for claim in facts.claims):
        doctor, otherwise = f"windlass doctor --on {run.engine} --spec FILE", UNRENTABLE
    return Explanation(
        headline=f"{run.id} failed: {run.engine} will not take it.",
        why=(_sentence(said),),
        remedy=REMEDIES.get(run.code, otherwise),
        next_commands=(doctor, f"windlass show {run.id}"),
    )


# ---- sentences they share --------------------------------------------------------------------


def _unheard(facts: Facts) -> tuple[str, ...]:
    if not facts.early_lines or facts.last_lines:
        return ()
    if facts.run.code == WAITING:
        return (f"The last that was said of it: {facts.early_lines[-1]}",)
    said = "No agent was heard from its machines; what they said themselves is below."
    return (said, *cure_of_early(facts.early_lines))


def _history(facts: Facts) -> tuple[str, ...]:
    """One sentence about the attempts before the newest."""
    earlier = [one for one in facts.attempts if one.number != facts.run.attempt and one.reason]
    if facts.run.phase is RunPhase.QUEUED:
        earlier = [one for one in facts.attempts if one.reason]
    if not earlier:
        return ()
    last = earlier[-1]
    if len(earlier) == 1:
        return (f"Attempt {last.number} ended: {last.reason}.",)
    return (f"{len(earlier)} attempts ended before; the last: {last.reason}.",)


def _controller(facts: Facts) -> tuple[str, ...]:
    if facts.is_controller_alive:
        return ()
    return ("No controller is running; the next `windlass` command that needs one starts it.",)


def _holders(facts: Facts) -> tuple[str, ...]:
    """Who holds the machine, and who waits before this run; nobody holds what can be rented."""
    if any(claim.offer for claim in facts.claims):
        return ()
    holding = [one for one in facts.others if one.started_at and one.phase is not RunPhase.QUEUED]
    ahead = [
        one for one in facts.others if one not in holding and one.created_at < facts.run.created_at
    ]
    said = []
    if holding:
        said.append(f"{facts.run.engine} is held by {_names(holding)}.")
    if ahead:
        verb = "waits" if len(ahead) == 1 else "wait"
        said.append(f"{_names(ahead)} {verb} before it.")
    return tuple(said)


def _nodes(facts: Facts) -> tuple[str, ...]:
    silent = [node for node in facts.nodes if node.beat_age_s is None]
    said = [f"Not heard of yet: {_indexes(silent)}."] if silent else []
    for node in facts.nodes:
        age_s = node.beat_age_s
        if age_s is not None and age_s > SUSPECT_S and not node.has_ended:
            said.append(f"Node {node.index} has not been heard of for {age_s:.0f} s.")
    return tuple(said)


def _waiting_commands(facts: Facts) -> tuple[str, ...]:
    run_id = facts.run.id
    if facts.others:
        return ("windlass ps", f"windlass attach {run_id}", f"windlass stop {run_id}")
    return (f"windlass attach {run_id}", f"windlass events {run_id}", f"windlass stop {run_id}")


def _rank_name(attempt: Attempt) -> str:
    if attempt.failed_rank is None:
        return ""
    return f"rank {attempt.failed_rank} on node {attempt.failed_node or 0}"


def _names(runs: list[Run]) -> str:
    names = [one.id for one in runs[:3]]
    rest = len(runs) - len(names)
    return ", ".join(names) + (f" and {rest} more" if rest else "")


def _indexes(nodes: list[NodeFacts]) -> str:
    return ", ".join(f"node {node.index}" for node in nodes)


def _sentence(text: str) -> str:
    text = text.strip()
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")
