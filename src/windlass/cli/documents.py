"""What --json prints: plain dictionaries with stable keys.

Must not leave keys out: a value that is not there is null.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from windlass.cli.words import iso

if TYPE_CHECKING:
    from windlass.controller.explanation import Explanation
    from windlass.controller.logs import LogLine
    from windlass.controller.progress import Record
    from windlass.controller.report import Cost, Loss, Report
    from windlass.state.model import Attempt, Claim, Event, Run


def print_json(document: Any) -> None:
    """One document, indented."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")


def print_line(document: Any) -> None:
    """One document on one line, at once: for streams."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def run_document(run: Run) -> dict[str, Any]:
    """A run without its spec."""
    return {
        "id": run.id,
        "name": run.name,
        "phase": str(run.phase),
        "wanted": str(run.wanted),
        "engine": run.engine,
        "owner": run.owner,
        "attempt": run.attempt,
        "restarts": run.restarts,
        "created_at": iso(run.created_at),
        "started_at": iso(run.started_at),
        "ended_at": iso(run.ended_at),
        "expires_at": iso(run.expires_at),
        "outcome": str(run.outcome) if run.outcome else None,
        "code": run.code,
        "reason": run.reason,
        "emulate": bool(json.loads(run.options).get("emulate", False)),
        "cloud": run.cloud or None,
    }


def attempt_document(attempt: Attempt) -> dict[str, Any]:
    """One attempt."""
    return {
        "number": attempt.number,
        "phase": str(attempt.phase),
        "created_at": iso(attempt.created_at),
        "started_at": iso(attempt.started_at),
        "ended_at": iso(attempt.ended_at),
        "outcome": str(attempt.outcome) if attempt.outcome else None,
        "exit_status": attempt.exit_status,
        "failed_node": attempt.failed_node,
        "failed_rank": attempt.failed_rank,
        "code": attempt.code,
        "reason": attempt.reason,
        "winner": attempt.winner or None,
        "step_s": attempt.step_s,
    }


def claim_document(claim: Claim) -> dict[str, Any]:
    """One claim."""
    return {
        "id": claim.id,
        "attempt": claim.attempt,
        "engine": claim.engine,
        "phase": str(claim.phase),
        "handle": claim.handle or None,
        "created_at": iso(claim.created_at),
        "tries": claim.tries,
        "error": claim.error,
        "offer": claim.offer or None,
        "buy": claim.buy or None,
        "accelerators": claim.accelerators or None,
        "nodes": claim.nodes or None,
        "usd_per_h": claim.usd_per_h or None,
        "refused": claim.refused or None,
        "held_from": iso(claim.held_from),
        "held_until": iso(claim.held_until),
        "expires_at": iso(claim.expires_at),
    }


def event_document(event: Event) -> dict[str, Any]:
    """One event."""
    return {
        "sequence": event.sequence,
        "at": iso(event.at),
        "attempt": event.attempt,
        "code": event.code,
        "message": event.message,
        "details": dict(event.details),
    }


def line_document(line: LogLine) -> dict[str, Any]:
    """One line of a log; a null rank means that `setup` printed it."""
    return {
        "time": line.time or None,
        "attempt": line.attempt,
        "node": line.node,
        "rank": line.rank,
        "text": line.text,
    }


def record_document(record: Record) -> dict[str, Any]:
    """One record of progress."""
    return {
        "time": iso(record.time),
        "attempt": record.attempt,
        "step": record.step,
        "event": record.event or None,
        "metrics": dict(record.metrics),
    }


def report_document(report: Report) -> dict[str, Any]:
    """What a run has got done."""
    return {
        "steps": report.steps,
        "steps_total": report.steps_total,
        "step_s": report.step_s,
        "restarts": report.restarts,
        "steps_lost": report.steps_lost,
        "seconds_lost": report.seconds_lost,
        "losses": [_loss_document(loss) for loss in report.losses],
        "saved_step": report.saved_step,
        "metrics": dict(report.metrics),
        "wall_s": report.wall_s,
        "useful_s": report.useful_s,
        "goodput": report.goodput,
        "cost": cost_document(report.cost) if report.cost else None,
    }


def _loss_document(loss: Loss) -> dict[str, Any]:
    return {
        "attempt": loss.attempt,
        "steps": loss.steps,
        "seconds": loss.seconds,
        "outcome": str(loss.outcome) if loss.outcome else None,
    }


def cost_document(cost: Cost) -> dict[str, Any]:
    """What machines have cost so far."""
    return {
        "usd": round(cost.usd, 4),
        "usd_per_h": round(cost.usd_per_h, 4),
        "race_usd": round(cost.race_usd, 4),
        "claims": cost.charges,
    }


def explanation_document(explanation: Explanation) -> dict[str, Any]:
    """Why a run is where it is."""
    return {
        "headline": explanation.headline,
        "why": list(explanation.why),
        "evidence": list(explanation.evidence),
        "remedy": explanation.remedy,
        "next_commands": list(explanation.next_commands),
    }
