"""A real twin for tests of faults: a process with a port of its own, asked over HTTP.

Must not share a home with anybody.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from windlass.twin.server import control
from windlass.twin.server.home import TwinHome
from windlass.twin.server.variables import applied, variables

PROJECT = "/compute/v1/projects/twin-project"
needs_gcloud = pytest.mark.skipif(shutil.which("gcloud") is None, reason="gcloud is not installed")
IMAGE = "projects/debian-cloud/global/images/family/debian-12"


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.content)

    @property
    def error(self) -> dict[str, Any]:
        """Of a refused request."""
        return self.document["error"]

    @property
    def cause(self) -> dict[str, Any]:
        """Of a failed operation: its first error."""
        return self.document["error"]["errors"][0]


@dataclass
class FaultyTwin:
    """A twin that runs."""

    home: TwinHome
    token: str = field(init=False)

    def __post_init__(self) -> None:
        self.token = self.home.token()

    @classmethod
    def start(cls, folder: Path, **wish: Any) -> FaultyTwin:
        home = TwinHome(folder / "twin")
        control.start(home, control.Wish(**wish), environment=os.environ)
        return cls(home)

    def stop(self) -> None:
        control.stop(self.home)

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request over a connection of its own; ConnectionError when there is no answer."""
        running = self.home.running()
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
        sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        try:
            given = {"Authorization": f"Bearer {self.token}", **(headers or {})}
            connection.request(method, path, body=sent, headers=given)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            connection.close()

    def fault(self, **entry: Any) -> Answer:
        """Let something go wrong."""
        answer = self.ask("POST", "/twin/v1/faults", entry)
        assert answer.status == 200, answer.content
        return answer

    def clear(self) -> None:
        self.ask("POST", "/twin/v1/faults/clear", {})

    def insert(
        self, name: str, *, zone: str = "us-central1-a", query: str = "", **more: Any
    ) -> Answer:
        """Ask for a VM."""
        kind = more.pop("machine", "g2-standard-4")
        body = {
            "name": name,
            "machineType": f"zones/{zone}/machineTypes/{kind}",
            "disks": [{"boot": True, "initializeParams": {"sourceImage": IMAGE}}],
            "networkInterfaces": [{"network": "global/networks/default"}],
            **more,
        }
        return self.ask("POST", f"{PROJECT}/zones/{zone}/instances{query}", body)

    def get(self, name: str, *, zone: str = "us-central1-a") -> Answer:
        return self.ask("GET", f"{PROJECT}/zones/{zone}/instances/{name}")

    def until(self, name: str, status: str, *, zone: str = "us-central1-a") -> dict[str, Any]:
        """The VM once it has that status."""
        deadline = time.monotonic() + 15
        while True:
            shown = self.get(name, zone=zone).document
            if shown.get("status") == status:
                return shown
            assert time.monotonic() < deadline, shown
            time.sleep(0.05)

    def gcloud(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The real gcloud against this twin."""
        running = self.home.running()
        found = variables(self.home, running, mode="proxy", caller=os.environ)
        environment = {**applied(os.environ, found), "CLOUDSDK_CORE_DISABLE_PROMPTS": "1"}
        return subprocess.run(
            ["gcloud", *words],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
