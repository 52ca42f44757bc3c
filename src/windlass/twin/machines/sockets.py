"""Whose end of a loopback connection it is: the machine, if any, that holds the other socket.

Must not trust what a request says about its sender; it looks at the kernel's own tables.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

Address = tuple[str, int]

PROC = Path("/proc")


def inode_of(own: Address, other: Address) -> int | None:
    """The socket bound to `own` and connected to `other`."""
    wanted = {(_coded(own, family), _coded(other, family)) for family in (4, 6)}
    for name in ("tcp", "tcp6"):
        try:
            lines = (PROC / "net" / name).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if (fields[1], fields[2]) in wanted and fields[9] != "0":
                return int(fields[9])
    return None


def _coded(address: Address, family: int) -> str:
    """As the kernel prints it: words of the address in the host's byte order, then the port."""
    packed = ipaddress.ip_address(address[0].partition("%")[0]).packed
    if family == 6 and len(packed) == 4:
        packed = bytes(10) + b"\xff\xff" + packed
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words) + f":{address[1]:04X}"


def holder(inode: int, namespaces: Mapping[str, str]) -> str | None:
    """Which of these has a process with that socket open. By process namespace, their names."""
    target = f"socket:[{inode}]"
    for pid, namespace in _processes():
        name = namespaces.get(namespace)
        if name is not None and target in _open_files(pid):
            return name
    return None


def namespace_of(pid: int) -> str | None:
    """The process namespace that a process is in."""
    try:
        return str((PROC / str(pid) / "ns" / "pid").readlink())
    except OSError:
        return None


def _processes() -> Iterator[tuple[int, str]]:
    for folder in PROC.iterdir():
        if folder.name.isdecimal():
            namespace = namespace_of(int(folder.name))
            if namespace is not None:
                yield int(folder.name), namespace


def _open_files(pid: int) -> Iterable[str]:
    found = set()
    try:
        for link in (PROC / str(pid) / "fd").iterdir():
            try:
                found.add(str(link.readlink()))
            except OSError:
                # It was closed meanwhile.
                continue
    except OSError:
        # The process has gone.
        pass
    return found
