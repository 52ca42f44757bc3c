"""How a gang ended, read from what its nodes and its engine show: the exit classes.

Must not decide what follows from it (decide.py does). Pure.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass, replace

from windlass.agent.node import EXIT_PREEMPTED, LEASE_S
from windlass.controller.view import ClaimView, GangEnd, NodeView, Notice, View
from windlass.engines.base import Seen
from windlass.state.phases import Outcome

LEASE_MARGIN_S = 5.0
"""Beyond the agent's own lease: time for its SIGKILL to have worked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How an attempt ended and why."""

    outcome: Outcome
    code: str
    reason: str
    exit_status: int | None = None
    node: int | None = None
    rank: int | None = None


Rule = Callable[[View, ClaimView], Ending | None]


def ending_of(view: View, claim: ClaimView) -> Ending | None:
    """How the claim's gang ended; None while it goes on, has not begun, or is not clear yet."""
    rules: tuple[Rule, ...] = (_by_success, _by_early_exit, _by_engine, _by_silence)
    if claim.end is not None:
        rules = (_by_preemption, _by_lost_peer, _by_engine, _by_silence, _by_first_failure)
    for rule in rules:
        ending = rule(view, claim)
        if ending is not None:
            return ending
    return None


def can_have_live_ranks(view: View, claim: ClaimView) -> bool:
    """Whether ranks of this claim may be alive, or may still come alive. When in doubt, yes."""
    if view.winner is not None and view.winner != claim.claim.id:
        return False  # The fence is another's, or nobody's, for ever.
    if is_gone(view, claim):
        return view.winner is None  # Gone, but a lost submit may yet bring it up.
    if view.winner is None:
        return True
    return not all(_is_node_silent(node) for node in claim.nodes)


def is_gone(view: View, claim: ClaimView) -> bool:
    """Whether the engine's GONE is older than the oldest thing it may be telling."""
    return claim.gone_for_s is not None and claim.gone_for_s >= view.limits.stale_s


def _is_node_silent(node: NodeView) -> bool:
    """Its ranks have ended: it said so, or its lease has run out and it stopped them itself."""
    if node.exit is not None:
        return True
    return node.beat_age_s is not None and node.beat_age_s > LEASE_S + LEASE_MARGIN_S


def _by_preemption(view: View, claim: ClaimView) -> Ending | None:
    end = claim.end
    assert end is not None
    if claim.notice is not None:
        is_in_time = end.status == EXIT_PREEMPTED
        then = "its ranks left in time" if is_in_time else f"then {end.reason}"
        reason = f"{_taken_away(claim, claim.notice)}; {then}"
    elif end.status == EXIT_PREEMPTED:
        reason = f"{_rank_of(end)} asked to be started again (exit status {EXIT_PREEMPTED})"
    elif end.outcome == "preempted":
        reason = end.reason
    else:
        return None
    return replace(_failure(end, Outcome.PREEMPTED, "preempted"), reason=reason)


def _by_lost_peer(view: View, claim: ClaimView) -> Ending | None:
    """A node that was cut off ended its own ranks first; the others failed because of it."""
    index = _first(claim, lambda node: node.exit is not None and node.exit.outcome == "lost")
    return None if index is None else _lost(claim, f"node {index} was cut off", node=index)


def _by_first_failure(view: View, claim: ClaimView) -> Ending | None:
    """Only when every node has left in good order: ranks also fail because a node vanished, and
    they fail before anybody can know that it did."""
    end = claim.end
    assert end is not None
    if any(node.exit is None for node in claim.nodes):
        return None
    return _failure(end, Outcome.USER_ERROR, _code_of(end.status, end.reason))


def _failure(end: GangEnd, outcome: Outcome, code: str) -> Ending:
    return Ending(
        outcome=outcome,
        code=code,
        reason=end.reason,
        exit_status=end.status,
        node=end.node,
        rank=end.rank,
    )


