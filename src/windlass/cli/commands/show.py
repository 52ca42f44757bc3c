"""`windlass show`: everything about one run.

Must not hold logic.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.params import json_option, run_argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from windlass.assemble import Home
    from windlass.cli.terminal import Paint
    from windlass.cli.troubles import Troubles
    from windlass.controller.explanation import NodeFacts
    from windlass.state.model import Attempt, Run


@click.command("show")
@run_argument
@json_option
def command(run_name: str, is_json: bool) -> None:
    """Everything about one run: its spec, attempts, nodes, checkpoints, and what it got done."""
    from windlass.assemble import open_home
    from windlass.cli.runs import find_run
    from windlass.cli.troubles import Troubles

    home, troubles = open_home(), Troubles()
    run = find_run(home.store(), run_name)
    if is_json:
        _print_json(home, run, troubles)
    else:
        sys.stdout.write(_text(home, run, troubles) + "\n")
    troubles.tell()


def _print_json(home: Home, run: Run, troubles: Troubles) -> None:
    from windlass.cli import documents
    from windlass.cli.attach import report_of

    store = home.store()
    nodes = _nodes(home, run, troubles)
    checkpoints = _checkpoints(home, run, troubles)
    report = report_of(home, run, troubles)
    documents.print_json(
        {
            **documents.run_document(run),
            "folder": home.folders.url(run.id),
            "spec": json.loads(run.spec),
            "attempts": [
                documents.attempt_document(attempt) for attempt in store.list_attempts(run.id)
            ],
            "claims": [documents.claim_document(claim) for claim in store.list_claims(run.id)],
            "nodes": None if nodes is None else [_node_document(node) for node in nodes],
            "checkpoints": checkpoints,
            "report": documents.report_document(report),
            "unread": troubles.said,
        }
    )


def _nodes(home: Home, run: Run, troubles: Troubles) -> tuple[NodeFacts, ...] | None:
    """None when its folder cannot be read."""
    from windlass.cli.facts import nodes_of

    def read() -> tuple[NodeFacts, ...]:
        return nodes_of(home.folder(run.id), run, now=home.world.clock.now())

    return troubles.without("nodes", read, None)


def _node_document(node: NodeFacts) -> dict[str, Any]:
    return {
        "node": node.index,
        "address": node.address or None,
        "state": node.state or None,
        "heard_s_ago": None if node.beat_age_s is None else round(node.beat_age_s, 3),
        "has_ended": node.has_ended,
    }


def _checkpoints(home: Home, run: Run, troubles: Troubles) -> list[int] | None:
    """Steps of the committed checkpoints in the run's own folder; None when it cannot be read."""
    from windlass.controller.progress import checkpoint_steps

    return troubles.without("checkpoints", lambda: checkpoint_steps(home.folder(run.id)), None)


def _text(home: Home, run: Run, troubles: Troubles) -> str:
    from windlass.cli.attach import report_of
    from windlass.cli.summary import report_facts
    from windlass.cli.table import facts
    from windlass.cli.terminal import Paint

    paint = Paint(sys.stdout)
    blocks = [
        f"{paint(run.id, 'bold')}  {paint.phase(run.phase)}"
        + (f"  {run.reason}" if run.reason else ""),
        facts(_times(home, run), indent="  "),
        _titled("spec", facts(_spec_facts(run), indent="  "), paint),
    ]
    attempts = home.store().list_attempts(run.id)
    if attempts:
        blocks.append(_titled("attempts", _attempt_table(home, attempts, paint), paint))
    nodes = _nodes(home, run, troubles)
    if nodes:
        blocks.append(_titled("nodes", _node_table(nodes), paint))
    report = report_facts(report_of(home, run, troubles))
    steps = _checkpoints(home, run, troubles)
    if steps:
        report.append(("kept", "checkpoints of step " + ", ".join(map(str, steps[-5:]))))
    if report:
        blocks.append(_titled("work", facts(report, indent="  "), paint))
    return "\n\n".join(blocks)


