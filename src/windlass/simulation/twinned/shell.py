"""Carries a start-up script out, line by line, as the shell of a machine would.

Must not guess: a line that it does not know is an error, so that a changed script is noticed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, Protocol

from windlass.simulation.twinned.programs import Process

FILE = re.compile(r"^cat > (\S+) <<'WINDLASS'\n(.*?)\nWINDLASS\n", re.MULTILINE | re.DOTALL)
LOOP = re.compile(r"for wait in ([\d ]+); do")
BACKGROUND = re.compile(r"\((.*)\) &")
TRAP = "trap 'kill -TERM $agent 2>/dev/null; python3 hurry.py $agent &' TERM"
WAIT = "while kill -0 $agent 2>/dev/null; do wait $agent; done"
AGENT = ("python3", "agent.pyz", "node.json")
UNTIL_TOLD = float("inf")
"""Goes on when the agent has ended."""
QUIET = frozenset({"set", "mkdir", "chmod", "cd"})


class Script(NamedTuple):
    """A script taken apart."""

    files: dict[str, str]
    lines: tuple[str, ...]


@cache
def parse(text: str) -> Script:
    """The files that a script leaves, and what it does besides."""
    lines = (line.strip() for line in FILE.sub("", text).splitlines())
    kept = tuple(line for line in lines if line and not line.startswith("#"))
    return Script(files=dict(FILE.findall(text)), lines=kept)


class Machine(Protocol):
    """What a shell does things to."""

    heeds: bool
    """The shell passes on that the machine goes."""

    def python(self, program: str, args: Sequence[str]) -> Process:
        """Run one of its files."""

    def run_beside(self, process: Process) -> None:
        """Let something run in the background."""

    def start_agent(self) -> None:
        """Become a node."""

    @property
    def has_agent(self) -> bool:
        """Whether the agent has yet to end."""

    def tell_agent(self) -> None:
        """SIGTERM."""

    def power_off(self) -> None:
        """Turn it off."""


class Shell:
    """One shell on one machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def run(self, lines: Sequence[str]) -> Process:
        """Everything, in order; the status of the last command."""
        status, at = 0, 0
        while at < len(lines):
            line = lines[at]
            loop = LOOP.fullmatch(line)
            if loop is not None:
                end = lines.index("done", at)
                yield from self._try(loop[1].split(), lines[at + 1 : end])
                at = end
            elif line.startswith("exit "):
                return int(line.partition(" ")[2])
            else:
                status = yield from self._line(line)
            at += 1
        return status

    def _try(self, waits: Sequence[str], lines: Sequence[str]) -> Process:
        """A loop of a command that ends it when it succeeds, and a nap."""
        command, nap = lines
        assert nap == "sleep $wait" and command.endswith(" && break"), lines
        for wait in waits:
            status = yield from self._command(command.removesuffix(" && break"))
            if status == 0:
                return 0
            yield float(wait)
        return 0

    def _line(self, line: str) -> Process:
        beside = BACKGROUND.fullmatch(line)
        if beside is not None:
            self._machine.run_beside(self.run(beside[1].split("; ")))
        elif line == TRAP:
            self._machine.heeds = True
        elif line == WAIT:
            while self._machine.has_agent:
                yield UNTIL_TOLD
        elif line == f"{' '.join(AGENT)} &":
            self._machine.start_agent()
        elif line != "agent=$!":
            return (yield from self._command(line))
        return 0

    def _command(self, text: str) -> Process:
        first, sign, second = _parted(text)
        if sign:
            status = yield from self._command(first)
            is_over = bool(status) == (sign == "&&")
            return status if is_over else (yield from self._command(second))
        words = tuple(shlex.split(text))
        if words == AGENT:
            self._machine.start_agent()
            while self._machine.has_agent:
                yield UNTIL_TOLD
        elif words[0] == "python3":
            return (yield from self._machine.python(words[1], words[2:]))
        elif words == ("kill", "-TERM", "$agent"):
            self._machine.tell_agent()
        elif words == ("poweroff",):
            self._machine.power_off()
        elif words[0] not in QUIET:
            raise AssertionError(f"the simulation does not know how to do {text!r}")
        return 0


def _parted(text: str) -> tuple[str, str, str]:
    """A command that depends on how another ends."""
    found = re.fullmatch(r"(.*?) (&&|\|\|) (.*)", text)
    return (found[1], found[2], found[3]) if found else (text, "", "")
