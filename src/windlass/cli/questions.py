"""A question with two answers, for commands that delete or spend.

Must not be asked where nobody can answer.
"""

from __future__ import annotations

import sys

from windlass.errors import OptionRefused


def is_sure(question: str, *, is_yes: bool) -> bool:
    """Whether to go on. Refused where nobody can answer and `--yes` was not given."""
    if is_yes:
        return True
    from windlass.cli import terminal

    if not terminal.is_interactive():
        raise OptionRefused(
            "nobody is there to say yes", remedy="Add `--yes` to go on without a question."
        )
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
