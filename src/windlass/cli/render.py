"""How errors look: the one place, for people and for programs.

Must not catch errors (main.py does).
"""

from __future__ import annotations

import sys
from typing import Any

from windlass.cli.terminal import Paint
from windlass.errors import PolicyDenied, Problem, SpecInvalid, WindlassError


def error_document(error: WindlassError) -> dict[str, Any]:
    """The error as --json shows it."""
    document: dict[str, Any] = {
        "code": error.code,
        "message": error.message,
        "context": error.context,
        "remedy": error.remedy,
        "docs": error.docs,
        "retry": error.retry.value,
        "exit_status": error.exit_status,
    }
    if isinstance(error, SpecInvalid | PolicyDenied):
        document["problems"] = [problem_document(problem) for problem in error.problems]
    return document


def problem_document(problem: Problem) -> dict[str, Any]:
    """One problem of a file as --json shows it."""
    return {
        "code": problem.code,
        "path": problem.path,
        "line": problem.line,
        "column": problem.column,
        "message": problem.message,
        "remedy": problem.remedy,
        "source": problem.source,
    }


def error_text(error: WindlassError, paint: Paint) -> str:
    """The error as a person reads it: what is wrong, where, and what to do."""
    blocks = []
    if isinstance(error, SpecInvalid | PolicyDenied):
        blocks += [problem_text(problem, paint) for problem in error.problems]
    lines = [f"{paint('error', 'bold red')}{paint(f'[{error.code}]', 'dim')} {error.message}"]
    if error.context:
        lines += [f"  {line}" for line in error.context.splitlines()]
    if error.remedy:
        lines.append(f"  {error.remedy}")
    blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def problem_text(problem: Problem, paint: Paint) -> str:
    """One problem: where it is, the line with a caret below, what to do."""
    place = f"{problem.path}:{problem.line}:{problem.column}"
    lines = [f"{paint(place, 'bold')}: {problem.message} {paint(f'[{problem.code}]', 'dim')}"]
    if problem.source.strip():
        gutter = f"{problem.line:>5} | "
        lines.append(paint(gutter, "dim") + problem.source)
        lines.append(" " * (len(gutter) - 2) + paint("| ", "dim") + _caret(problem, paint))
    if problem.remedy:
        lines.append(f"      {problem.remedy}")
    return "\n".join(lines)


def _caret(problem: Problem, paint: Paint) -> str:
    """A caret below the column, whatever tabs and wide characters stand before it."""
    from windlass.cli.table import columns

    before = problem.source[: max(problem.column - 1, 0)]
    fill = "".join(char if char == "\t" else " " * columns(char) for char in before)
    return fill + paint("^", "bold red")


def show_error(error: WindlassError, *, is_json: bool) -> None:
    """Write the error to stderr."""
    if is_json:
        import json

        text = json.dumps({"error": error_document(error)}, ensure_ascii=False)
    else:
        text = error_text(error, Paint(sys.stderr))
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
