"""A twin of Compute Engine in this process, asked as clients ask.

Must not know a test.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from buckets import HandClock
from windlass.catalog.load import load_catalog
from windlass.ports.entropy import seeded
from windlass.twin.assembly import Parts, Twin, build
from windlass.twin.cloud import Cloud
from windlass.twin.discovery.check import check
from windlass.twin.discovery.router import Router
from windlass.twin.journal import Journal
from windlass.twin.market import Rule
from windlass.twin.messages import Bytes, Request
from windlass.twin.settings import SHORT, Delays, Settings

TOKEN = "token-of-the-tests"
PROJECT = "/compute/v1/projects/twin-project"
ZONE = f"{PROJECT}/zones/us-central1-a"
REGION = f"{PROJECT}/regions/us-central1"
IMAGE = "projects/debian-cloud/global/images/family/debian-12"


class NoKeys:
    """Service accounts are not asked for keys here."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"no test needs {name}")


CATALOG = load_catalog()
ROUTER = Router()


class Google:
    """A twin, asked as a client asks. Every good answer is checked against Google's schema."""

    def __init__(
        self,
        *,
        delays: Delays = SHORT,
        journal: Journal | None = None,
        clock: HandClock | None = None,
    ) -> None:
        self.clock = clock or HandClock()
        settings = replace(Settings(), delays=delays)
        self.cloud = Cloud(clock=self.clock, chance=seeded(7), settings=settings, journal=journal)
        self.twin: Twin = build(self.cloud, catalog=CATALOG, parts=Parts(token=TOKEN, rsa=NoKeys()))
        self.asked: set[str] = set()
        self.rule = ""

    def modelled(self) -> set[str]:
        """The methods of Compute Engine that the twin has."""
        return set(self.twin.compute.routes(None))

    def ask(self, method: str, path: str, body: Any = None, query: str = "") -> tuple[int, Any]:
        """Status and body of the answer."""
        path, _, inline = path.partition("?")
        request = Request(
            method=method,
            host="compute.googleapis.com",
            path=path,
            query=query or inline,
            headers={"authorization": f"Bearer {TOKEN}"},
            body=Bytes(b"" if body is None else json.dumps(body).encode()),
        )
        response = self.twin.door.answer(request)
        assert isinstance(response.content, bytes)
        answer = json.loads(response.content) if response.content else None
        found = ROUTER.find(request.host, method, path)
        if found.match is not None and response.status == 200:
            self.asked.add(found.match.method.id)
            schema = found.match.method.response
            findings = check(found.api, schema, answer, answer=True) if schema else []
            assert not findings, (found.match.method.id, findings)
        return response.status, answer

    def good(self, method: str, path: str, body: Any = None) -> Any:
        """The answer to a question that must succeed."""
        status, answer = self.ask(method, path, body)
        assert status == 200, answer
        assert not (isinstance(answer, dict) and "error" in answer), answer
        return answer

    def get(self, path: str) -> Any:
        """A resource that must be there."""
        return self.good("GET", path)

    def refused(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        """Status and message of a refusal."""
        status, answer = self.ask(method, path, body)
        assert status >= 400, answer
        return status, answer["error"]["message"]

    def failed(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """The first error in the operation that a question leads to."""
        status, answer = self.ask(method, path, body)
        assert status == 200, answer
        error: dict[str, Any] = answer["error"]["errors"][0]
        return error

    def pass_time(self, seconds: float) -> None:
        """Let it pass, doing what is due on the way."""
        end = self.clock.at + seconds
        while (due := self.cloud.next_at()) is not None and due <= end:
            self.clock.at = max(self.clock.at, due)
            self.cloud.advance()
        self.clock.at = end
        self.cloud.advance()
        self.cloud.commit()

    def insert_vm(self, name: str, **fields: Any) -> Any:
        """An instance in us-central1-a; its operation."""
        return self.ask("POST", f"{ZONE}/instances", {"name": name, **vm(**fields)})[1]

    def vm(self, name: str) -> Any:
        """An instance, as the API shows it."""
        return self.get(f"{ZONE}/instances/{name}")

    def template(self, name: str = "tmpl", **fields: Any) -> None:
        """An instance template."""
        body = {"name": name, "properties": vm(**fields)}
        self.good("POST", f"{PROJECT}/global/instanceTemplates", body)

    def group(self, name: str = "mig", *, size: int, template: str = "tmpl", **more: Any) -> None:
        """A managed instance group in us-central1-a."""
        body = {
            "name": name,
            "instanceTemplate": f"global/instanceTemplates/{template}",
            "targetSize": size,
            **more,
        }
        self.good("POST", f"{ZONE}/instanceGroupManagers", body)

    def members(self, name: str = "mig") -> list[dict[str, Any]]:
        """What a group has."""
        path = f"{ZONE}/instanceGroupManagers/{name}/listManagedInstances"
        rows: list[dict[str, Any]] = self.good("POST", path)["managedInstances"]
        return rows

    def limit_room(self, room: int, **rule: Any) -> str:
        """So many machines fit from now on."""
        return self.twin.market.add(Rule(room=room, **rule))


def vm(machine_type: str = "e2-small", *, model: str = "", **more: Any) -> dict[str, Any]:
    """What an instance is to be like."""
    disk = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": IMAGE}}
    body: dict[str, Any] = {"machineType": machine_type, "disks": [disk], **more}
    if model:
        body["scheduling"] = {"provisioningModel": model, **body.get("scheduling", {})}
    return body
