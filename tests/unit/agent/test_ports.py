"""Ports for coordinators: free, outside the kernel's own range, and nobody else's."""

from __future__ import annotations

import socket

import pytest

from windlass.agent import ports

RANGES = {
    "as Linux has it": ((32768, 60999), (20000, 32767)),
    "wide": ((1024, 65000), (65001, 65535)),
    "low": ((10000, 30000), (30001, 65535)),
    "everything": ((1024, 65535), (20000, 65535)),
    "almost everything": ((20050, 65500), (20000, 65535)),
}


@pytest.mark.parametrize("case", RANGES)
def test_ports_are_outside_the_range_the_kernel_gives_away(case: str) -> None:
    ephemeral, expected = RANGES[case]
    assert ports.usable_range(ephemeral) == expected


def reserve(count: int) -> ports.Reservation:
    return ports.reserve(count, ports.usable_range(ports.ephemeral_range()))


def test_a_port_can_be_bound_while_it_is_reserved() -> None:
    reservation = reserve(3)
    for port in range(reservation.first, reservation.first + 3):
        with socket.socket() as rank:
            rank.bind(("127.0.0.1", port))
    reservation.release()


def test_nobody_is_given_the_same_port_twice() -> None:
    held = [reserve(1) for _ in range(300)]
    assert len({reservation.first for reservation in held}) == 300
    for reservation in held:
        reservation.release()


def test_a_port_in_use_is_not_given() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ports.NoPort):
            ports.reserve(1, (port, port))