def _taken_away(claim: ClaimView, notice: Notice) -> str:
    """Who was told what, and how long before."""
    who = "a node" if notice.node is None else f"node {notice.node}"
    where = f" on {claim.claim.offer}" if claim.claim.offer else ""
    ahead = "" if notice.seconds is None else f" with {notice.seconds:.0f} s of notice"
    return f"{who}{where} was taken away{ahead}{_because(notice.reason)}"


def _rank_of(end: GangEnd) -> str:
    return f"rank {end.rank} on node {end.node}" if end.rank is not None else f"node {end.node}"


def _code_of(status: int, reason: str) -> str:
    if reason.startswith("setup"):
        return "setup-failed"
    if status < 0:
        return f"killed-by-{_signal_name(-status).lower()}"
    return f"exit-{status}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal-{number}"


def _by_success(view: View, claim: ClaimView) -> Ending | None:
    exits = [node.exit for node in claim.nodes]
    if all(left is not None and left.outcome == "succeeded" for left in exits):
        return Ending(
            outcome=Outcome.SUCCEEDED,
            code="succeeded",
            reason="every rank ended well",
            exit_status=0,
        )
    return None


def _by_early_exit(view: View, claim: ClaimView) -> Ending | None:
    """A node left before its work was done, without a failing rank to name."""
    for index, node in enumerate(claim.nodes):
        left = node.exit
        if left is None or left.outcome in ("succeeded", "gang-ended"):
            continue
        was_taken = left.had_notice or claim.notice is not None
        reason = f"node {index} left: {left.reason}"
        if claim.notice is not None:
            reason = f"{_taken_away(claim, claim.notice)}; node {index} has left"
        return Ending(
            outcome=Outcome.PREEMPTED if was_taken else Outcome.LOST,
            code="preempted" if was_taken else "node-lost",
            reason=reason,
            node=index,
        )
    return None


def _by_engine(view: View, claim: ClaimView) -> Ending | None:
    # Whoever left because of a failure that cannot be read any more leaves no other rule to end it.
    is_told = claim.end is not None and all(node.exit is not None for node in claim.nodes)
    if is_gone(view, claim) and not is_told:
        return _lost(claim, f"the machines are gone{_because(claim.observation.reason)}")
    if claim.observation.seen is not Seen.RUNNING or claim.missing_for_s < view.limits.stale_s:
        return None
    for index in claim.observation.missing:
        if claim.nodes[index].exit is None:
            because = _because(claim.observation.reason)
            return _lost(claim, f"node {index} was lost{because}", node=index)
    return None


def _by_silence(view: View, claim: ClaimView) -> Ending | None:
    if claim.observation.seen is not Seen.RUNNING:
        return None
    index = _first(claim, lambda node: node.exit is None and _is_node_silent(node))
    if index is not None:
        age_s = claim.nodes[index].beat_age_s
        return _lost(claim, f"node {index} has not been heard of for {age_s:.0f} s", node=index)
    if claim.up_for_s < view.limits.start_timeout_s:
        return None
    index = _first(claim, lambda node: node.exit is None and node.beat_age_s is None)
    if index is None:
        return None
    return Ending(
        outcome=_outcome_of_loss(claim),
        code="start-timeout",
        reason=f"node {index} did not report within {view.limits.start_timeout_s:.0f} s",
        node=index,
    )


def _lost(claim: ClaimView, reason: str, *, node: int | None = None) -> Ending:
    outcome = _outcome_of_loss(claim)
    code = "preempted" if outcome is Outcome.PREEMPTED else "node-lost"
    if claim.notice is not None:
        reason = f"{_taken_away(claim, claim.notice)}; then {reason}"
    return Ending(outcome=outcome, code=code, reason=reason, node=node)


def _outcome_of_loss(claim: ClaimView) -> Outcome:
    return Outcome.LOST if claim.notice is None else Outcome.PREEMPTED


def _first(claim: ClaimView, is_it: Callable[[NodeView], bool]) -> int | None:
    return next((index for index, node in enumerate(claim.nodes) if is_it(node)), None)


def _because(reason: str) -> str:
    return f" ({reason})" if reason else ""
