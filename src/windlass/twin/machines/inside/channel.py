"""How one asks a machine's init: small JSON messages over a Unix socket, descriptors beside them.

Must not import anything of ours: it runs on both sides of the wall.
"""

from __future__ import annotations

import array
import json
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MESSAGE_BYTES_MAX = 190_000
DESCRIPTORS_MAX = 4


class Refused(Exception):
    """A message that cannot be sent or understood."""


def listen(path: str) -> socket.socket:
    """A listening socket at a (short) path; an old one there is replaced."""
    Path(path).unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC)
    listener.bind(path)
    listener.listen(64)
    return listener


def connect(path: str) -> socket.socket:
    """Reach a listener. The name may be longer than the kernel's hundred bytes."""
    folder, name = os.path.split(path)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC)
    holder = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sock.connect(f"/proc/self/fd/{holder}/{name}")
    except OSError:
        sock.close()
        raise
    finally:
        os.close(holder)
    return sock


def send(sock: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """One message, with open files beside it."""
    content = json.dumps(message).encode()
    if len(content) > MESSAGE_BYTES_MAX:
        raise Refused(f"a command of {len(content)} bytes is too long")
    extra = []
    if descriptors:
        rights = array.array("i", descriptors)
        extra = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)]
    sock.sendmsg([content], extra)


def receive(sock: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """The next message and its open files; None when the other side has gone."""
    space = socket.CMSG_SPACE(DESCRIPTORS_MAX * array.array("i").itemsize)
    content, extra, _, _ = sock.recvmsg(MESSAGE_BYTES_MAX, space, socket.MSG_CMSG_CLOEXEC)
    descriptors = array.array("i")
    for level, kind, data in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
    if not content:
        _close(descriptors)
        return None
    try:
        message = json.loads(content)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        _close(descriptors)
        raise Refused("that is no message")
    return message, list(descriptors)


def _close(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
