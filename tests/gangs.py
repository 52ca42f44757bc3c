"""Real agents of a gang, started as an engine starts them, over a run folder of the test's own.

Must not look inside an agent: everything is read from the run folder or seen from outside.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, TypeVar

from bucket_server import BUCKET, URL, BucketServer
from windlass.agent import layout
from windlass.agent.folder import folder_url

T = TypeVar("T")

SOURCES = Path(__file__).parent.parent / "src"
_PROGRAM = """
import sys
sys.path.insert(0, {sources!r})
from windlass.agent import node
{changes}
from windlass.agent.main import main
sys.exit(main())
"""


def until(look: Callable[[], T], *, timeout_s: float = 20.0, what: str = "") -> T:
    """What `look` returns, as soon as it is true."""
    deadline = time.monotonic() + timeout_s
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(what or "it did not happen")
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process lives; a zombie does not."""
    try:
        said = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return said[said.rfind(")") + 2] not in "ZX"


def pythons() -> list[str]:
    """Every Python from 3.9 that this machine has, one of each minor version."""
    folders = [Path(entry) for entry in os.environ.get("PATH", "").split(":") if entry]
    versions = [Path(sys.base_prefix).parent, Path("~/.pyenv/versions").expanduser()]
    if os.environ.get("PYENV_ROOT"):
        versions.append(Path(os.environ["PYENV_ROOT"], "versions"))
    for folder in versions:
        if folder.name == "versions" and folder.is_dir():
            folders += sorted(folder.glob("*/bin"))
    found = {sys.version_info[1]: sys.executable}
    for folder in folders:
        for path in sorted(folder.glob("python3.*")) if folder.is_dir() else []:
            name = re.fullmatch(r"python3\.(\d+)", path.name)
            if name and int(name[1]) >= 9 and int(name[1]) not in found and _works(path):
                found[int(name[1])] = str(path)
    return [found[minor] for minor in sorted(found)]


def _works(path: Path) -> bool:
    done = subprocess.run([path, "-I", "-c", "import ssl"], capture_output=True, check=False)
    return done.returncode == 0


