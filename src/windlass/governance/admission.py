"""Holds a spec against the platform team's policy: every breach with its line in the spec.

Must not know where policy and configuration lie: it is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from windlass.engines.registry import google_engines, unknown_engine
from windlass.errors import PolicyDenied, Problem
from windlass.policy.document import Policy
from windlass.policy.rules import Breach, Circumstances, breaches, filled
from windlass.spec.document import read_bounded
from windlass.spec.model import Spec
from windlass.spec.places import Places

Defaults = Mapping[str, Mapping[str, Any]]
"""The configuration's options of engines."""


def circumstances(engines: tuple[str, ...], defaults: Defaults) -> Circumstances:
    """What decides besides the spec, for a spec that may go to these engines."""
    named = tuple(one for name in engines for one in google_engines(name) or [name])
    return Circumstances(engines=named, renting=frozenset(google_engines()), defaults=defaults)


def problems_of(
    spec: Spec, policy: Policy, about: Circumstances, *, text: bytes, path: str
) -> list[Problem]:
    """Every breach, in the order of the file."""
    found = breaches(filled(spec, policy, about), policy, about)
    places = Places(text, path=path)
    problems = [_problem(one, places, path) for one in found]
    return sorted(problems, key=lambda one: (one.line, one.column))


def engine_problems(engines: tuple[str, ...], *, text: bytes, path: str) -> list[Problem]:
    """Engines that a spec names and nobody knows."""
    wrong = [refusal for refusal in map(unknown_engine, engines) if refusal is not None]
    if not wrong:
        return []
    key, places = ("where", "engines"), Places(text, path=path)
    return [
        _problem(
            Breach(code="unknown-engine", key=key, message=one.message, remedy=one.remedy),
            places,
            path,
        )
        for one in wrong
    ]


def admitted(spec: Spec, policy: Policy, about: Circumstances, *, path: Path) -> Spec:
    """The spec of that file with what the policy fills in. Raises PolicyDenied with every
    breach."""
    text = read_bounded(path)
    problems = problems_of(spec, policy, about, text=text, path=str(path))
    if problems:
        noun = "breach" if len(problems) == 1 else "breaches"
        raise PolicyDenied(
            f"{path}: {len(problems)} {noun} of the policy",
            remedy="Mend the lines above, or ask the platform team; nothing was started.",
            problems=problems,
        )
    return filled(spec, policy, about)


def _problem(breach: Breach, places: Places, path: str) -> Problem:
    place = places.at(breach.key)
    return Problem(
        code=breach.code,
        path=path,
        line=place.line,
        column=place.column,
        message=breach.message,
        remedy=breach.remedy,
        source=places.line(place.line),
    )
