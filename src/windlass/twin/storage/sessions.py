"""Resumable uploads: sessions that outlive connections and restarts.

Must not acknowledge a byte that a crash could take back.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from windlass.twin.messages import Body, Response
from windlass.twin.storage import conditions, faults, versions
from windlass.twin.storage.conditions import Conditions
from windlass.twin.storage.contents import Content, Spool, verify
from windlass.twin.storage.database import Transaction
from windlass.twin.storage.names import check_object_name
from windlass.twin.storage.rendering import object_response
from windlass.twin.storage.vault import Ask, Vault, dumps
from windlass.twin.storage.versions import Version, Wish

QUANTUM = 256 << 10
"""What arrives before the end is kept in multiples of this, as at Google."""
LIFE_S = 7 * 86400.0
ID_LENGTH = 48
_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")


@dataclass(frozen=True, slots=True)
class Session:
    """An upload that has begun."""

    id: str
    bucket: str
    name: str
    wish: str
    received: int
    file: str | None
    state: str
    """`open`, `done` or `cancelled`."""
    generation: int | None
    created: float

    def wished(self) -> Wish:
        """The object that it is for."""
        told = json.loads(self.wish)
        return Wish(
            bucket=self.bucket,
            name=self.name,
            given=told["given"],
            conditions=Conditions(**told["conditions"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What a request says about its bytes."""

    start: int | None
    """None when it brings none, and asks how far the upload is."""
    end: int | None
    total: int | None
    """None while the client does not know."""


def start(vault: Vault, ask: Ask) -> Response:
    """Begin a session of the JSON API."""
    given = ask.document("Object")
    named = ask.query.get("name") or given.get("name")
    if not isinstance(named, str) or not named:
        raise faults.required("name")
    kind = ask.request.headers.get("x-upload-content-type", "application/octet-stream")
    given.setdefault("contentType", kind)
    wish = Wish(
        bucket=ask.params[0],
        name=named,
        given=given,
        conditions=conditions.from_query(ask.query),
    )
    session = open_session(vault, wish)
    place = (
        f"{ask.request.base}/upload/storage/v1/b/{ask.params[0]}/o"
        f"?uploadType=resumable&name={quote(named, safe='')}&upload_id={session}"
    )
    return Response(headers=(("Location", place), ("X-GUploader-UploadID", session)))


def open_session(vault: Vault, wish: Wish) -> str:
    """Begin a session: its id."""
    check_object_name(wish.name)
    told = dumps({"given": wish.given, "conditions": dataclasses.asdict(wish.conditions)})
    now = vault.clock.now()

    def work(transaction: Transaction) -> str:
        versions.bucket_resource(transaction, wish.bucket)
        versions.check_write(wish.conditions, versions.find(transaction, wish.bucket, wish.name))
        session = vault.chance.id(ID_LENGTH)
        while find(transaction.one, session) is not None:
            session = vault.chance.id(ID_LENGTH)
        transaction.run(
            "INSERT INTO sessions VALUES (?, ?, ?, ?, 0, NULL, 'open', NULL, ?)",
            session,
            wish.bucket,
            wish.name,
            told,
            now,
        )
        return session

    return vault.database.write(work)


def find(one: Callable[..., tuple[Any, ...] | None], session: str) -> Session | None:
    """A session by its id."""
    row = one("SELECT * FROM sessions WHERE id = ?", session)
    return None if row is None else Session(*row)


def go_on(vault: Vault, ask: Ask) -> Response:
    """More bytes, a question how far it is, or its end."""
    done = proceed(vault, ask)
    return done if isinstance(done, Response) else object_response(ask, done)


def proceed(vault: Vault, ask: Ask) -> Version | Response:
    """Carry a session on: the object once it is complete, else what there is to say."""
    session = _live(vault, ask.query["upload_id"])
    if session.state == "done":
        return versions.require(vault.database, session.bucket, session.name, session.generation)
    span = span_of(ask.request.headers.get("content-range", ""))
    if span.start is None and span.total != session.received:
        return incomplete(session.received)
    with vault.progress.writing(session.id):
        return _Writing(vault, ask, _live(vault, session.id), span).carry_on()


def _live(vault: Vault, name: str) -> Session:
    session = find(vault.database.one, name)
    if session is None or vault.clock.now() > session.created + LIFE_S:
        raise faults.no_such_upload()
    if session.state == "cancelled":
        raise faults.StorageRefusal(499, "Client Closed Request", reason="clientClosedRequest")
    return session


def span_of(header: str) -> Span:
    """What a Content-Range header says; without one, all comes at once."""
    if not header:
        return Span(start=0, end=None, total=None)
    found = _RANGE.fullmatch(header.strip())
    if found is None:
        raise faults.invalid("Failed to parse Content-Range header.")
    return Span(
        start=None if found[1] is None else int(found[1]),
        end=None if found[2] is None else int(found[2]),
        total=None if found[3] == "*" else int(found[3]),
    )


