"""What the ignore files in and above a workdir leave out, as Git would.

Must not walk folders: source.py does, and asks here about each name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from windlass.controller.pattern import Pattern, read_patterns
from windlass.errors import SourceRefused

GIT = ".gitignore"
OWN = ".windlassignore"
_FILE_MAX = 1024 * 1024
_PARENTS_MAX = 64


@dataclass(frozen=True, slots=True)
class _Rules:
    """One ignore file, and how a name relative to the workdir looks from its folder."""

    patterns: tuple[Pattern, ...]
    lead: str = ""
    strip: int = 0

    def verdict(self, name: str, *, is_folder: bool) -> bool | None:
        """True to leave it out, False to keep it, None when the file is silent."""
        path = self.lead + name[self.strip :]
        base = path.rpartition("/")[2]
        for pattern in reversed(self.patterns):
            if pattern.matches(path, base, is_folder=is_folder):
                return not pattern.is_negated
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """The ignore files that hold in one folder, outermost first."""

    git: tuple[_Rules, ...] = ()
    own: tuple[_Rules, ...] = ()

    def holds(self, name: str, *, is_folder: bool) -> bool:
        """Whether this name, relative to the workdir, is left out.

        The innermost file that says anything decides, and ours before Git's.
        """
        for rules in (*reversed(self.own), *reversed(self.git)):
            verdict = rules.verdict(name, is_folder=is_folder)
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
    ignored = Ignored()
    for path in reversed(above[1 : top + 1]):
        file = path / GIT
        if file.is_file():
            lead = f"{workdir.relative_to(path).as_posix()}/"
            ignored = Ignored(git=(*ignored.git, _Rules(_read(file), lead=lead)))
    return Ignored() if _is_left_out(workdir, ignored) else ignored


def _is_left_out(workdir: Path, ignored: Ignored) -> bool:
    """Whether the workdir itself, or a folder above it, is ignored.

    Whoever names an ignored folder as the workdir wants it: the files above it do not hold then.
    """
    for rules in ignored.git:
        parts = rules.lead.rstrip("/").split("/")
        for count in range(1, len(parts) + 1):
            # Names are given as seen from the rules' own folder, so nothing is put before them.
            seen = _Rules(rules.patterns)
            if seen.verdict("/".join(parts[:count]), is_folder=True):
                return True
    return False


def _rules_in(entry: os.DirEntry[str] | None, strip: int) -> tuple[_Rules, ...]:
    if entry is None or not entry.is_file(follow_symlinks=False):
        return ()
    return (_Rules(_read(Path(entry.path)), strip=strip),)


def _read(path: Path) -> tuple[Pattern, ...]:
    try:
        with path.open("rb") as file:
            text = file.read(_FILE_MAX).decode("utf-8", "surrogateescape")
    except OSError as exc:
        raise SourceRefused(
            f"{path} cannot be read: {exc.strerror}", remedy="Check its permissions."
        ) from exc
    return read_patterns(text)
