"""The metadata server: what a machine is told when it asks about itself, from inside.

Must not answer anybody else: the listener has made sure which machine asks. Clients must show that
they mean it by a header, so that a web page in a browser cannot ask for tokens.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from email.utils import formatdate
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from windlass.twin.access.oauth import id_token
from windlass.twin.messages import Request, Response
from windlass.twin.metadata import tree as trees
from windlass.twin.metadata.guest import Guest

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.fleet import Fleet
    from windlass.twin.tokens import Tokens

ROOT = "/computeMetadata/v1"
FLAVOR = ("Metadata-Flavor", "Google")
DOMAIN = "googleapis.com"
TOKEN_S = 3599.0
MOST_BODY = 1 << 18


class MetadataServer:
    """Answers for every machine of the fleet."""

    def __init__(
        self,
        cloud: Cloud,
        *,
        fleet: Fleet,
        tokens: Tokens,
        guests: Mapping[str, Guest],
        is_account: Callable[[str], bool],
    ) -> None:
        self._cloud = cloud
        self._is_account = is_account
        self._fleet = fleet
        self._tokens = tokens
        self._guests = guests

    def answer(self, machine_id: str, request: Request) -> Response:
        """What that machine is told, with the time of day as Google has it."""
        answer = self._answer(machine_id, request)
        date = formatdate(self._cloud.clock.now(), usegmt=True)
        return dataclasses.replace(answer, headers=(*answer.headers, ("Date", date)))

    def _answer(self, machine_id: str, request: Request) -> Response:
        if request.path in ("", "/"):
            return _text("computeMetadata/\n")
        if request.headers.get("metadata-flavor", "").lower() != "google":
            why = "Missing Metadata-Flavor:Google header.\n"
            return _text(why, status=403)
        if request.headers.get("x-forwarded-for"):
            return _text("X-Forwarded-For is not allowed.\n", status=403)
        if not request.path.startswith(ROOT):
            return _text("Not found.\n", status=404)
        words = [unquote(word) for word in request.path.removeprefix(ROOT).split("/") if word]
        if request.method in ("PUT", "DELETE", "POST"):
            return self._told(machine_id, words, request)
        if request.queries().get("wait_for_change", "").lower() == "true":
            return self._awaited(machine_id, words, request)
        return self._read(machine_id, words, request)

    def _read(self, machine_id: str, words: list[str], request: Request) -> Response:
        with self._cloud.lock:
            try:
                self._cloud.advance()
                return self._answered(machine_id, words, request)
            finally:
                self._cloud.commit()

    def _answered(self, machine_id: str, words: list[str], request: Request) -> Response:
        machine = self._fleet.get(machine_id)
        guest = self._guests.get(machine.service) if machine is not None else None
        found = guest.described(machine) if guest is not None and machine is not None else None
        if machine is None or guest is None or found is None:
            return _text("Not found.\n", status=404)
        if words[:2] == ["instance", "guest-attributes"]:
            return _guest_attributes(guest.guest_attributes(machine), words[2:])
        settings = self._cloud.settings
        tree = trees.tree_of(
            found, project=settings.project, number=settings.project_number, domain=DOMAIN
        )
        if words[:2] == ["instance", "service-accounts"] and words[3:] in (["token"], ["identity"]):
            return self._token(trees.at(tree, words[:3]), words[3], request)
        return _rendered(tree, words, request)

    def _token(self, account: Any, kind: str, request: Request) -> Response:
        if account is None:
            return _text("Not found.\n", status=404)
        email = account["email"]
        if not self._is_account(email):
            # Nobody else's identity can be had by way of a machine.
            return _text("The service account was not found.\n", status=404)
        if kind == "identity":
            audience = request.queries().get("audience", "")
            return _text(id_token(email, now=self._cloud.clock.now(), audience=audience))
        token = self._tokens.mint(email, seconds=TOKEN_S)
        value = {"access_token": token, "expires_in": int(TOKEN_S), "token_type": "Bearer"}
        return _text(trees.as_json(value, inside="attributes"), kind="application/json")

    def _awaited(self, machine_id: str, words: list[str], request: Request) -> Response:
        """The value once it has changed. Without the tag of the last one seen, that is when it
        is no longer what it is now."""
        query = request.queries()
        first = self._read(machine_id, words, request)
        seen = query.get("last_etag") or dict(first.headers).get("ETag", "")
        limit = query.get("timeout_sec") or "inf"
        if limit != "inf" and not limit.isdecimal():
            return _text("Invalid timeout_sec.\n", status=400)
        until = self._cloud.clock.now() + float(limit)
        answer = first
        while dict(answer.headers).get("ETag") == seen and self._cloud.clock.now() < until:
            before = self._cloud.clock.now()
            self._cloud.waiting.until(min(until, before + 1.0))
            if self._cloud.clock.now() <= before:
                break
            answer = self._read(machine_id, words, request)
        return answer

    def _told(self, machine_id: str, words: list[str], request: Request) -> Response:
        """A machine may only write guest attributes."""
        if words[:2] != ["instance", "guest-attributes"] or len(words) != 4:
            return _text("Method Not Allowed\n", status=405)
        raw = request.body.read(MOST_BODY).decode("utf-8", "replace")
        with self._cloud.lock:
            try:
                return self._tell(machine_id, "/".join(words[2:]), request.method, raw)
            finally:
                self._cloud.commit()

    def _tell(self, machine_id: str, path: str, method: str, value: str) -> Response:
        machine = self._fleet.get(machine_id)
        guest = self._guests.get(machine.service) if machine is not None else None
        if machine is None or guest is None or guest.guest_attributes(machine) is None:
            return _text("Guest attributes endpoint access is disabled.\n", status=403)
        guest.set_guest_attribute(machine, path, None if method == "DELETE" else value)
        return _text("")


def _guest_attributes(told: dict[str, str] | None, words: list[str]) -> Response:
    if told is None:
        return _text("Guest attributes endpoint access is disabled.\n", status=403)
    wanted = "/".join(words)
    if wanted in told:
        return _text(told[wanted])
    below = sorted(path for path in told if path.startswith(f"{wanted}/" if wanted else ""))
    if not below:
        return _text("Not found.\n", status=404)
    return _text("".join(f"{path}\n" for path in below))


def _rendered(tree: trees.Tree, words: list[str], request: Request) -> Response:
    value = trees.at(tree, words)
    if value is None:
        return _text("Not found.\n", status=404)
    query = request.queries()
    if query.get("recursive", "").lower() == "true":
        if query.get("alt") == "text":
            return _text(trees.as_lines(value))
        inside = words[-1] if words else ""
        return _text(trees.as_json(value, inside=inside), kind="application/json")
    if not trees.is_folder(value):
        if query.get("alt") == "json":
            return _text(trees.as_json(value), kind="application/json")
        return _text(trees.plain(value))
    if not request.path.endswith("/"):
        location = ("Location", f"{request.path}/")
        return Response(status=301, headers=(FLAVOR, location), content=b"")
    return _text(trees.listing(value))


def _text(text: str, *, status: int = 200, kind: str = "application/text") -> Response:
    raw = text.encode()
    headers = (
        FLAVOR,
        ("Content-Type", kind),
        ("ETag", hashlib.sha256(raw).hexdigest()[:16]),
        ("Server", "Metadata Server for VM"),
    )
    return Response(status=status, headers=headers, content=raw)