def incomplete(received: int) -> Response:
    """How far it is."""
    known = (("Range", f"bytes=0-{received - 1}"),) if received else ()
    return Response(status=308, headers=known)


def cancel(vault: Vault, ask: Ask) -> Response:
    """Give a session up."""
    session = _live(vault, ask.query.get("upload_id", ""))
    with vault.progress.writing(session.id):
        end(vault, session.id, state="cancelled")
    return Response(status=499)


def end(vault: Vault, session: str, *, state: str) -> None:
    """Close a session without an object."""

    def work(transaction: Transaction) -> None:
        row = transaction.one("SELECT file FROM sessions WHERE id = ?", session)
        if row is not None and row[0] is not None:
            transaction.afterwards.append(functools.partial(vault.blobs.condemn, row[0]))
        transaction.run("UPDATE sessions SET state = ?, file = NULL WHERE id = ?", state, session)

    vault.database.write(work)


class _Writing:
    """One request that brings bytes to a session."""

    def __init__(self, vault: Vault, ask: Ask, session: Session, span: Span) -> None:
        self._vault = vault
        self._headers = ask.request.headers
        self._body = ask.request.body
        self._session = session
        self._span = span
        # Without a Content-Range the body's end is the object's end.
        self._is_whole = "content-range" not in ask.request.headers

    def carry_on(self) -> Version | Response:
        session = self._session
        offset = session.received if self._span.start is None else self._span.start
        if offset > session.received:
            raise faults.upload_gap(offset=offset, received=session.received)
        spool = self._opened()
        try:
            is_complete = self._fill(spool, skip=session.received - offset)
        except BaseException:
            self._lose(spool)
            raise
        if not is_complete:
            return incomplete(self._keep(spool))
        return self._finish(spool)

    def _opened(self) -> Spool:
        session = self._session
        if session.file is None:
            is_all = self._is_whole or self._span.total is not None
            return Spool(self._vault.blobs, is_file=not is_all)
        hashes = self._vault.progress.recall(session.id, size=session.received)
        return Spool.resume(self._vault.blobs, session.file, size=session.received, hashes=hashes)

    def _fill(self, spool: Spool, *, skip: int) -> bool:
        """Take the body; whether the upload is complete.

        What a lost connection cuts off is kept up to the last quantum, and a last piece that is
        no quantum only when it is the object's last.
        """
        quanta = 0
        try:
            _drop(self._body, skip)
            while len(piece := _exactly(self._body, QUANTUM)) == QUANTUM:
                spool.write(piece)
                quanta += 1
        except ConnectionError:
            self._keep(spool)
            raise
        size = spool.hashes.size + len(piece)
        total = self._span.total
        if self._is_whole or total == size:
            spool.write(piece)
            return True
        if total is not None and size > total:
            raise faults.invalid("Invalid request. There were more bytes than were announced.")
        if not quanta and not skip:
            raise faults.short_chunk(len(piece))
        return False

    def _keep(self, spool: Spool) -> int:
        """Remember what arrived, so that the client may go on behind it: how much that is."""
        if spool.file is None:
            return 0
        kept = spool.hashes.size // QUANTUM * QUANTUM
        spool.pause()
        self._vault.database.write(
            lambda transaction: transaction.run(
                "UPDATE sessions SET received = ?, file = ? WHERE id = ?",
                kept,
                spool.file,
                self._session.id,
            )
        )
        self._vault.progress.remember(self._session.id, spool.hashes)
        return kept

    def _lose(self, spool: Spool) -> None:
        """Let go of what was not kept; the session stays where it was."""
        row = self._vault.database.one("SELECT file FROM sessions WHERE id = ?", self._session.id)
        if spool.file is not None and (row is None or row[0] != spool.file):
            spool.discard()
        spool.close()

    def _finish(self, spool: Spool) -> Version:
        content = spool.finish()
        wish = self._session.wished()
        try:
            verify(content, wish.given, self._headers)
            return self._vault.database.write(lambda tx: self._insert(tx, wish, content))
        except BaseException:
            end(self._vault, self._session.id, state="cancelled")
            if content.file is not None and content.file != self._session.file:
                self._vault.blobs.condemn(content.file)
            raise

    def _insert(self, transaction: Transaction, wish: Wish, content: Content) -> Version:
        vault = self._vault
        version = versions.insert(
            transaction, wish, content=content, blobs=vault.blobs, now=vault.clock.now()
        )
        transaction.run(
            "UPDATE sessions SET state = 'done', file = NULL, received = ?, generation = ? "
            "WHERE id = ?",
            content.size,
            version.generation,
            self._session.id,
        )
        return version


def _exactly(body: Body, size: int) -> bytes:
    """So many bytes, or all that are left."""
    piece = body.read(size)
    while len(piece) < size:
        more = body.read(size - len(piece))
        if not more:
            return piece
        piece += more
    return piece


def _drop(body: Body, size: int) -> None:
    """Read past bytes that are here already."""
    while size > 0:
        size -= len(_exactly(body, min(size, QUANTUM))) or size
