"""A port for the coordinator of a gang, that no other node of this machine has.

Must not be held open: the ranks bind it themselves.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import List, Optional, Tuple

_LOWEST = 20000
_HIGHEST = 65535
_EPHEMERAL = (32768, 60999)
_TRIES = 200


class NoPort(Exception):
    """Every port that was tried is in use."""


class Reservation:
    """Ports that nobody else who asks here will be given while this object lives.

    The port itself cannot be held open, since a rank will bind it. On Linux a name in the abstract
    socket namespace stands for it: it is as wide as the ports are (the network namespace), and
    goes away with the process. Elsewhere two agents that start together may draw the same port.
    """

    def __init__(self, first: int, held: List[socket.socket]) -> None:
        self.first = first
        self._held = held

    def release(self) -> None:
        """Give the ports back; the end of the process does so too."""
        for mark in self._held:
            mark.close()


def reserve(count: int, within: Tuple[int, int]) -> Reservation:
    """`count` free ports in a row."""
    low, high = within
    for _ in range(_TRIES):
        first = low + int.from_bytes(os.urandom(4), "big") % (high - low - count + 2)
        held = _hold(first, count)
        if held is not None:
            return Reservation(first, held)
    raise NoPort(f"no {count} free ports in a row between {low} and {high}")


def usable_range(ephemeral: Tuple[int, int]) -> Tuple[int, int]:
    """The widest range of ports from 20000 that the kernel does not hand out by itself."""
    low, high = ephemeral
    below, above = (_LOWEST, low - 1), (max(high + 1, _LOWEST), _HIGHEST)
    widest = max(below, above, key=lambda pair: pair[1] - pair[0])
    return widest if widest[1] - widest[0] >= 100 else (_LOWEST, _HIGHEST)


def ephemeral_range() -> Tuple[int, int]:
    """From where the kernel takes the ports of those who do not name one."""
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range", "rb") as file:
            low, high = file.read().split()
    except OSError:
        return _EPHEMERAL
    return int(low), int(high)


def _hold(first: int, count: int) -> Optional[List[socket.socket]]:
    held: List[socket.socket] = []
    for port in range(first, first + count):
        if not (_mark(port, held) and _is_free(port)):
            for mark in held:
                mark.close()
            return None
    return held


def _mark(port: int, held: List[socket.socket]) -> bool:
    if not sys.platform.startswith("linux"):
        return True
    mark = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    held.append(mark)
    try:
        mark.bind(f"\0windlass-port-{port}")
    except OSError:
        return False
    return True


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
