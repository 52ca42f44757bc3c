"""A connection's socket is found in the kernel's tables."""

from __future__ import annotations

import os
import socket

import pytest

from windlass.twin.machines import sockets


@pytest.mark.parametrize(
    ("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_the_inode_of_a_connection_is_that_of_its_socket(family, host):
    try:
        server = socket.create_server((host, 0), family=family)
    except OSError:
        pytest.skip(f"no {host} here")
    with server, socket.create_connection(server.getsockname()[:2]) as near:
        far, peer = server.accept()
        with far:
            inode = sockets.inode_of(peer[:2], far.getsockname()[:2])
            assert inode == os.fstat(near.fileno()).st_ino
            inside = sockets.namespace_of(os.getpid())
            assert sockets.holder(inode, {inside: "mine"}) == "mine"
            assert sockets.holder(inode, {"pid:[1]": "other"}) is None
    assert sockets.inode_of(("127.0.0.1", 1), ("127.0.0.1", 2)) is None
