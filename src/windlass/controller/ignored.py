"""What the ignore files in and above a workdir leave out, the way Git reads them.

Must not walk folders: source.py does, and asks here about each name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from windlass.errors import SourceRefused

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

GIT = ".gitignore"
OWN = ".windlassignore"
_FILE_MAX = 1024 * 1024
_PARENTS_MAX = 64


@dataclass(frozen=True, slots=True)
class _Rule:
    """One ignore file, and how a name relative to the workdir looks from its folder."""

    spec: GitIgnoreSpec
    lead: str = ""
    strip: int = 0

    def verdict(self, name: str) -> bool | None:
        """True to leave it out, False to keep it, None when the file is silent."""
        return self.spec.check_file(self.lead + name[self.strip :]).include


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """The ignore files that hold in one folder, outermost first."""

    git: tuple[_Rule, ...] = ()
    own: tuple[_Rule, ...] = ()

    def holds(self, name: str) -> bool:
        """Whether this name, relative to the workdir and with `/` behind a folder, is left out.

        The innermost file that says anything decides, and ours before Git's.
        """
        for rule in (*reversed(self.own), *reversed(self.git)):
            verdict = rule.verdict(name)
            if verdict is not None:
                return verdict
        return False

    def inside(self, folder: str, entries: Mapping[str, os.DirEntry[str]]) -> Ignored:
        """With the ignore files among the entries of that folder added."""
        strip = len(folder) + 1 if folder else 0
        git, own = (_rules_in(entries.get(name), strip) for name in (GIT, OWN))
        return Ignored(git=self.git + git, own=self.own + own) if git or own else self


def ignored_above(workdir: Path) -> Ignored:
    """What the .gitignore files between the root of its repository and the workdir leave out."""
    above = [workdir, *workdir.parents][:_PARENTS_MAX]
    top = next((index for index, path in enumerate(above) if (path / ".git").exists()), 0)
    rules: list[_Rule] = []
    for path in reversed(above[1 : top + 1]):
        file = path / GIT
        if file.is_file():
            rules.append(_Rule(_read(file), lead=f"{workdir.relative_to(path).as_posix()}/"))
    ignored = Ignored(git=tuple(rules))
    # Whoever names an ignored folder as the workdir wants it: the files above it do not hold then.
    return Ignored() if ignored.holds("") else ignored


def _rules_in(entry: os.DirEntry[str] | None, strip: int) -> tuple[_Rule, ...]:
    if entry is None or not entry.is_file(follow_symlinks=False):
        return ()
    return (_Rule(_read(Path(entry.path)), strip=strip),)


def _read(path: Path) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - costs more than packing a small folder.

    try:
        with path.open("rb") as file:
            text = file.read(_FILE_MAX).decode("utf-8", "surrogateescape")
    except OSError as exc:
        raise SourceRefused(
            f"{path} cannot be read: {exc.strerror}", remedy="Check its permissions."
        ) from exc
    lines = text.split("\n")
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(line)])


def _is_pattern(line: str) -> bool:
    """Whether the line can be read; Git passes over one that cannot."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - as above.

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
