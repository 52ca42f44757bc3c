"""Unpacking the source archive; no member of it can reach outside its folder.

Must not trust anything the archive says: it is checked before anything is written.
"""

from __future__ import annotations

import hashlib
import os
from itertools import islice
from typing import Dict, List, Optional, Tuple

from windlass.agent import tar

FILES_MAX = 200_000
NAME_BYTES_MAX = 4096

Named = Tuple[tar.Member, str]
Kinds = Dict[str, str]
"""What was accepted so far: name to "folder", "file" or "link"."""


class SourceRefused(Exception):
    """The archive is not what it should be; nothing of it may be used."""


def unpack(data: bytes, target: str, *, sha: str) -> None:
    """Unpack an archive into `target`, which appears only when it is whole."""
    found = hashlib.sha256(data).hexdigest()
    if found != sha:
        raise SourceRefused(f"its SHA-256 is {found}, not {sha}")
    try:
        # One more than allowed is enough to know: a header costs the sender half a kilobyte.
        members = check(list(islice(tar.members(data), FILES_MAX + 1)), len(data))
    except tar.NotTar as exc:
        raise SourceRefused(f"it is not a tar archive that can be used: {exc}") from exc
    staged = f"{target}.part"
    _remove(staged)
    _remove(target)
    os.makedirs(staged)
    _write_all(memoryview(data), members, staged)
    os.rename(staged, target)


def _remove(leftover: str) -> None:
    if os.path.exists(leftover):
        from shutil import rmtree  # It brings every compression along: only when needed.

        rmtree(leftover, ignore_errors=True)


def check(members: List[tar.Member], archive_bytes: int) -> List[Named]:
    """Refuse the archive, or return its members with their plain names."""
    if len(members) > FILES_MAX:
        raise SourceRefused(f"it has more than {FILES_MAX} members")
    if sum(member.size for member in members) > archive_bytes:
        raise SourceRefused("its members claim to be larger than the archive")
    kinds: Kinds = {}
    return [(member, _check_member(member, kinds)) for member in members]


def _check_member(member: tar.Member, kinds: Kinds) -> str:
    name = _plain_name(member)
    kind = _kind_of(member)
    if kind == "folder" and kinds.get(name) == "folder":
        return name
    if name in kinds:
        raise SourceRefused(f"{member.name!r} is in it twice")
    parent = ""
    for part in name.split("/")[:-1]:
        parent = f"{parent}/{part}" if parent else part
        if kinds.setdefault(parent, "folder") != "folder":
            raise SourceRefused(f"{member.name!r} is inside {parent!r}, which is no folder")
    if member.kind == "link":
        _check_symbolic(member, name)
    elif member.kind == "same" and kinds.get(_clean(member.target) or "") != "file":
        raise SourceRefused(f"{member.name!r} links to {member.target!r}, no file before it")
    kinds[name] = kind
    return name


def _plain_name(member: tar.Member) -> str:
    name = _clean(member.name)
    if name is None or len(os.fsencode(member.name)) > NAME_BYTES_MAX:
        raise SourceRefused(f"{member.name[:200]!r} is no name inside the folder")
    if name == "" and member.kind != "folder":
        raise SourceRefused(f"{member.name!r} would replace the folder itself")
    return name


def _clean(name: str) -> Optional[str]:
    """The name without `.` and empty parts; None when it could leave the folder."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\0" in name:
        return None
    return "/".join(parts)


def _kind_of(member: tar.Member) -> str:
    if member.kind in ("folder", "link"):
        return member.kind
    if member.mode & 0o6000:
        raise SourceRefused(f"{member.name!r} would run as another user (setuid or setgid)")
    return "file"


def _check_symbolic(member: tar.Member, name: str) -> None:
    """Only leading `..` are allowed, and only as many as there are real folders above the link.

    `..` after another part would be wrong to reckon by name: that part may be a link itself.
    """
    parts = [part for part in member.target.split("/") if part not in ("", ".")]
    depth = name.count("/")
    leading = 0
    while leading < len(parts) and parts[leading] == "..":
        leading += 1
    is_absolute = member.target.startswith("/") or not member.target
    if is_absolute or leading > depth or ".." in parts[leading:]:
        raise SourceRefused(f"{member.name!r} links to {member.target!r}, outside the folder")


def _write_all(data: memoryview, members: List[Named], root: str) -> None:
    for member, name in members:
        path = os.path.join(root, name) if name else root
        if member.kind == "folder":
            os.makedirs(path, exist_ok=True)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if member.kind == "link":
            os.symlink(member.target, path)
        elif member.kind == "same":
            os.link(os.path.join(root, _clean(member.target) or ""), path)
        else:
            _write_file(data[member.begin : member.begin + member.size], member.mode, path)


def _write_file(content: memoryview, mode: int, path: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(path, flags, (mode & 0o755) | 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)
