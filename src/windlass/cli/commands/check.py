"""`windlass check`: specs against the platform team's policy, as a CI job does.

Must not hold logic, nor start anything.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from windlass.cli.params import json_option

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.errors import Problem
    from windlass.policy.document import Policy

WRONG = 2


@click.command("check")
@click.argument(
    "paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--policy",
    "policy_path",
    metavar="FILE",
    help="The policy; else the one that the configuration names.",
)
@click.option("--on", "engine", metavar="ENGINE", help="As `windlass run --on`.")
@json_option
def command(
    paths: tuple[Path, ...], policy_path: str | None, engine: str | None, is_json: bool
) -> int:
    """Check every spec FILE: all its problems and all breaches of the policy, at once.

    Nothing is started and nothing is asked of Google but a policy that lies in a bucket. Exit
    status 2 when there is anything to mend.
    """
    from windlass.assemble import open_home

    home = open_home()
    _check_engine(engine)
    policy = home.policy if policy_path is None else _policy(home, policy_path)
    found = {path: _problems(home, path, policy, engine=engine) for path in paths}
    if is_json:
        _print_json(found)
    else:
        _tell(found, has_policy=policy is not None)
    return WRONG if any(found.values()) else 0


def _check_engine(name: str | None) -> None:
    from windlass.engines.registry import unknown_engine

    refusal = unknown_engine(name) if name else None
    if refusal is not None:
        raise refusal


def _policy(home: Home, where: str) -> Policy | None:
    from windlass.governance.policy_source import read_policy

    return read_policy(where, home=Path.cwd(), session=lambda: home.google_session)


def _problems(
    home: Home, path: Path, policy: Policy | None, *, engine: str | None
) -> list[Problem]:
    from windlass.errors import SpecInvalid
    from windlass.spec.document import read_bounded
    from windlass.spec.load import parse_spec

    text = read_bounded(path)
    try:
        spec = parse_spec(text, path=str(path), folder=path.parent)
    except SpecInvalid as invalid:
        return list(invalid.problems)
    from windlass.governance.admission import circumstances, engine_problems, problems_of

    unknown = () if engine else spec.where.engines
    problems = engine_problems(unknown, text=text, path=str(path))
    if policy is None or problems:
        return problems
    engines = (engine,) if engine else home.engines_for(spec)
    about = circumstances(engines, home.config.engine)
    return problems_of(spec, policy, about, text=text, path=str(path))


def _tell(found: dict[Path, list[Problem]], *, has_policy: bool) -> None:
    from windlass.cli.render import problem_text
    from windlass.cli.terminal import Paint
    from windlass.cli.words import plural

    paint = Paint(sys.stdout)
    for path, problems in found.items():
        for problem in problems:
            sys.stdout.write(problem_text(problem, paint) + "\n\n")
        if not problems:
            sys.stdout.write(f"{path}: {paint('fine', 'green')}\n")
    wrong = sum(map(len, found.values()))
    if wrong:
        sys.stdout.write(f"{plural(wrong, 'problem')} in {plural(len(found), 'file')}\n")
    if not has_policy:
        sys.stderr.write("windlass: no policy is configured; only the specs were checked\n")


def _print_json(found: dict[Path, list[Problem]]) -> None:
    from windlass.cli.documents import print_json
    from windlass.cli.render import problem_document

    print_json(
        [
            {
                "path": str(path),
                "is_fine": not problems,
                "problems": [problem_document(problem) for problem in problems],
            }
            for path, problems in found.items()
        ]
    )
