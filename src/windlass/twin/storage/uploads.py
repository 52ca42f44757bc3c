"""Uploads in one request: plain bytes, or bytes behind a JSON object that describes them.

Must not keep what a client did not finish sending.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from windlass.twin.messages import Body, Response
from windlass.twin.storage import conditions, faults, versions
from windlass.twin.storage.contents import Content, Spool, verify
from windlass.twin.storage.related import Related
from windlass.twin.storage.rendering import object_response
from windlass.twin.storage.sessions import go_on, start
from windlass.twin.storage.vault import Ask, Vault
from windlass.twin.storage.versions import Version, Wish

PIECE = 256 << 10
"""Small enough to stay in a processor's cache while it is hashed and written."""
UNKNOWN_TYPE = "application/octet-stream"


def insert(vault: Vault, ask: Ask) -> Response:
    """Any kind of upload."""
    kind = ask.query.get("uploadType", "")
    if ask.query.get("upload_id"):
        return go_on(vault, ask)
    if kind == "resumable":
        return start(vault, ask)
    versions.bucket_resource(vault.database, ask.params[0])
    if kind == "media":
        given: dict[str, Any] = {
            "contentType": ask.request.headers.get("content-type", UNKNOWN_TYPE)
        }
        return _received(vault, ask, given, pieces_of(ask.request.body))
    if kind == "multipart":
        related = Related(
            ask.request.body, content_type=ask.request.headers.get("content-type", "")
        )
        given = related.document()
        given.setdefault("contentType", related.media_type or UNKNOWN_TYPE)
        return _received(vault, ask, given, related.pieces())
    raise faults.invalid(f"Invalid upload type: {kind}", location="uploadType")


def wish_of(ask: Ask, given: Mapping[str, Any]) -> Wish:
    """The object that an upload is for."""
    named = ask.query.get("name") or given.get("name")
    if not isinstance(named, str) or not named:
        raise faults.required("name")
    if "contentEncoding" in ask.query:
        given = {**given, "contentEncoding": ask.query["contentEncoding"]}
    return Wish(
        bucket=ask.params[0],
        name=named,
        given=given,
        conditions=conditions.from_query(ask.query),
    )


def _received(
    vault: Vault, ask: Ask, given: Mapping[str, Any], pieces: Iterable[bytes]
) -> Response:
    version = receive(vault, wish_of(ask, given), pieces, headers=ask.request.headers)
    return object_response(ask, version)


def pieces_of(body: Body) -> Iterator[bytes]:
    """A body as it arrives."""
    while piece := body.read(PIECE):
        yield piece


def receive(
    vault: Vault, wish: Wish, pieces: Iterable[bytes], *, headers: Mapping[str, str]
) -> Version:
    """Take all bytes of an object, then let it be seen."""
    content = take(vault, pieces)
    try:
        verify(content, wish.given, headers)
        return vault.database.write(
            lambda transaction: versions.insert(
                transaction, wish, content=content, blobs=vault.blobs, now=vault.clock.now()
            )
        )
    except BaseException:
        abandon(vault, content)
        raise


def take(vault: Vault, pieces: Iterable[bytes]) -> Content:
    """All bytes, kept but not yet seen by anybody."""
    spool = Spool(vault.blobs)
    try:
        for piece in pieces:
            spool.write(piece)
        return spool.finish()
    except BaseException:
        spool.discard()
        raise


def abandon(vault: Vault, content: Content) -> None:
    """Forget bytes that no object was made of."""
    if content.file is not None:
        vault.blobs.condemn(content.file)
