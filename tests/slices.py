"""Cloud TPU of the twin for tests: the service behind a door, a clock that tests turn, and a client
that checks every answer against Google's discovery documents.

Must not know a test.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from buckets import HandClock
from windlass.catalog.load import load_catalog
from windlass.ports.entropy import seeded
from windlass.twin.access.apis import EnabledApis
from windlass.twin.access.guard import Access
from windlass.twin.access.policies import Policies
from windlass.twin.billing import Billing
from windlass.twin.cloud import Cloud
from windlass.twin.discovery.api import load_api
from windlass.twin.discovery.check import check
from windlass.twin.discovery.router import Router
from windlass.twin.door import Door, Services
from windlass.twin.fleet import Fleet
from windlass.twin.journal import SqliteJournal
from windlass.twin.machine import Boot, Machine
from windlass.twin.market import Market
from windlass.twin.messages import Bytes, Request
from windlass.twin.quotas import Quotas
from windlass.twin.settings import SHORT, Delays, Settings
from windlass.twin.tokens import Tokens
from windlass.twin.tpu.service import Tpu

TOKEN = "the-home's"
PROJECT = "projects/twin-project"
V4 = "us-central2-b"
V5E = "us-west4-a"
KINDS = ("Node", "QueuedResource")


class NoKeys:
    """No service account has a key."""

    def is_signed(self, email: str, *, key_id: str, message: bytes, signature: bytes) -> bool:
        return False


class Bodies:
    """Machines that only remember what they were told to run."""

    def __init__(self) -> None:
        self.boots: dict[str, Boot] = {}
        self.warnings: list[str] = []
        self.exits: dict[str, int] = {}

    def start(self, machine_id: str, boot: Boot) -> str:
        self.boots[machine_id] = boot
        return f"127.1.0.{len(self.boots)}"

    def warn(self, machine_id: str) -> None:
        self.warnings.append(machine_id)

    def kill(self, machine_id: str) -> None:
        pass

    def delete(self, machine_id: str) -> None:
        pass

    def exited(self, machine_id: str) -> int | None:
        return self.exits.get(machine_id)

    def living(self) -> list[str]:
        return list(self.boots)


class Slices:
    """A twin with nothing but Cloud TPU in it."""

    def __init__(
        self,
        *,
        delays: Delays = SHORT,
        bodies: Bodies | None = None,
        folder: Path | None = None,
        clock: HandClock | None = None,
    ) -> None:
        self.clock = clock or HandClock()
        self._journal = SqliteJournal(folder / "journal.sqlite") if folder else None
        self.cloud = Cloud(
            clock=self.clock,
            chance=seeded(7),
            journal=self._journal,
            settings=Settings(delays=delays),
        )
        catalog = load_catalog()
        self.market = Market(self.cloud)
        self.quotas = Quotas(self.cloud, catalog=catalog)
        self.billing = Billing(self.cloud, catalog=catalog)
        self.fleet = Fleet(
            self.cloud,
            market=self.market,
            quotas=self.quotas,
            billing=self.billing,
            bodies=bodies,
        )
        self.tpu = Tpu(
            self.cloud,
            catalog=catalog,
            market=self.market,
            quotas=self.quotas,
            fleet=self.fleet,
            project_metadata=lambda: {"ssh-keys": "me:ssh-rsa AAAA"},
        )
        guard = Access(apis=EnabledApis(self.cloud), policies=Policies(self.cloud))
        self.door = Door(
            self.cloud,
            router=Router(),
            tokens=Tokens(self.cloud, home=TOKEN, keys=NoKeys()),
            services=Services(routes=self.tpu.routes(), guard=guard),
        )

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()

    def wait(self, seconds: float) -> None:
        """Let time pass, and what is due happen when it is."""
        end = self.clock.at + seconds
        while (at := self.cloud.next_at()) is not None and at <= end:
            self.clock.at = max(self.clock.at, at)
            self.cloud.advance()
        self.clock.at = end

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        version: str = "v2",
        project: str = PROJECT,
        **query: str,
    ) -> tuple[int, dict[str, Any]]:
        """The status and the body of an answer that Google's documents allow."""
        path = f"/{version}/{project}{path}"
        response = self.door.answer(
            Request(
                method=method,
                host="tpu.googleapis.com",
                path=path,
                query=urlencode(query),
                headers={"authorization": f"Bearer {TOKEN}"},
                body=Bytes(b"" if body is None else json.dumps(body).encode()),
            )
        )
        assert isinstance(response.content, bytes)
        answer = json.loads(response.content)
        if response.status == 200:
            found = Router().find("tpu.googleapis.com", method, path)
            assert found.match is not None
            assert found.match.method.response is not None
            assert check(found.api, found.match.method.response, answer, answer=True) == []
            _check_inside(answer, version)
        return response.status, answer

    def done(self, method: str, path: str, body: Any = None, **query: str) -> dict[str, Any]:
        """An operation that was taken."""
        status, operation = self.ask(method, path, body, **query)
        assert status == 200, operation
        return operation

    def get(self, path: str, **query: str) -> dict[str, Any]:
        """A resource that is there."""
        status, resource = self.ask("GET", path, **query)
        assert status == 200, resource
        return resource

    def create(self, name: str, accelerator: str, *, zone: str = V4, **more: Any) -> dict[str, Any]:
        """Ask for a node; the operation."""
        body = {"acceleratorType": accelerator, "runtimeVersion": "tpu-ubuntu2204-base", **more}
        return self.done("POST", f"/locations/{zone}/nodes", body, nodeId=name)

    def enqueue(
        self,
        name: str,
        accelerator: str,
        *,
        zone: str = V4,
        version: str = "v2",
        spec: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """Ask for a queued resource; the operation."""
        node = {"acceleratorType": accelerator, "runtimeVersion": "tpu-ubuntu2204-base"}
        one = {"parent": f"{PROJECT}/locations/{zone}", "node": node}
        one |= spec or {"nodeId": f"{name}-node"}
        body = {"tpu": {"nodeSpec": [one]}, **more}
        path = f"/locations/{zone}/queuedResources"
        return self.done("POST", path, body, version=version, queuedResourceId=name)

    def node(self, name: str, *, zone: str = V4, version: str = "v2") -> dict[str, Any]:
        """A node as it is shown."""
        return self.get(f"/locations/{zone}/nodes/{name}", version=version)

    def queued(self, name: str, *, zone: str = V4, version: str = "v2") -> dict[str, Any]:
        """A queued resource as it is shown."""
        return self.get(f"/locations/{zone}/queuedResources/{name}", version=version)

    def state(self, name: str, *, zone: str = V4) -> str:
        """A queued resource's."""
        return str(self.queued(name, zone=zone)["state"]["state"])

    def workers(self, name: str, *, zone: str = V4) -> list[Machine]:
        """A node's machines."""
        node = self.tpu.nodes.get(f"{PROJECT}/locations/{zone}/nodes/{name}")
        return self.tpu.nodes.machines(node)


def _check_inside(operation: dict[str, Any], version: str) -> None:
    """Documents leave open what is in an operation; clients do not."""
    response = dict(operation.get("response") or {})
    kind = response.pop("@type", "").rpartition(".")[2]
    if kind in KINDS:
        assert check(load_api("tpu", version), kind, response, answer=True) == []
