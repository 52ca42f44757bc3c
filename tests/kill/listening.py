"""A diary for ranks on machines that cannot write to this disk: they send each line, and wait until
it is written.

Must not be asked by Windlass: what ranks say here, nobody else knows.
"""

from __future__ import annotations

import json
import socketserver
import threading
from pathlib import Path


class _Reader(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        server = self.server
        assert isinstance(server, Listener)
        try:
            for line in self.rfile:
                server.write(line)
                self.wfile.write(b"\n")
        except ConnectionError:
            pass  # Its machine was taken away.


class Listener(socketserver.ThreadingTCPServer):
    """Writes what it hears in the order in which it happened, a file for each run."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Reader)
        self._folder = folder
        self._order = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """What ranks are given as their diary."""
        return f"tcp://127.0.0.1:{self.server_address[1]}"

    def file(self, run_id: str) -> Path:
        """What the ranks of a run have said."""
        return self._folder / f"diary {run_id}.jsonl"

    def write(self, line: bytes) -> None:
        """Keep a line; nobody is answered before."""
        run_id = str(json.loads(line)["run"])
        with self._order, self.file(run_id).open("ab") as diary:
            diary.write(line)

    def close(self) -> None:
        """Hear nobody any more."""
        self.shutdown()
        self.server_close()
        self._thread.join()
