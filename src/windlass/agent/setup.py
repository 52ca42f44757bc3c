"""Making a node ready: the source unpacked and `setup` run, once per node and content.

Must not wait: each part is a child process, and the loop tells when it has ended.
"""

from __future__ import annotations

import os
from typing import Callable, Dict, Optional

from windlass.agent import layout, spawn
from windlass.agent.folder import Folder
from windlass.agent.node import Ended
from windlass.agent.open_folder import read_patiently
from windlass.agent.orders import Claim

FETCH_S = 120.0
"""How long the archive is fetched again and again from a folder that fails."""

Listen = Callable[[spawn.Child], None]
"""What is done with the output of a child."""


class Preparation:
    """Unpack, then `setup`, then a marker beside the folder that says that both are done.

    Without the marker everything starts over: a killed unpack or setup is never taken for whole.
    """

    def __init__(
        self,
        folder: Folder,
        claim: Claim,
        *,
        work: str,
        env: Dict[str, str],
        refusal: Optional[Ended] = None,
    ) -> None:
        """`refusal`: why the node cannot be made ready, known before it is tried."""
        self._folder = folder
        self._claim = claim
        self._env = env
        self._home = os.path.join(work, content_of(claim))
        self._marker = os.path.join(self._home, "ready")
        self._pid: Optional[int] = None
        self._next: Callable[[Listen], None] = self._finish
        self._what = ""
        self._result: Optional[Ended] = None
        self._refusal = refusal
        self.src = os.path.join(self._home, "src")

    @property
    def result(self) -> Optional[Ended]:
        """None while it goes on; status 0 when the node is ready."""
        return self._result

    def begin(self, listen: Listen) -> None:
        """Start what has to be done."""
        if self._refusal is not None:
            self._result = self._refusal
            return
        try:
            os.makedirs(self._home, exist_ok=True)
            if os.path.exists(self._marker):
                self._result = Ended(0)
            elif self._claim.source is not None:
                self._run("unpacking the source", spawn.start_function(self._unpack), listen)
                self._next = self._run_setup
            else:
                self._make_empty()
                self._run_setup(listen)
        except OSError as exc:
            self._result = Ended(1, reason=f"the node could not be prepared: {exc}")

    def ended(self, pid: int, status: int, listen: Listen) -> bool:
        """A child has ended; whether it was one of these."""
        if pid != self._pid:
            return False
        self._pid = None
        if status != 0:
            how = f"was killed by signal {-status}" if status < 0 else f"exit status {status}"
            self._result = Ended(status, reason=f"{self._what} failed with {how}")
            return True
        try:
            self._next(listen)
        except OSError as exc:
            self._result = Ended(1, reason=f"the node could not be prepared: {exc}")
        return True

    def _run(self, what: str, child: spawn.Child, listen: Listen) -> None:
        self._what = what
        self._pid = child.pid
        listen(child)

    def _make_empty(self) -> None:
        if os.path.exists(self.src):
            from shutil import rmtree  # It brings every compression along: only when needed.

            rmtree(self.src)
        os.mkdir(self.src)

    def _unpack(self) -> None:
        """Runs in a process of its own: an archive of gigabytes must not stop the heartbeat."""
        from windlass.agent import source  # Hashes and archives are slow to import.

        sha = self._claim.source or ""
        try:
            data = read_patiently(self._folder, layout.source(sha), seconds=FETCH_S)
            if data is None:
                raise source.SourceRefused("it is not in the run folder")
            source.unpack(data, self.src, sha=sha)
        except (source.SourceRefused, OSError) as exc:
            os.write(2, f"[windlass] the source archive was refused: {exc}\n".encode())
            os._exit(1)

    def _run_setup(self, listen: Listen) -> None:
        self._next = self._finish
        if self._claim.setup is None:
            self._finish(listen)
            return
        child = spawn.start_command(self._claim.setup, env=self._env, cwd=self.src)
        self._run("setup", child, listen)

    def _finish(self, listen: Listen) -> None:
        staged = f"{self._marker}.{os.getpid()}"
        with open(staged, "wb"):
            pass
        os.replace(staged, self._marker)
        self._result = Ended(0)


def content_of(claim: Claim) -> str:
    """A name for what a prepared folder holds: the source and what `setup` made of it."""
    if claim.source is None and claim.setup is None:
        return "empty"
    from hashlib import sha256

    return sha256(f"{claim.source}\n{claim.setup}".encode()).hexdigest()[:16]
