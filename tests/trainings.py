"""A twin with Vertex AI and Logging alone, on a clock that stands still until it is moved.

Must not answer for Google: every answer is checked against the discovery documents on its way.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from windlass.catalog.load import load_catalog
from windlass.twin.access.accounts import ServiceAccounts
from windlass.twin.access.apis import EnabledApis
from windlass.twin.access.guard import Access
from windlass.twin.access.keys import RsaKeys
from windlass.twin.access.policies import Policies
from windlass.twin.billing import Billing
from windlass.twin.cloud import Cloud
from windlass.twin.discovery.check import check
from windlass.twin.discovery.router import Router
from windlass.twin.door import Door, Services
from windlass.twin.fleet import Fleet
from windlass.twin.journal import Journal
from windlass.twin.logging.logs import Logs
from windlass.twin.logging.service import Logging
from windlass.twin.machine import Bodies, Boot
from windlass.twin.market import Market
from windlass.twin.messages import Bytes, Request
from windlass.twin.quotas import Quotas
from windlass.twin.settings import Delays, Settings
from windlass.twin.tokens import Tokens
from windlass.twin.vertex.service import Vertex
from windlass.twin.vertex.speech import Speech

HOST = "us-central1-aiplatform.googleapis.com"
LOGGING = "logging.googleapis.com"
PARENT = "/v1/projects/twin-project/locations/us-central1"
TOKEN = "token-of-the-owner"
START = 1_800_000_000.0


class Clock:
    """Implements ports.Clock."""

    def __init__(self) -> None:
        self.time = START

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


class Programs:
    """Implements fleet.Bodies and Consoles: machines that do what a test says."""

    def __init__(self) -> None:
        self.is_full = False
        self.boots: dict[str, Boot] = {}
        self.running: list[str] = []
        self.warned: list[str] = []
        self.statuses: dict[str, int] = {}
        self.printed: dict[str, bytes] = {}

    def start(self, machine_id: str, boot: Boot) -> str:
        self.boots[machine_id] = boot
        self.running.append(machine_id)
        return "" if self.is_full else "127.64.0.9"

    def resume(self, machine_id: str, address: str) -> None:
        self.running.append(machine_id)

    def warn(self, machine_id: str) -> None:
        self.warned.append(machine_id)

    def kill(self, machine_id: str) -> None:
        if machine_id in self.running:
            self.running.remove(machine_id)

    def delete(self, machine_id: str) -> None:
        self.kill(machine_id)

    def exited(self, machine_id: str) -> int | None:
        return self.statuses.get(machine_id)

    def living(self) -> list[str]:
        return list(self.running)

    def console(self, machine_id: str, start: int = 0) -> bytes:
        return self.printed.get(machine_id, b"")[start:]

    def named(self, hostname_end: str) -> str:
        """The newest machine whose host name ends so."""
        found = [key for key, boot in self.boots.items() if boot.hostname.endswith(hostname_end)]
        return found[-1]


class Stand:
    """The twin, and a client of it."""

    def __init__(
        self,
        *,
        bodies: Programs | None = None,
        delays: Delays | None = None,
        journal: Journal | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.clock = clock or Clock()
        settings = Settings(delays=delays or Delays())
        self.cloud = Cloud(clock=self.clock, chance=Random(7), settings=settings, journal=journal)
        catalog = load_catalog()
        policies, apis = Policies(self.cloud), EnabledApis(self.cloud)
        accounts = ServiceAccounts(self.cloud, policies=policies, rsa=RsaKeys())
        tokens = Tokens(self.cloud, home=TOKEN, keys=accounts)
        self.market = Market(self.cloud)
        self.quotas = Quotas(self.cloud, catalog=catalog)
        self.billing = Billing(self.cloud, catalog=catalog)
        given: Bodies | None = bodies
        self.fleet = Fleet(
            self.cloud,
            market=self.market,
            quotas=self.quotas,
            billing=self.billing,
            bodies=given,
        )
        self.logs = Logs(self.cloud)
        self.vertex = Vertex(
            self.cloud,
            catalog=catalog,
            market=self.market,
            quotas=self.quotas,
            fleet=self.fleet,
            speech=Speech(self.cloud, logs=self.logs, fleet=self.fleet, consoles=bodies),
        )
        self._router = Router()
        self._door = Door(
            self.cloud,
            router=self._router,
            tokens=tokens,
            services=Services(
                routes={**self.vertex.routes(), **Logging(self.cloud, self.logs).routes()},
                guard=Access(apis=apis, policies=policies),
            ),
        )

    def ask(
        self, method: str, path: str, body: Any = None, *, query: str = "", host: str = HOST
    ) -> tuple[int, dict[str, Any]]:
        """Status and answer; one that Google could not have given fails the test."""
        sent = b"" if body is None else json.dumps(body).encode()
        response = self._door.answer(
            Request(
                method=method,
                host=host,
                path=path,
                query=query,
                headers={"authorization": f"Bearer {TOKEN}"},
                body=Bytes(sent),
            )
        )
        assert isinstance(response.content, bytes)
        answer = json.loads(response.content)
        found = self._router.find(host, method, path)
        if response.status == 200 and found.match is not None and found.match.method.response:
            findings = check(found.api, found.match.method.response, answer, answer=True)
            assert not findings, findings
        return response.status, answer

    def create(self, spec: dict[str, Any] | None = None, **more: Any) -> str:
        """A CustomJob; its full name."""
        body = {"displayName": "train", "jobSpec": spec or one_replica(), **more}
        status, answer = self.ask("POST", f"{PARENT}/customJobs", body)
        assert status == 200, answer
        return str(answer["name"])

    def get(self, name: str) -> dict[str, Any]:
        """A resource as it is now."""
        status, answer = self.ask("GET", f"/v1/{name}")
        assert status == 200, answer
        return answer

    def later(self, seconds: float) -> None:
        """Let time pass, one appointment after the other."""
        end = self.clock.time + seconds
        while (due := self.cloud.next_at()) is not None and due <= end:
            self.clock.time = max(self.clock.time, due)
            self.cloud.advance()
        self.clock.time = end
        self.cloud.commit()

    def tick(self) -> None:
        """What the server does now and then."""
        with self.cloud.lock:
            self.cloud.advance()
            self.fleet.poll()
            self.vertex.collect()
            self.cloud.commit()

    def read_logs(self, text: str = "", **more: Any) -> list[dict[str, Any]]:
        """Log entries that pass a filter."""
        body = {"resourceNames": ["projects/twin-project"], "filter": text, **more}
        status, answer = self.ask("POST", "/v2/entries:list", body, host=LOGGING)
        assert status == 200, answer
        return list(answer.get("entries", []))


def pool(machine: str = "n1-standard-8", replicas: int = 1, **more: Any) -> dict[str, Any]:
    """A worker pool that runs a script."""
    return {
        "machineSpec": {"machineType": machine, **more},
        "replicaCount": str(replicas),
        "containerSpec": {
            "imageUri": "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.1-13.py310:latest",
            "command": ["python", "train.py"],
            "args": ["--epochs=1"],
        },
    }


def one_replica(**scheduling: Any) -> dict[str, Any]:
    """The smallest jobSpec."""
    spec: dict[str, Any] = {"workerPoolSpecs": [pool()]}
    return {**spec, "scheduling": scheduling} if scheduling else spec