class Gang:
    """A claim with its nodes, all on this machine."""

    def __init__(self, root: Path, *, attempt: int = 1, claim: str = "", **fields: Any) -> None:
        self.root = root
        self.folder = root / "run folder é"
        self.attempt = attempt
        self.claim = claim or f"r-{attempt}-0"
        self.nodes = int(fields.get("nodes", 1))
        self.agents: list[subprocess.Popen[bytes]] = []
        self.secrets: dict[str, str] = {}
        self.wake: str | None = None
        self.watch: str | None = None
        self.env: dict[str, str] = {}
        said = {"version": 1, "run": "r", "name": "r", "attempt": attempt, "claim": self.claim}
        defaults = {"nodes": 1, "ranks_per_node": 1, "launch": "plain", "notice_s": 2}
        self.write(
            layout.claim_file(attempt, self.claim), json.dumps({**said, **defaults, **fields})
        )

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(self, name: str) -> dict[str, Any] | None:
        try:
            said: dict[str, Any] = json.loads((self.folder / name).read_text())
        except FileNotFoundError:
            return None
        return said

    def start(
        self,
        node: int = 0,
        *,
        python: str = sys.executable,
        program: Sequence[str] = (),
        changes: str = "",
    ) -> subprocess.Popen[bytes]:
        """Start the agent of a node; `changes` are statements that shorten node.py's times."""
        code = _PROGRAM.format(sources=str(SOURCES), changes=changes)
        command = [python, "-I", "-S", *(program or ("-c", code)), str(self._node_file(node))]
        env = {"WINDLASS_MARK": self.mark, "WINDLASS_TEST_ID": os.environ["WINDLASS_TEST_ID"]}
        with (self.root / f"agent-{self.attempt}-{node}.txt").open("ab") as output:
            agent = subprocess.Popen(
                command, stdout=output, stderr=output, env=env, start_new_session=True
            )
        self.agents.append(agent)
        return agent

    @property
    def url(self) -> str:
        """Of the run folder."""
        return folder_url(self.folder)

    @property
    def mark(self) -> str:
        """What all of its processes carry in their environment."""
        return str(self.root)

    def start_all(self, **options: Any) -> None:
        for node in range(self.nodes):
            self.start(node, **options)

    def _node_file(self, node: int) -> Path:
        secrets = self.root / "secrets.json"
        secrets.write_text(json.dumps(self.secrets))
        path = self.root / f"node-{self.attempt}-{node}.json"
        env = {name: os.environ[name] for name in ("PATH", "HOME", "WINDLASS_TEST_ID")}
        said = {
            "folder": self.url,
            "attempt": self.attempt,
            "claim": self.claim,
            "node": node,
            "work": str(self.root / f"work of node {node}"),
            "address": "127.0.0.1",
            "env": {**env, **self.env, "GREETING": "grüß dich, $HOME `x` \"y\" 'z'"},
            "secrets": str(secrets) if self.secrets else None,
            "wake": self.wake,
            "watch": self.watch,
            "lock": str(self.root / f"node-{self.attempt}-{node}.lock"),
        }
        path.write_text(json.dumps(said))
        return path

    def wait(self, timeout_s: float = 30.0) -> list[int]:
        """Exit statuses of the keepers."""
        return [agent.wait(timeout_s) for agent in self.agents]

    def exit(self, node: int = 0) -> dict[str, Any] | None:
        return self.read(layout.exit_file(self.attempt, self.claim, node))

    def heartbeat(self, node: int = 0) -> dict[str, Any] | None:
        return self.read(layout.heartbeat(self.attempt, self.claim, node))

    def agent_pid(self, node: int = 0) -> int:
        beat = until(lambda: self.heartbeat(node), what="no heartbeat")
        return int(beat["pid"])

    def chunks(self, where: str, pattern: str = "log-*.txt") -> bytes:
        return b"".join(path.read_bytes() for path in sorted((self.folder / where).glob(pattern)))

    def rank_folder(self, rank: int = 0, node: int = 0) -> str:
        return layout.rank(self.attempt, self.claim, node, rank)

    def log(self, rank: int = 0, node: int = 0) -> str:
        """What a rank printed, without the times."""
        said = self.chunks(self.rank_folder(rank, node)).decode()
        return "".join(line.partition(" ")[2] for line in said.splitlines(keepends=True))

    def setup_log(self, node: int = 0) -> str:
        said = self.chunks(layout.setup_log(self.attempt, self.claim, node)).decode()
        return "".join(line.partition(" ")[2] for line in said.splitlines(keepends=True))

    def signal(self, number: signal.Signals, node: int = 0) -> None:
        self.agents[node].send_signal(number)

    def said_by_agent(self, node: int = 0) -> str:
        return (self.root / f"agent-{self.attempt}-{node}.txt").read_text()


class BucketGang(Gang):
    """A gang whose run folder is in a bucket, which is read past the server's counting."""

    def __init__(self, root: Path, server: BucketServer, **fields: Any) -> None:
        self.server = server
        super().__init__(root, **fields)
        token = root / "token.json"
        token.write_text(json.dumps({"access_token": "good", "expires_in": 300}))
        self.env = {
            "STORAGE_EMULATOR_HOST": server.url,
            "WINDLASS_TOKEN_COMMAND": f"cat '{token}'",
        }

    @property
    def url(self) -> str:
        return URL

    def write(self, name: str, text: str) -> None:
        self.server.client.put(f"home/{name}", text.encode(), bucket=BUCKET)

    def read(self, name: str) -> dict[str, Any] | None:
        if f"home/{name}" not in self.names(name):
            return None
        said: dict[str, Any] = json.loads(self.content(f"home/{name}"))
        return said

    def names(self, prefix: str) -> list[str]:
        return self.server.client.names(bucket=BUCKET, prefix=f"home/{prefix}")

    def content(self, name: str) -> bytes:
        return self.server.client.bytes(name, bucket=BUCKET)

    def chunks(self, where: str, pattern: str = "log-*.txt") -> bytes:
        found = [name for name in self.names(f"{where}/") if fnmatch(name, f"*/{pattern}")]
        return b"".join(self.content(name) for name in found)
