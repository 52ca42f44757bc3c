"""The command lines that gcloud gives to ssh and scp are understood."""

from __future__ import annotations

import pytest

from windlass.twin.machines.ssh_words import Scp, Ssh, read_place, read_scp, read_ssh

GCLOUD = (
    "-i /k -o CheckHostIP=no -o HashKnownHosts=no -o HostKeyAlias=compute.42 -o IdentitiesOnly=yes "
    "-o StrictHostKeyChecking=yes -o UserKnownHostsFile=/known"
).split()

LINES = {
    "gcloud without a command": (
        ["-t", *GCLOUD, "ada@127.9.0.5"],
        Ssh(host="127.9.0.5", user="ada", terminals=1),
    ),
    "gcloud with a command": (
        ["-T", *GCLOUD, "ada@127.9.0.5", "--", "ls | wc -l"],
        Ssh(host="127.9.0.5", user="ada", command="ls | wc -l", terminals=-1),
    ),
    "options behind the host": (
        ["127.9.0.5", "-l", "ada", "-p22", "-tt", "echo", "-n", "hi"],
        Ssh(host="127.9.0.5", user="ada", command="echo -n hi", terminals=2),
    ),
    "only a tunnel": (
        ["-nNL", "8888:localhost:8888", "ada@127.9.0.5"],
        Ssh(host="127.9.0.5", user="ada", has_command=False, has_input=False),
    ),
    "an address of its own kind": (["ssh://ada@127.9.0.5"], Ssh(host="127.9.0.5", user="ada")),
    "nothing": ([], Ssh()),
}


@pytest.mark.parametrize("case", LINES)
def test_ssh_is_read(case):
    words, expected = LINES[case]
    assert read_ssh(words) == expected


def test_scp_is_read():
    words = ["-r", *GCLOUD, "-P", "22", "a", "b", "ada@127.9.0.5:~/x"]
    assert read_scp(words) == Scp(places=("a", "b", "ada@127.9.0.5:~/x"), is_deep=True)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("ada@127.9.0.5:~/x", ("ada", "127.9.0.5", "~/x")),
        ("127.9.0.5:", ("", "127.9.0.5", "")),
        ("./a:b", ("", "", "./a:b")),
        ("/x/y", ("", "", "/x/y")),
    ],
)
def test_a_place_is_read(place, expected):
    assert read_place(place) == expected
