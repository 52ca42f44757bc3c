"""Becomes a program that talks to the twin: any one, or a shell that says so in its prompt.

Must not let what the user's own start-up files set win over the twin: a shell sets the twin's
variables once more after them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

MARK = "(twin) "

BASH = """\
[ -f ~/.bashrc ] && . ~/.bashrc
{script}PS1='{mark}'"$PS1"
"""
ZSH = """\
ZDOTDIR=$HOME
[ -f ~/.zshrc ] && . ~/.zshrc
{script}PROMPT='{mark}'"$PROMPT"
"""
FISH = """\
{script}functions --copy fish_prompt twin_plain_prompt
function fish_prompt
    echo -n '{mark}'
    twin_plain_prompt
end
"""


def shell_call(
    shell: str, folder: Path, *, environment: Mapping[str, str], scripts: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """The words and the environment of a shell; its start-up file is written into the folder."""
    from windlass.twin.server.files import write_private

    name = Path(shell).name
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    changed = dict(environment)
    if name == "bash":
        write_private(folder / "bashrc", BASH.format(script=scripts["sh"], mark=MARK))
        return [shell, "--rcfile", str(folder / "bashrc"), "-i"], changed
    if name == "zsh":
        write_private(folder / ".zshrc", ZSH.format(script=scripts["sh"], mark=MARK))
        changed["ZDOTDIR"] = str(folder)
        return [shell, "-i"], changed
    if name == "fish":
        start = FISH.format(script=scripts["fish"], mark=MARK)
        return [shell, "--init-command", start, "--interactive"], changed
    changed["PS1"] = f"{MARK}$ "
    return [shell, "-i"], changed


def become(words: list[str], environment: dict[str, str]) -> NoReturn:
    """Be that program from now on: signals and its exit status are its own then."""
    from windlass.errors import ToolMissing

    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvpe(words[0], words, environment)
    except OSError as error:
        raise ToolMissing(
            f"{words[0]} cannot be started: {error.strerror}",
            remedy="See whether it is installed and on your PATH.",
        ) from error