def _titled(title: str, body: str, paint: Paint) -> str:
    return f"{paint(title.upper(), 'dim')}\n{body}"


def _times(home: Home, run: Run) -> list[tuple[str, str]]:
    from windlass.cli.words import duration, local_time
    from windlass.controller.clouds import is_twin, named

    now = home.world.clock.now()
    pairs = [("name", run.name), ("engine", run.engine), ("owner", run.owner)]
    if is_twin(run.cloud):  # That it is Google goes without saying.
        pairs.insert(2, ("cloud", named(run.cloud)))
    pairs.append(
        ("submitted", f"{local_time(run.created_at)} ({duration(now - run.created_at)} ago)")
    )
    if run.started_at is not None:
        end = run.ended_at if run.ended_at is not None else now
        took = duration(end - run.started_at)
        verb = "ran for" if run.ended_at is not None else "running for"
        pairs.append(("started", f"{local_time(run.started_at)} ({verb} {took})"))
    if run.ended_at is not None:
        pairs.append(("ended", local_time(run.ended_at)))
    elif run.expires_at is not None:
        pairs.append(("expires", f"in {duration(run.expires_at - now)} (limits.ttl)"))
    pairs.append(("folder", home.folders.shown(run.id)))
    return pairs


def _spec_facts(run: Run) -> list[tuple[str, str]]:
    from windlass.cli.words import plural
    from windlass.spec.canonical import from_json

    spec = from_json(run.spec)
    wanted = " or ".join(map(str, spec.resources.accelerators)) or "CPU"
    nodes = plural(spec.resources.nodes_min, "node")
    pairs = [("run", spec.run.strip()), ("launch", str(spec.launch))]
    pairs.append(("resources", f"{nodes} of {wanted}"))
    if spec.setup:
        pairs.insert(0, ("setup", spec.setup.strip()))
    if spec.work and spec.work.steps:
        pairs.append(("steps", str(spec.work.steps)))
    if spec.env:
        pairs.append(("env", ", ".join(f"{name}={value}" for name, value in spec.env.items())))
    if spec.secrets:
        pairs.append(("secrets", ", ".join(spec.secrets)))
    if spec.labels:
        pairs.append(("labels", ", ".join(f"{key}={value}" for key, value in spec.labels.items())))
    pairs.append(("restarts", f"{run.restarts} of {spec.limits.restarts} used"))
    return pairs


def _attempt_table(home: Home, attempts: Sequence[Attempt], paint: Paint) -> str:
    from windlass.cli.table import draw
    from windlass.cli.terminal import width
    from windlass.cli.words import duration

    now = home.world.clock.now()
    rows = []
    for one in attempts:
        since = one.started_at if one.started_at is not None else one.created_at
        end = one.ended_at if one.ended_at is not None else now
        rank = "-" if one.failed_rank is None else f"{one.failed_node or 0}/{one.failed_rank}"
        rows.append(
            (
                f"  {one.number}",
                str(one.outcome or one.phase),
                "-" if one.exit_status is None else str(one.exit_status),
                rank,
                duration(end - since),
                one.reason,
            )
        )
    header = ("  #", "OUTCOME", "EXIT", "NODE/RANK", "TIME", "REASON")
    styles = {"succeeded": "green", "user-error": "red", "rejected": "red", "running": "bold"}

    def style(text: str, column: int) -> str:
        return paint(text, styles.get(text, "")) if column == 1 else text

    right = frozenset({2, 4})
    return draw(header, rows, width=width(sys.stdout), right=right, style=style)


def _node_table(nodes: Sequence[NodeFacts]) -> str:
    from windlass.cli.table import draw
    from windlass.cli.terminal import width
    from windlass.cli.words import duration

    rows = [
        (
            f"  {node.index}",
            node.address or "-",
            node.state or "-",
            "never" if node.beat_age_s is None else f"{duration(node.beat_age_s)} ago",
        )
        for node in nodes
    ]
    return draw(("  NODE", "ADDRESS", "STATE", "HEARD"), rows, width=width(sys.stdout))
