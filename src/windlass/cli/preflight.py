"""What `windlass doctor --on` looks at, put together from home, options and a plan.

Must not look itself: windlass.governance does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from windlass.errors import OptionRefused
from windlass.policy.findings import Finding

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.governance.preflight.subject import Subject
    from windlass.planner.candidates import Candidate
    from windlass.spec.model import Spec

PLACES = 5
"""So many of the plan's best are looked at."""


def preflight(home: Home, engine: str, spec_path: Path | None) -> Iterator[Finding]:
    """Findings about the project that the engine would rent in."""
    from windlass.engines.registry import google_engines
    from windlass.governance.preflight.examine import examine

    engines = tuple(google_engines(engine))
    if not engines:
        raise OptionRefused(
            f"{engine!r} rents nothing from Google",
            remedy=f"Use one of gcp, {', '.join(google_engines())}.",
        )
    subject = _subject(home, engines)
    yield from examine(_with_spec(home, subject, spec_path) if spec_path else subject)


def warnings(home: Home, engine: str, spec: Spec, chosen: Candidate) -> list[Finding]:
    """What a run that rents this would soon run into."""
    from windlass.governance.preflight.examine import at_submit
    from windlass.governance.preflight.subject import Wanted

    wanted = (Wanted(chosen.offer, chosen.estimate.gang.chips),)
    return list(at_submit(replace(_subject(home, (engine,)), spec=spec, wanted=wanted)))


def _subject(home: Home, engines: tuple[str, ...]) -> Subject:
    from windlass.governance.preflight.subject import Subject
    from windlass.policy.document import NO_POLICY

    return Subject(
        session=home.google_session,
        project=home.project,
        catalog=home.catalog,
        engines=engines,
        run_folder=home.config.run_folder or "",
        defaults=home.config.engine,
        policy=home.policy or NO_POLICY,
    )


def _with_spec(home: Home, subject: Subject, path: Path) -> Subject:
    from windlass.cli.planning import plan_in
    from windlass.engines.registry import ALL_OF_GOOGLE, renter
    from windlass.governance.preflight.subject import Wanted
    from windlass.spec.load import load_spec

    spec = home.admitted(load_spec(path), path)
    best = plan_in(home, spec).candidates[:PLACES]
    wanted = tuple(Wanted(one.offer, one.estimate.gang.chips) for one in best)
    if len(subject.engines) > 1:  # What no engine of this run needs is no finding.
        named = spec.where.engines or (ALL_OF_GOOGLE,)
        used = {renter(named, is_slice=one.offer.slice is not None) for one in best}
        engines = tuple(name for name in subject.engines if name in used) or subject.engines
        subject = replace(subject, engines=engines)
    return replace(subject, spec=spec, wanted=wanted)
