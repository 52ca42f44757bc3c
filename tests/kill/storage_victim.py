"""A process that uploads to the twin's Cloud Storage until it is killed, and says what was
acknowledged.

Must not be imported: tests start it with a folder and a seed. Each line on its output is one
acknowledged write.
"""

from __future__ import annotations

import json
import random
import sys
import threading
from pathlib import Path

from buckets import Client, content, place
from windlass.ports.clock import SystemClock
from windlass.ports.entropy import SeededEntropy
from windlass.twin.storage.service import Storage

QUANTUM = 256 << 10
WRITERS = 3
SIZES = (10, 5_000, 65_536, 65_537, 200_000, QUANTUM + 7, 3 * QUANTUM)


def main() -> None:
    folder, seed = Path(sys.argv[1]), int(sys.argv[2])
    storage = Storage(folder, clock=SystemClock(), chance=SeededEntropy(seed))
    client = Client(storage)
    client.ask("POST", "/storage/v1/b", project="twin", body={"name": "shelf"})
    lock = threading.Lock()
    say(lock, {"ready": True})
    for number in range(WRITERS):
        chance = random.Random(seed * 100 + number)
        threading.Thread(target=write, args=(client, chance, f"w{number}", lock)).start()


def say(lock: threading.Lock, told: dict[str, object]) -> None:
    with lock:
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


def write(client: Client, chance: random.Random, writer: str, lock: threading.Lock) -> None:
    """Write for ever: each writer has names of its own, so the order of its words is the order of
    its writes."""
    while True:
        name = f"{writer}/{chance.randrange(4)}"
        letter, size = chance.randrange(97, 123), chance.choice(SIZES)
        body = bytes([letter]) * size
        say(lock, {"begin": name, "letter": letter, "size": size})
        way = chance.choice(("media", "session", "chunks", "delete", "copy"))
        if way == "delete":
            client.ask("DELETE", place(name))
            say(lock, {"done": name, "deleted": True})
            continue
        if way == "media":
            made = client.put(name, body)
        elif way == "copy":
            client.put(f"{writer}/source", body)
            path = f"{place(f'{writer}/source')}/copyTo/b/shelf/o/{place(name).rpartition('/')[2]}"
            made = client.json("POST", path)
        else:
            session = client.start_session(name)
            start = 0
            if way == "chunks" and size > QUANTUM:
                client.send(session, body[:QUANTUM], span=f"bytes 0-{QUANTUM - 1}/*")
                say(lock, {"session": session, "kept": QUANTUM, "of": name})
                start = QUANTUM
            response = client.send(session, body[start:], span=f"bytes {start}-{size - 1}/{size}")
            made = json.loads(content(response))
        say(
            lock,
            {"done": name, "letter": letter, "size": size, "generation": made["generation"]},
        )


if __name__ == "__main__":
    main()
