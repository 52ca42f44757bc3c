"""The gcloud commands of four tutorials, put to a twin by the real gcloud.

They stand in sessions/, whose README says how to read them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from client_twin import ClientTwin, need_program

SESSIONS = sorted((Path(__file__).parent / "sessions").glob("*.session"))
# What gcloud prints when it stumbles, though it may exit with 0 all the same.
NEVER = (r"ERROR: ", r"Traceback", r"gcloud crashed", r"does not model", r"The twin has a bug")


@dataclass
class Step:
    """A command and what it is to print."""

    command: str
    wanted: list[str] = field(default_factory=list)
    unwanted: list[str] = field(default_factory=lambda: list(NEVER))


def steps(text: str) -> list[Step]:
    """Those of a session."""
    found: list[Step] = []
    for line in filter(None, text.splitlines()):
        mark, _, rest = line.partition(" ")
        if mark == "$":
            found.append(Step(rest))
        elif mark == ">":
            found[-1].wanted.append(rest)
        elif mark == "!":
            found[-1].unwanted.append(rest)
        else:
            assert mark in ("#", "~", "-"), line
    return found


def unset(text: str) -> str:
    """What a shell runs first."""
    return "".join(f"unset {line[2:]}; " for line in text.splitlines() if line.startswith("- "))


def contains(text: str, pattern: str) -> bool:
    """Columns are as wide as their widest value, so that blanks are not counted."""
    even = "\n".join(" ".join(line.split()) for line in text.splitlines())
    return re.search(pattern, even, re.MULTILINE) is not None


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_every_command_of_the_session_works(path: Path, twin: ClientTwin, tmp_path: Path) -> None:
    need_program("gcloud")
    text = path.read_text()
    session, first = steps(text), unset(text)
    if any(" ssh " in step.command for step in session) and (reason := twin.refusal()):
        pytest.skip(f"machines are only modelled on this host: {reason}")
    twin.own_configuration(tmp_path / "gcloud")
    more = {"CLOUDSDK_CONFIG": str(tmp_path / "gcloud"), "TWIN_CODE": twin.token}
    for step in session:
        done = twin.bash(first + step.command, cwd=tmp_path, more=more)
        said = f"$ {step.command}\n{done.stdout}"
        assert done.returncode == 0, said
        for pattern in step.wanted:
            assert contains(done.stdout, pattern), f"no {pattern!r} in\n{said}"
        for pattern in step.unwanted:
            assert not contains(done.stdout, pattern), f"{pattern!r} in\n{said}"
