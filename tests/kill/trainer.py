"""A small training program whose every step can be accounted for: two ranks that add numbers up.

Must not know that it will be killed. It is shipped as the source of real runs.

Rank 1 sends its number for each step to rank 0, which adds both up, as an all-reduce would. Rank 0
keeps, in the checkpoint, which attempt counted which steps. Both write what they do to a file of
the test's, outside of everything that Windlass keeps, in the order in which it really happened.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import struct
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from windlass.runtime import Checkpointer, context, progress
from windlass.runtime.checkpoint.bucket import BucketShelf

PACE_S = 0.012
SAVE_EVERY = 10
_NUMBER = struct.Struct("!q")


def value(step: int, rank: int) -> int:
    """What a rank contributes to a step."""
    return (rank + 1) * step * step + 7 * rank


class Diary:
    """Lines in a file that all ranks of all attempts append to; or, on machines that have no disk
    in common, sent to somebody who does that and says when it is done."""

    def __init__(self) -> None:
        self._here = context()
        place = urlsplit(os.environ["DIARY"])
        self._far = None
        if place.scheme:
            self._far = socket.create_connection((place.hostname, place.port))
        else:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            self._file = os.open(os.environ["DIARY"], flags, 0o644)

    def say(self, what: str, step: int = 0, **more: Any) -> None:
        line = {"what": what, "step": step, "attempt": self._here.attempt, **more}
        line |= {"rank": self._here.rank, "pid": os.getpid(), "time": time.time()}
        line |= {"run": self._here.run}
        said = json.dumps(line).encode() + b"\n"
        if self._far is None:
            os.write(self._file, said)
        else:
            self._far.sendall(said)
            self._far.recv(1)


def meet(rank: int) -> socket.socket:
    """The connection between the two ranks."""
    host, port = context().coordinator.rsplit(":", 1)
    if rank == 0:
        with socket.create_server((host, int(port))) as server:
            return server.accept()[0]
    while True:
        try:
            return socket.create_connection((host, int(port)))
        except ConnectionRefusedError:
            time.sleep(0.01)


def send(peer: socket.socket, number: int) -> None:
    peer.sendall(_NUMBER.pack(number))


def receive(peer: socket.socket) -> int:
    data = b""
    while len(data) < _NUMBER.size:
        more = peer.recv(_NUMBER.size - len(data))
        if not more:
            raise ConnectionResetError("the other rank is gone")
        data += more
    return int(_NUMBER.unpack(data)[0])


def committed(folder: Path | str) -> int:
    """The newest committed checkpoint, by looking at the files and nothing else."""
    if isinstance(folder, str):
        return max(BucketShelf(folder).steps(), default=0)
    return max((int(found.parent.name) for found in folder.glob("*/manifest.json")), default=0)


def lead(steps: int, diary: Diary) -> None:
    """Rank 0: add up, and save."""
    checkpoints = Checkpointer()
    newest = committed(checkpoints.folder)
    found = checkpoints.restore()
    state = found.state if found is not None else {"sum": 0, "count": 0, "counted": []}
    first = found.step if found is not None else 0
    diary.say("restored", first, newest=newest)
    state["counted"].append([context().attempt, first + 1, first])
    peer = meet(0)
    send(peer, first)
    for step in range(first + 1, steps + 1):
        state["sum"] += value(step, 0) + receive(peer)
        state["count"] += 1
        state["counted"][-1][2] = step
        progress(step, total=state["sum"])
        diary.say("step", step)
        if step % SAVE_EVERY == 0 or step == steps:
            diary.say("saving", step)
            checkpoints.save(step, state)
            diary.say("saved", step)
        time.sleep(PACE_S)
        send(peer, step)


def follow(steps: int) -> None:
    """Rank 1: contribute to every step."""
    peer = meet(1)
    for step in range(receive(peer) + 1, steps + 1):
        send(peer, value(step, 1))
        receive(peer)


def lose_peer(way: str) -> None:
    """What programs do when the other rank is gone: fail, hang, or hang and not even hear."""
    if way == "fail":
        raise SystemExit("the other rank is gone")
    if way == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        signal.pause()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--without-peer", choices=("fail", "hang", "deaf"), required=True)
    options = parser.parse_args()
    diary = Diary()
    diary.say("began")
    try:
        if context().rank == 0:
            lead(options.steps, diary)
        else:
            follow(options.steps)
    except ConnectionError:
        diary.say("alone")
        lose_peer(options.without_peer)
    diary.say("done")


if __name__ == "__main__":
    main()
