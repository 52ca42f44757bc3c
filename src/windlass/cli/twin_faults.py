"""`windlass twin fault`: let something go wrong in the twin, now.

Must not import the twin before a command is called.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from windlass.cli.params import json_option

KINDS = (
    "error",
    "latency",
    "lost-request",
    "lost-reply",
    "stale-list",
    "operation-fails-late",
    "cut-upload",
)


@click.group("fault")
def fault() -> None:
    """Let something go wrong in the twin, now: preemptions, stockouts, errors."""


@fault.command("preempt")
@click.argument("name")
def preempt(name: str) -> None:
    """Take spot machines back. NAME is a VM's or TPU's, a pattern, or label=value."""
    _fire({"preempt": name})


@fault.command("fail")
@click.argument("name")
def fail(name: str) -> None:
    """Let the host of a machine die, without a notice."""
    _fire({"fail": name})


@fault.command("maintenance")
@click.argument("name")
@click.option("--notice", default="60s", show_default=True, help="How long before it happens.")
def maintenance(name: str, notice: str) -> None:
    """Announce that the host of a machine is needed, then stop or move it."""
    _fire({"maintenance": name, "notice": notice})


@fault.command("stockout")
@click.argument("zone")
@click.argument("what")
@click.option("--for", "seconds", default="1h", show_default=True, help="Until there is stock.")
@click.option(
    "--model",
    type=click.Choice(("spot", "on-demand", "flex-start", "reserved")),
    help="Only for this way to buy.",
)
def stockout(zone: str, what: str, seconds: str, model: str | None) -> None:
    """Nothing more of WHAT (H100, a3-highgpu-8g) fits in ZONE; what runs stays."""
    chosen = {} if model is None else {"model": model}
    _fire({"stockout": what, "zone": zone, "for": seconds, **chosen})


@fault.command("error")
@click.argument("method")
@click.argument("status", type=click.IntRange(400, 599), required=False)
@click.option("--kind", type=click.Choice(KINDS), help="What happens instead of a plain error.")
@click.option("--count", type=click.IntRange(min=1), help="Strike so many calls, then no more.")
@click.option("--share", help="Strike this share of calls: 0.1 or 10%.")
@click.option("--for", "seconds", help="Until then only, such as 10m.")
@click.option("--latency", help="Let it take longer, such as 2s.")
@click.option("--retry-after", help="What the answer's Retry-After says, such as 5s.")
@click.option("--behind", help="How old a stale list is.")
@click.option("--after", help="How long an operation runs before it fails.")
@click.option("--after-bytes", help="How much of an upload arrives, such as 256KiB.")
def error(method: str, status: int | None, seconds: str | None, **options: Any) -> None:
    """Strike calls of METHOD, such as compute.instances.insert or storage.objects.*."""
    rule = {name: value for name, value in options.items() if value is not None}
    if status is not None:
        rule["error"] = status
    if seconds is not None:
        rule["until"] = seconds
    _fire({"method": method, **rule})


@fault.command("list")
@json_option
def list_all(is_json: bool) -> None:
    """What strikes calls, what will happen, and what has."""
    document = _ask("faults")
    if is_json:
        from windlass.cli.documents import print_json

        print_json(document)
        return
    lines = [_rule_line(rule) for rule in document["rules"]]
    lines += [_incident_line(one) for one in document["incidents"]]
    sys.stdout.write("\n".join(lines or ["Nothing goes wrong."]) + "\n")


@fault.command("clear")
def clear() -> None:
    """End all rules and stockouts, and everything that is still to happen."""
    ended = _ask("faults/clear", {"all": True})
    sys.stdout.write(f"Ended {ended['rules']} rules and {ended['incidents']} incidents.\n")


def _fire(entry: Mapping[str, Any]) -> None:
    answer = _ask("faults", entry)
    rule = f" ({answer['rule']})" if "rule" in answer else ""
    sys.stdout.write(f"{answer['outcome']}{rule}\n")


def _ask(what: str, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    from windlass.assemble import open_home
    from windlass.twin.server import control
    from windlass.twin.server.home import TwinHome
    from windlass.twin.server.owner import ask

    twin = TwinHome(open_home().path / "twin")
    return ask(twin, control.running_or_refuse(twin), what, given)


def _rule_line(rule: Mapping[str, Any]) -> str:
    what = f"error {rule['status']}" if rule["kind"] == "error" else rule["kind"]
    most = "" if rule["count"] is None else f" of {rule['count']}"
    share = "" if rule["share"] >= 1 else f", {rule['share']:.0%} of calls"
    return f"{rule['id']}  {rule['method']}: {what}{share}; struck {rule['struck']}{most}"


def _incident_line(incident: Mapping[str, Any]) -> str:
    words = [
        str(incident[key])
        for key in ("name", "kind", "service", "permission", "zone")
        if incident.get(key)
    ]
    said = f"{incident['id']}  {incident['what']} {' in '.join(words)}"
    return f"{said}: {incident.get('outcome', 'to come')}"
