"""Gathers what a rehearsal has left to see: the store, the run's folder, the cloud's logs and bill.

Must not judge it (story.py does).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import quote

from windlass.controller.progress import Record, read_records
from windlass.governance.holdings import survey
from windlass.rehearsal.stage import BUCKET, Stage
from windlass.rehearsal.story import Evidence

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.ports.clock import PacedClock
    from windlass.state.model import Run


def gather(stage: Stage, home: Home, run: Run, *, clock: PacedClock) -> Evidence:
    """Everything, once the run has ended. The storm is over: what it did to the run is told, and
    must not keep anybody from looking."""
    stage.ask("POST", "/twin/v1/faults/clear", {})
    store = home.store()
    return Evidence(
        run=run,
        attempts=store.list_attempts(run.id),
        claims=store.list_claims(run.id),
        events=store.list_events(run.id),
        records=paced_records(home, run, clock=clock),
        notices=_notices(stage, run),
        passed_on=sorted(_passed_on(stage, run)),
        usd=_usd(stage, run),
        left=left_behind(stage, home),
    )


def left_behind(stage: Stage, home: Home) -> list[str]:
    """What is still there now, by the cloud's own lists."""
    return sorted({*_machines(stage), *_holdings(home)})


def paced_records(home: Home, run: Run, *, clock: PacedClock) -> list[Record]:
    """What ranks said of their progress. Their machines have the real time, however fast the
    rehearsal's passes."""
    return [
        record if record.time is None else replace(record, time=clock.at(record.time))
        for record in read_records(home.folder(run.id), run.attempt)
    ]


def _notices(stage: Stage, run: Run) -> list[float]:
    told: list[float] = stage.ask("GET", "/twin/v1/notices")["runs"].get(run.id, [])
    return told


def _passed_on(stage: Stage, run: Run) -> Iterator[tuple[int, float]]:
    prefix = f"runs/{run.id}/attempts/"
    page = ""
    while True:
        query = f"prefix={quote(prefix, safe='')}&pageToken={quote(page, safe='')}"
        found = stage.ask("GET", f"/storage/v1/b/{BUCKET}/o?{query}")
        for item in found.get("items", ()):
            if item["name"].endswith("/notice.json"):
                attempt = int(item["name"].removeprefix(prefix).partition("/")[0])
                yield attempt, _moment(item["timeCreated"])
        page = found.get("nextPageToken", "")
        if not page:
            return


def _usd(stage: Stage, run: Run) -> float:
    lines = stage.ask("GET", "/twin/v1/bill")["lines"]
    return sum(float(line["usd"]) for line in lines if line["run"] == run.id)


def _machines(stage: Stage) -> Iterator[str]:
    """What the twin has, whoever made it and whether it runs or not."""
    for machine in stage.ask("GET", "/twin/v1/machines")["machines"]:
        yield f"machine {machine['name']} in {machine['zone']}"


def _holdings(home: Home) -> Iterator[str]:
    """What `windlass reap` would find."""
    regions = sorted({zone.rpartition("-")[0] for zone in home.catalog.zones})
    found = survey(home.google_session, home.project, regions=regions)
    for holding in found.holdings:
        if holding.name != BUCKET:
            yield f"{holding.kind} {holding.name} in {holding.place}"
    for unseen in found.unseen:
        yield f"nobody knows whether any {unseen.what}: {unseen.why}"


def _moment(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
