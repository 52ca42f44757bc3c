"""The workdir as a content-addressed archive: the same files give the same bytes everywhere.

Must not follow a link out of the workdir, nor ship what the user's ignore files leave out.

What is shipped: regular files, links that stay inside, and folders that are empty. Left out are
`.git`, `__pycache__`, virtual environments, sockets, devices and pipes, and what `.gitignore` (at
every level, and above the workdir up to the root of its repository) or `.windlassignore` name. A
`.windlassignore` has the last word: `!data.bin` in it ships a file that `.gitignore` leaves out.
A link that leads out of the workdir is left out with a note, since a link to a data disk is usual
in a workdir and the run may never touch it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from windlass.controller.ignored import Ignored, ignored_above
from windlass.controller.tar import END, EntryKind, header, padding
from windlass.errors import SourceRefused

SIZE_MAX = 512 * 1024 * 1024
FILES_MAX = 50_000
NOTES_MAX = 20
_CHUNK = 1024 * 1024

_NEVER = frozenset({".git", "__pycache__"})
_VIRTUAL_ENVIRONMENT = "pyvenv.cfg"
_LEAVE_OUT = "Leave out what the run does not need by naming it in a .windlassignore file."


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """An archive that was written."""

    sha: str
    path: Path
    files: int
    size_bytes: int
    notes: tuple[str, ...] = ()
    """What was left out though no ignore file names it, in plain words."""


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    """Relative to the workdir, with `/`."""
    kind: EntryKind
    size: int = 0
    is_program: bool = False
    target: str = ""


def pack(workdir: Path, target_folder: Path, *, leave_out: Iterable[Path] = ()) -> Source:
    """Write `source-<sha>.tar` into the target folder, whole or not at all.

    `leave_out` names folders never to ship, such as the home folder when it lies in the workdir;
    the target folder is one of them. Raises SourceRefused.
    """
    root = workdir.resolve()
    if not root.is_dir():
        raise SourceRefused(
            f"The workdir {workdir} is not a folder", remedy="Name a folder that exists."
        )
    walk = _Walk(root, {str(path.resolve()) for path in (target_folder, *leave_out)})
    walk.run()
    target_folder.mkdir(parents=True, exist_ok=True)
    sha, path, size = _write(_bytes_of(root, walk.entries), target_folder)
    return Source(
        sha=sha,
        path=path,
        files=sum(entry.kind is EntryKind.FILE for entry in walk.entries),
        size_bytes=size,
        notes=tuple(walk.notes),
    )


@dataclass(slots=True)
class _Walk:
    """Finds what is to be shipped."""

    root: Path
    leave_out: set[str]
    entries: list[_Entry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def run(self) -> None:
        folders = [("", ignored_above(self.root))]
        while folders:
            folders += self._walk(*folders.pop())
        self.entries.sort(key=lambda entry: entry.name)
        total = sum(entry.size for entry in self.entries)
        if total > SIZE_MAX:
            raise _too_large(f"{_mib(total)}, more than {_mib(SIZE_MAX)}", self.entries)

    def _walk(self, folder: str, ignored: Ignored) -> list[tuple[str, Ignored]]:
        """Take in one folder; return those inside it with what is ignored there."""
        found = self._list(folder)
        by_name = {entry.name: entry for entry in found}
        if folder and _VIRTUAL_ENVIRONMENT in by_name:
            return []
        if folder and not found:
            self._take(_Entry(folder, EntryKind.FOLDER))
        ignored = ignored.inside(folder, by_name)
        inner: list[tuple[str, Ignored]] = []
        for entry in found:
            name = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name in _NEVER or (is_folder and entry.path in self.leave_out):
                continue
            if ignored.holds(name, is_folder=is_folder):
                continue
            if is_folder:
                inner.append((name, ignored))
            else:
                self._take_file(name, entry)
        return inner

    def _list(self, name: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.root / name) as found:
                return list(found)
        except OSError as exc:
            raise _unreadable(name or ".", exc) from exc

    def _take_file(self, name: str, entry: os.DirEntry[str]) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                is_program = bool(status.st_mode & stat.S_IXUSR)
                self._take(_Entry(name, EntryKind.FILE, status.st_size, is_program))
            elif stat.S_ISLNK(status.st_mode):
                self._take_link(name, Path(entry.path))
            else:
                self._note(f"{name} is neither a file, a folder nor a link")
        except OSError as exc:
            raise _unreadable(name, exc) from exc

    def _take_link(self, name: str, path: Path) -> None:
        target = os.fspath(path.readlink())
        if _stays_inside(self.root, path, target):
            self._take(_Entry(name, EntryKind.LINK, target=target))
        else:
            self._note(f"{name} -> {target} leads out of the workdir")

    def _take(self, entry: _Entry) -> None:
        self.entries.append(entry)
        if len(self.entries) > FILES_MAX:
            raise _too_large(f"more than {FILES_MAX} files", self.entries)

    def _note(self, text: str) -> None:
        if len(self.notes) < NOTES_MAX:
            self.notes.append(f"left out: {text}")


def _stays_inside(root: Path, link: Path, target: str) -> bool:
    """Whether the target is inside the workdir, read as text and followed on the disk."""
    if target.startswith("/"):
        return False
    depth = len(link.parent.relative_to(root).parts)
    for part in target.split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0:
            return False
    try:
        return link.resolve().is_relative_to(root)
    except (OSError, RuntimeError):
        # A link that leads to itself leads nowhere else.
        return True


def _bytes_of(root: Path, entries: Iterable[_Entry]) -> Iterator[bytes]:
    """The archive, piece by piece."""
    for entry in entries:
        yield header(
            entry.name,
            entry.kind,
            size=entry.size,
            target=entry.target,
            is_program=entry.is_program,
        )
        if entry.kind is EntryKind.FILE:
            yield from _content(root, entry)
            yield padding(entry.size)
    yield END


def _content(root: Path, entry: _Entry) -> Iterator[bytes]:
    left = entry.size
    try:
        descriptor = os.open(root / entry.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            while left:
                chunk = file.read(min(left, _CHUNK))
                if not chunk:
                    raise OSError("it became shorter while it was read")
                left -= len(chunk)
                yield chunk
    except OSError as exc:
        raise _unreadable(entry.name, exc) from exc


def _write(pieces: Iterable[bytes], folder: Path) -> tuple[str, Path, int]:
    """Write the pieces under the name of their hash; (hash, path, size)."""
    digest = hashlib.sha256()
    draft = _new_file(folder)
    size = 0
    try:
        with draft.open("wb") as file:
            for piece in pieces:
                digest.update(piece)
                size += file.write(piece)
        path = folder / f"source-{digest.hexdigest()}.tar"
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return digest.hexdigest(), path, size


def _new_file(folder: Path) -> Path:
    """A new empty file that no other writer uses."""
    for number in count():
        path = folder / f".source-{os.getpid()}-{number}.tmp"
        try:
            path.touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            continue
        break
    return path


def _too_large(what: str, entries: Iterable[_Entry]) -> SourceRefused:
    """Names the largest entries at the top of the workdir, files counted when sizes are small."""
    sizes: dict[str, list[int]] = {}
    for entry in entries:
        top, _, inner = entry.name.partition("/")
        total = sizes.setdefault(f"{top}/" if inner else top, [0, 0])
        total[0] += entry.size
        total[1] += 1
    largest = sorted(sizes.items(), key=lambda item: (-item[1][0], -item[1][1], item[0]))[:5]
    listed = ", ".join(f"{name} {_mib(size)} in {files} files" for name, (size, files) in largest)
    return SourceRefused(f"The workdir holds {what}. Largest: {listed}", remedy=_LEAVE_OUT)


def _unreadable(name: str, exc: OSError) -> SourceRefused:
    reason = exc.strerror or str(exc)
    return SourceRefused(f"{name} in the workdir cannot be read: {reason}", remedy=_LEAVE_OUT)


def _mib(size: int) -> str:
    return f"{size / 1024**2:.1f} MiB"
