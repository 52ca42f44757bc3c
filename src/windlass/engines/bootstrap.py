"""The start-up script of a node on Google Cloud: fetches the agent and becomes it.

Must not hold a secret: metadata is read by everybody who may look at the machine. Must not name
an engine: which node it is, a machine finds out from its own metadata.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from windlass.engines.base import ClaimRequest
from windlass.engines.bootstrap_programs import (
    AWAIT,
    BY_NAME,
    EXPIRE,
    FETCH,
    GIVE_BACK,
    HURRY,
    MACHINE,
)
from windlass.engines.lifetime import Lifetime
from windlass.engines.secret_names import references

AGENT = "agent.pyz"
PLACE = "/var/lib/windlass"

# Runs once per boot; a node that reboots must not start a second agent, whose lock would refuse it
# anyway. Python is on every image that we use; nothing else is taken for granted.
SCRIPT = """#!/bin/bash
# Windlass: start the agent of this node.
set -u
mkdir -p {place} && chmod 700 {place} && cd {place}
{files}{meanwhile}for wait in 1 2 4 8 16 30 30 30; do
  python3 fetch.py {agent_url} {agent} && break
  sleep $wait
done
{run}{leave}"""
FILE = """\
cat > {name} <<'WINDLASS'
{content}
WINDLASS
"""

RUN = f"python3 {AGENT} node.json\n"
# Where the shell may be the only one who is told that the machine goes, it passes that on and lives
# until the agent has ended, so that what comes after it is done too.
RUN_AND_HEED = f"""\
python3 {AGENT} node.json &
agent=$!
trap 'kill -TERM $agent 2>/dev/null; python3 hurry.py $agent &' TERM
{{meanwhile}}while kill -0 $agent 2>/dev/null; do wait $agent; done
"""
OF_GANGS = {"await.py": AWAIT, "expire.py": EXPIRE, "give_back.py": GIVE_BACK, "hurry.py": HURRY}
"""Programs for gangs that live and die as one."""
OF_MACHINES = {"expire.py": EXPIRE}
"""For machines of which each ends for itself."""


def expire(life: Lifetime, *, spare_s: int) -> str:
    """The command that ends when a machine's time is over; `spare_s` later on all but the first."""
    return f"python3 expire.py {life.ends_at:.0f} {life.lasts_s} {spare_s}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a node of an engine starts, and what it does besides."""

    machine: str = BY_NAME
    """Python lines that define `node(order)`, `address(order)` and `environment(order)`."""
    meanwhile: str = ""
    """Lines before the agent is fetched; what takes long goes into the background."""
    run: str = RUN
    leave: str
    """Lines for when the agent has ended: they give the machine back."""
    programs: Mapping[str, str] = field(default_factory=dict)
    """What these lines call, by file name."""


def startup_script(order: dict[str, Any], *, agent_url: str, manner: Manner) -> str:
    """The script for one node."""
    files = {
        "machine.py": f"{MACHINE}\n{manner.machine}",
        "fetch.py": FETCH,
        "order.json": json.dumps(order, indent=1, sort_keys=True),
        **manner.programs,
    }
    return SCRIPT.format(
        place=PLACE,
        files="".join(FILE.format(name=name, content=text) for name, text in files.items()),
        meanwhile=manner.meanwhile,
        agent=AGENT,
        agent_url=agent_url,
        run=manner.run,
        leave=manner.leave,
    )


def node_order(claim: ClaimRequest, *, project: str, node_from: str) -> dict[str, Any]:
    """What the agents of a claim are told. Which node one is, it reads from the metadata at
    `node_from`: a number, or a name that ends in one. Where there is such metadata, it also tells
    the agent that its machine will be taken away. Secrets are told by their names."""
    watched = {"watch": "metadata"} if node_from else {}
    named = references(claim.secrets, project)
    return {
        **watched,
        **({"secret_references": named} if named else {}),
        "folder": claim.folder,
        "attempt": claim.attempt,
        "claim": claim.id,
        "node_from": node_from,
        "work": f"{PLACE}/work",
        "address": "",
        "lock": f"{PLACE}/lock",
        "env": {},
        "secrets": None,
        "wake": None,
    }
