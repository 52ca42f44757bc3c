"""A whole twin in this process, asked through its door by whoever has a token.

Must not know a test.
"""

from __future__ import annotations

import base64
import functools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from buckets import HandClock
from windlass.catalog.load import load_catalog
from windlass.ports.entropy import SeededEntropy, seeded
from windlass.twin.access.keys import RsaKeys
from windlass.twin.assembly import Parts, Twin, build
from windlass.twin.cloud import Cloud
from windlass.twin.journal import Journal
from windlass.twin.machine import Bodies
from windlass.twin.messages import Bytes, Request, Response
from windlass.twin.settings import SHORT, Delays, Settings
from windlass.twin.storage.service import Storage

TOKEN = "twin-the-token-of-this-home"
PROJECT = "twin-project"
CATALOG = load_catalog()
IAM = "iam.googleapis.com"
COMPUTE = "compute.googleapis.com"
ZONE = f"/compute/v1/projects/{PROJECT}/zones/us-central1-a"
IMAGE = "projects/debian-cloud/global/images/family/debian-12"


class House:
    """A twin and its owner."""

    def __init__(
        self,
        *,
        journal: Journal | None = None,
        clock: HandClock | None = None,
        delays: Delays = SHORT,
        folder: Path | None = None,
        bodies: Bodies | None = None,
    ) -> None:
        self.clock = clock or HandClock()
        settings = replace(Settings(), delays=delays)
        self.cloud = Cloud(clock=self.clock, chance=seeded(7), journal=journal, settings=settings)
        self.store = Storage(folder, clock=self.clock, chance=SeededEntropy(1)) if folder else None
        self.twin: Twin = build(
            self.cloud,
            catalog=CATALOG,
            parts=Parts(token=TOKEN, rsa=RsaKeys(), store=self.store, bodies=bodies),
        )
        self.cloud.commit()

    def send(
        self,
        method: str,
        host: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = TOKEN,
        **headers: str,
    ) -> Response:
        """The answer to a request with a token, or (None) without."""
        path, _, query = path.partition("?")
        raw = (
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        )
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            sent.setdefault("authorization", f"Bearer {token}")
        request = Request(
            method=method, host=host, path=path, query=query, headers=sent, body=Bytes(raw)
        )
        return self.twin.door.answer(request)

    def ask(
        self, method: str, host: str, path: str, body: Any = None, *, token: str | None = TOKEN
    ) -> tuple[int, Any]:
        """Status and document."""
        response = self.send(method, host, path, body, token=token)
        assert isinstance(response.content, bytes)
        return response.status, json.loads(response.content) if response.content else None

    def good(self, method: str, host: str, path: str, body: Any = None) -> Any:
        """The document of an answer to the owner that must be good."""
        status, document = self.ask(method, host, path, body)
        assert status == 200, document
        return document

    def robot(self, name: str = "robot-1") -> str:
        """A new service account without roles; its address."""
        path = f"/v1/projects/{PROJECT}/serviceAccounts"
        account = self.good("POST", IAM, path, {"accountId": name})
        return str(account["email"])

    def token_of(self, email: str) -> str:
        """A token with which that account may ask."""
        return self.twin.tokens.mint(email)

    def grant(self, email: str, role: str, *, place: str = f"projects/{PROJECT}") -> None:
        """Give an account a role."""
        policy = self.twin.policies.get(place)
        binding = {"role": role, "members": [f"serviceAccount:{email}"]}
        self.twin.policies.set(place, {"bindings": [*policy["bindings"], binding]})

    def insert_vm(self, name: str, *, token: str = TOKEN, **fields: Any) -> tuple[int, Any]:
        """Ask for an instance in us-central1-a."""
        disk = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": IMAGE}}
        body = {"name": name, "machineType": "e2-small", "disks": [disk], **fields}
        return self.ask("POST", COMPUTE, f"{ZONE}/instances", body, token=token)

    def pass_time(self, seconds: float) -> None:
        """Let it pass, doing what is due on the way."""
        end = self.clock.at + seconds
        while (due := self.cloud.next_at()) is not None and due <= end:
            self.clock.at = max(self.clock.at, due)
            self.cloud.advance()
        self.clock.at = end
        self.cloud.advance()
        self.cloud.commit()


@functools.cache
def key_of(name: str) -> rsa.RSAPrivateKey:
    """A private key; the same for the same name."""
    assert name
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def public_pem(key: rsa.RSAPrivateKey) -> str:
    raw = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return raw.decode()


def jwt(key: rsa.RSAPrivateKey, header: dict[str, Any], claims: dict[str, Any]) -> str:
    """A signed JSON web token, whatever its header says."""
    message = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
    signature = key.sign(message.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{message}.{encoded(signature)}"


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
