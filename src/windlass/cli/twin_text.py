"""What `windlass twin` says about a twin, for people and for programs.

Must not ask the twin anything: it is given what the twin said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from windlass.twin.server.home import Running, TwinHome

NEXT = """\
  windlass twin exec -- gcloud compute instances list    one command
  windlass twin shell                                     a shell of its own
  eval "$(windlass twin env)"                             this shell, from now on
"""


def said(running: Running, *, is_new: bool) -> str:
    """After `up`: that it is there, and what to do with it."""
    options = running.options
    when = "is up" if is_new else "was up already"
    settings = f"speed {options.speed:g}, seed {options.seed}, delays {options.delays}"
    return f"The twin {when} on 127.0.0.1:{running.port} ({settings}).\n{NEXT}"


def document(
    home: TwinHome, running: Running | None, answer: Mapping[str, Any], *, now: float
) -> dict[str, Any]:
    """For programs; what is not known is null."""
    from windlass.cli.words import iso

    if running is None:
        return {"up": False, "home": str(home.path)}
    options = running.options
    machines = answer.get("machines") or {}
    at = answer.get("time")
    return {
        "up": True,
        "home": str(home.path),
        "pid": running.pid,
        "port": running.port,
        "url": running.url,
        "version": running.version,
        "started": iso(running.started),
        "uptime_s": answer.get("uptime_s", max(0.0, now - running.started)),
        "time": iso(at) if isinstance(at, (int, float)) else None,
        "speed": answer.get("speed", options.speed),
        "seed": options.seed,
        "delays": options.delays,
        "scenario": options.scenario or None,
        "machines": {"live": machines.get("live"), "modelled": machines.get("modelled")},
        "bill_usd": answer.get("bill_usd"),
        "requests": answer.get("requests"),
    }


def text(shown: Mapping[str, Any]) -> str:
    """The same for people."""
    from windlass.cli.table import facts
    from windlass.cli.words import duration, plural

    if not shown["up"]:
        return "The twin is not up. Start it with `windlass twin up`."
    machines = shown["machines"]
    live, modelled = machines["live"], machines["modelled"]
    bill = shown["bill_usd"]
    pairs = [
        ("twin", f"up on 127.0.0.1:{shown['port']} for {duration(shown['uptime_s'])}"),
        ("home", shown["home"]),
        ("process", f"{shown['pid']} (Windlass {shown['version']})"),
        ("time", f"{shown['time'] or '-'}, {shown['speed']:g} times as fast"),
        ("chance", f"seed {shown['seed']}, delays {shown['delays']}"),
        ("machines", f"{live} live, {modelled} modelled" if live is not None else "-"),
        ("bill", f"{bill:.2f} USD so far" if bill is not None else "-"),
        ("served", plural(shown["requests"], "request") if shown["requests"] is not None else "-"),
    ]
    if shown["scenario"]:
        pairs.insert(5, ("scenario", shown["scenario"]))
    return facts(pairs)
