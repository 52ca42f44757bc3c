"""Shell scripts of gcloud commands, as text that can be read and run.

Must not run anything, nor know any API.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping

HEADER = "#!/usr/bin/env bash\nset -euo pipefail\n"
END = "WINDLASS_FILE"
_VARIABLE = re.compile(r"\$\{?[a-z_]+\}?")


def command(*words: str, flags: Iterable[str]) -> str:
    """One command, a flag to a line."""
    return " \\\n  ".join([" ".join(map(shlex.quote, words)), *map(_flag, flags)]) + "\n"


def file(variable: str, content: str) -> str:
    """Lines that write a file, whose path is then in a variable."""
    end = "" if content.endswith("\n") else "\n"
    return f"{variable}=$(mktemp)\ncat > \"${variable}\" <<'{END}'\n{content}{end}{END}\n"


def pairs(values: Mapping[str, str]) -> str:
    """Pairs as gcloud takes them in one flag. A value with a comma needs another separator."""
    mark = "" if not any("," in value for value in values.values()) else "^;^"
    between = ";" if mark else ","
    return mark + between.join(f"{key}={value}" for key, value in values.items())


def _flag(flag: str) -> str:
    """Quoted as the shell needs it, but for the variables that hold paths of files."""
    name, equals, value = flag.partition("=")
    if not equals:
        return name
    if _VARIABLE.search(value):
        return f'{name}="{value}"'
    return f"{name}={shlex.quote(value)}"
