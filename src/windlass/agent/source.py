"""Unpacking the source archive; no member of it can reach outside its folder.

Must not trust anything the archive says: it is checked before anything is written.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tarfile
from typing import Dict, List, Optional, Tuple

FILES_MAX = 200_000
NAME_BYTES_MAX = 4096

Member = Tuple[tarfile.TarInfo, str]
Kinds = Dict[str, str]
"""What was accepted so far: name to "folder", "file" or "link"."""


class SourceRefused(Exception):
    """The archive is not what it should be; nothing of it may be used."""


def unpack(data: bytes, target: str, *, sha: str) -> None:
    """Unpack an archive into `target`, which appears only when it is whole."""
    found = hashlib.sha256(data).hexdigest()
    if found != sha:
        raise SourceRefused(f"its SHA-256 is {found}, not {sha}")
    staged = f"{target}.part"
    for leftover in (staged, target):
        shutil.rmtree(leftover, ignore_errors=True)
    os.makedirs(staged)
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            _write_all(archive, check(archive.getmembers(), len(data)), staged)
    except tarfile.TarError as exc:
        raise SourceRefused(f"it is not a tar archive: {exc}") from exc
    os.rename(staged, target)


def check(members: List[tarfile.TarInfo], archive_bytes: int) -> List[Member]:
    """Refuse the archive, or return its members with their plain names."""
    if len(members) > FILES_MAX:
        raise SourceRefused(f"it has {len(members)} members; at most {FILES_MAX} are allowed")
    if sum(member.size for member in members if member.isreg()) > archive_bytes:
        raise SourceRefused("its members claim to be larger than the archive")
    kinds: Kinds = {}
    return [(member, _check_member(member, kinds)) for member in members]


def _check_member(member: tarfile.TarInfo, kinds: Kinds) -> str:
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
    if member.issym():
        _check_symbolic(member, name)
    elif member.islnk() and kinds.get(_clean(member.linkname) or "") != "file":
        raise SourceRefused(f"{member.name!r} links to {member.linkname!r}, no file before it")
    kinds[name] = kind
    return name


def _plain_name(member: tarfile.TarInfo) -> str:
    name = _clean(member.name)
    if name is None or len(os.fsencode(member.name)) > NAME_BYTES_MAX:
        raise SourceRefused(f"{member.name[:200]!r} is no name inside the folder")
    if name == "" and not member.isdir():
        raise SourceRefused(f"{member.name!r} would replace the folder itself")
    return name


def _clean(name: str) -> Optional[str]:
    """The name without `.` and empty parts; None when it could leave the folder."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\0" in name:
        return None
    return "/".join(parts)


def _kind_of(member: tarfile.TarInfo) -> str:
    if member.isdir():
        return "folder"
    if member.issym():
        return "link"
    if member.type not in (*tarfile.REGULAR_TYPES, tarfile.LNKTYPE) or member.issparse():
        raise SourceRefused(f"{member.name!r} is no file, folder or link")
    if member.mode & 0o6000:
        raise SourceRefused(f"{member.name!r} would run as another user (setuid or setgid)")
    return "file"


def _check_symbolic(member: tarfile.TarInfo, name: str) -> None:
    """Only leading `..` are allowed, and only as many as there are real folders above the link.

    `..` after another part would be wrong to reckon by name: that part may be a link itself.
    """
    parts = [part for part in member.linkname.split("/") if part not in ("", ".")]
    depth = name.count("/")
    leading = 0
    while leading < len(parts) and parts[leading] == "..":
        leading += 1
    is_absolute = member.linkname.startswith("/") or not member.linkname
    if is_absolute or leading > depth or ".." in parts[leading:]:
        raise SourceRefused(f"{member.name!r} links to {member.linkname!r}, outside the folder")


def _write_all(archive: tarfile.TarFile, members: List[Member], root: str) -> None:
    for member, name in members:
        path = os.path.join(root, name) if name else root
        if member.isdir():
            os.makedirs(path, exist_ok=True)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if member.issym():
            os.symlink(member.linkname, path)
        elif member.islnk():
            os.link(os.path.join(root, _clean(member.linkname) or ""), path)
        else:
            _write_file(archive, member, path)


def _write_file(archive: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
    mode = (member.mode & 0o755) | 0o600
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    content = archive.extractfile(member)
    with open(descriptor, "wb") as file:
        if content is not None:
            shutil.copyfileobj(content, file, 1 << 20)
    if os.stat(path).st_size != member.size:
        raise SourceRefused(f"{member.name!r} is cut short")
