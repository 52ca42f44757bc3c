"""The users of a machine: who logs in gets an account and a home, as the guest agent would do it.

Must not import anything of ours: it runs inside.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

PASSWD = Path("/etc/passwd")
GROUP = Path("/etc/group")
FIRST_ID = 1000
NOBODY_ID = 65534

_NAME = re.compile(r"[a-z_][a-z0-9_.-]{0,31}", re.IGNORECASE)


class User(NamedTuple):
    """Somebody who can run programs in the machine."""

    name: str
    uid: int
    gid: int
    home: str
    shell: str


ROOT = User("root", 0, 0, "/root", "/bin/sh")


class UserRefused(Exception):
    """A name that nobody can have."""


def find(name: str) -> User | None:
    """The account of that name, if there is one."""
    try:
        lines = PASSWD.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        fields = line.split(":")
        if len(fields) == 7 and fields[0] == name:
            return User(name, int(fields[2]), int(fields[3]), fields[5], fields[6] or "/bin/sh")
    # There is always a root, also in a machine that has removed its own files.
    return ROOT if name == ROOT.name else None


def ensure(name: str, *, can_switch_user: bool) -> User:
    """The account of that name, made if needed. Without other users, it is root by that name."""
    if not _NAME.fullmatch(name):
        raise UserRefused(f"{name!r} cannot be a user's name")
    known = find(name)
    if known is not None and known.uid in (0, *range(FIRST_ID, NOBODY_ID)):
        return known
    if known is not None:
        raise UserRefused(f"{name} is not a user who logs in")
    uid = _free_id() if can_switch_user else 0
    user = User(name, uid, uid, f"/home/{name}", _shell())
    with PASSWD.open("a") as file:
        file.write(f"{name}:x:{uid}:{uid}::{user.home}:{user.shell}\n")
    if uid:
        with GROUP.open("a") as file:
            file.write(f"{name}:x:{uid}:\n")
    _make_home(user)
    return user


def _shell() -> str:
    return "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"


def _free_id() -> int:
    taken = {0}
    for path in (PASSWD, GROUP):
        for line in path.read_text(errors="replace").splitlines():
            fields = line.split(":")
            if len(fields) > 2 and fields[2].isdecimal():
                taken.add(int(fields[2]))
    return next(number for number in range(FIRST_ID, NOBODY_ID) if number not in taken)


def _make_home(user: User) -> None:
    home = Path(user.home)
    if home.exists():
        return
    home.mkdir(parents=True)
    home.chmod(0o755)
    os.chown(home, user.uid, user.gid)
    # Flat, as it is on every distribution.
    for path in Path("/etc/skel").glob("*"):
        if path.is_file():
            copy = home / path.name
            copy.write_bytes(path.read_bytes())
            os.chown(copy, user.uid, user.gid)
