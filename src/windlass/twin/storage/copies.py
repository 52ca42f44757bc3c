"""Objects made of other objects: composed, copied, rewritten and moved.

Must not move bytes that can be shared: a copy refers to the same content.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from windlass.twin.messages import Response
from windlass.twin.storage import conditions, contents, faults, versions
from windlass.twin.storage.blobs import Lease
from windlass.twin.storage.conditions import Conditions
from windlass.twin.storage.contents import Content, Spool
from windlass.twin.storage.database import Transaction
from windlass.twin.storage.rendering import object_resource, object_response, response
from windlass.twin.storage.vault import Ask, Vault
from windlass.twin.storage.versions import WRITABLE, Version, Wish

SOURCES_MOST = 32
COMPONENTS_MOST = 32 * 1024
MEBIBYTE = 1 << 20
CALL_BYTES = 1 << 30
"""What one call rewrites between places or classes when the client names no limit."""


def compose(vault: Vault, ask: Ask) -> Response:
    """One object of up to 32, end to end."""
    bucket, name = ask.params
    told = ask.document("ComposeRequest")
    sources = told.get("sourceObjects") or []
    if not 1 <= len(sources) <= SOURCES_MOST:
        raise faults.invalid(
            "The number of source components provided "
            f"({len(sources)}) exceeds the maximum ({SOURCES_MOST})"
            if sources
            else "You must provide at least one source component."
        )
    parts = [_component(vault, bucket, source) for source in sources]
    count = sum(part.resource.get("componentCount", 1) for part in parts)
    given = dict(told.get("destination") or {})
    given.setdefault("contentType", parts[0].resource.get("contentType"))
    wish = Wish(bucket=bucket, name=name, given=given, conditions=conditions.from_query(ask.query))
    version = joined(vault, wish, [part.content for part in parts], extra={"componentCount": count})
    if ask.flag("deleteSourceObjects") or told.get("deleteSourceObjects"):
        for part in parts:
            _forget(vault, part)
    return object_response(ask, version)


def _component(vault: Vault, bucket: str, source: Mapping[str, Any]) -> Version:
    generation = source.get("generation")
    version = versions.require(
        vault.database,
        bucket,
        str(source.get("name", "")),
        None if generation is None else int(generation),
    )
    wanted = (source.get("objectPreconditions") or {}).get("ifGenerationMatch")
    if wanted is not None and int(wanted) != version.generation:
        raise faults.condition_failed()
    return version


def _forget(vault: Vault, version: Version) -> None:
    now = vault.clock.now()

    def work(transaction: Transaction) -> None:
        if versions.find(transaction, version.bucket, version.name, version.generation):
            versions.remove(transaction, version, blobs=vault.blobs, now=now)

    vault.database.write(work)


def joined(
    vault: Vault,
    wish: Wish,
    numbers: list[int],
    *,
    extra: Mapping[str, Any],
    also: Callable[[Transaction], None] = lambda _: None,
) -> Version:
    """An object of several contents, end to end; `also` is written together with it."""
    held = [_held(vault, number) for number in numbers]
    spool = Spool(vault.blobs)
    try:
        for content, _ in held:
            for piece in contents.pieces(content, blobs=vault.blobs):
                spool.write(piece)
        made = spool.finish(has_md5=False)

        def work(transaction: Transaction) -> Version:
            also(transaction)
            now = vault.clock.now()
            return versions.insert(
                transaction, wish, content=made, blobs=vault.blobs, now=now, extra=extra
            )

        return vault.database.write(work)
    except BaseException:
        spool.discard()
        raise


def _held(vault: Vault, number: int) -> tuple[Content, Lease | None]:
    """A content that does not go while it is read."""
    content = contents.load(vault.database, number)
    if content is None:
        raise faults.busy()
    lease = None if content.file is None else vault.blobs.lease(content.file)
    if content.file is not None and lease is None:
        raise faults.busy()
    return content, lease


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """One object to be made of another, without its bytes being moved."""

    bucket: str
    name: str
    generation: int | None
    source_conditions: Conditions
    to: Wish


def carry_out(vault: Vault, copy: Copy) -> Version:
    """Copy; what the client says about the new object replaces what the old one says."""

    def work(transaction: Transaction) -> Version:
        source = _source(transaction, copy)
        return _copied(transaction, vault, source, to=copy.to)

    return vault.database.write(work)


def _source(reads: Any, copy: Copy) -> Version:
    source = versions.require(reads, copy.bucket, copy.name, copy.generation)
    versions.check_write(copy.source_conditions, source)
    return source


def _copied(transaction: Transaction, vault: Vault, source: Version, *, to: Wish) -> Version:
    resource = source.resource
    kept = {key: resource[key] for key in WRITABLE if key in resource and "Hold" not in key}
    given = to.given or kept
    if to.given and set(to.given) <= {"storageClass"}:
        given = {**kept, **to.given}
    extra = {}
    if "componentCount" in resource:
        extra["componentCount"] = resource["componentCount"]
    return versions.insert(
        transaction,
        Wish(bucket=to.bucket, name=to.name, given=given, conditions=to.conditions),
        content=source.content,
        blobs=vault.blobs,
        now=vault.clock.now(),
        extra=extra,
    )


def _asked(ask: Ask, *, told: Mapping[str, Any]) -> Copy:
    bucket, name, to_bucket, to_name = ask.params
    given = {key: told[key] for key in (*WRITABLE, "storageClass") if told.get(key) is not None}
    return Copy(
        bucket=bucket,
        name=name,
        generation=ask.number("sourceGeneration"),
        source_conditions=conditions.from_query(ask.query, prefix="ifSource"),
        to=Wish(
            bucket=to_bucket,
            name=to_name,
            given=given,
            conditions=conditions.from_query(ask.query),
        ),
    )


def copy_to(vault: Vault, ask: Ask) -> Response:
    """Copy in one call."""
    return object_response(ask, carry_out(vault, _asked(ask, told=ask.document("Object"))))


def move_to(vault: Vault, ask: Ask) -> Response:
    """Give an object another name in its bucket, in one step."""
    bucket, name, to_name = ask.params
    now = vault.clock.now()
    wanted = conditions.from_query(ask.query)
    source_wanted = conditions.from_query(ask.query, prefix="ifSource")

    def work(transaction: Transaction) -> Version:
        source = versions.require(transaction, bucket, name)
        versions.check_write(source_wanted, source)
        to = Wish(bucket=bucket, name=to_name, given={}, conditions=wanted)
        made = _copied(transaction, vault, source, to=to)
        resource = versions.bucket_resource(transaction, bucket)
        versions.retire(transaction, source, bucket=resource, blobs=vault.blobs, now=now)
        return made

    return object_response(ask, vault.database.write(work))


def rewrite(vault: Vault, ask: Ask) -> Response:
    """Copy in as many calls as it takes: several when the bytes change place or class."""
    copy = _asked(ask, told=ask.document("Object"))
    source = _source(vault.database, copy)
    size = int(source.resource["size"])
    before = _rewritten(ask.query.get("rewriteToken", ""), source)
    limit = ask.number("maxBytesRewrittenPerCall") or CALL_BYTES
    if limit % MEBIBYTE:
        raise faults.invalid(
            "maxBytesRewrittenPerCall must be an integral multiple of 1 MiB (1048576).",
            location="maxBytesRewrittenPerCall",
        )
    answer: dict[str, Any] = {"kind": "storage#rewriteResponse", "objectSize": str(size)}
    if _is_far(vault, source, copy.to) and before + limit < size:
        answer |= {
            "totalBytesRewritten": str(before + limit),
            "done": False,
            "rewriteToken": _token(source, before + limit),
        }
        return response(ask, answer)
    version = carry_out(vault, copy)
    answer |= {
        "totalBytesRewritten": str(size),
        "done": True,
        "resource": object_resource(ask, version),
    }
    return response(ask, answer)


def _is_far(vault: Vault, source: Version, to: Wish) -> bool:
    """Whether Google would have to move the bytes."""
    here = versions.bucket_resource(vault.database, source.bucket)
    there = versions.bucket_resource(vault.database, to.bucket)
    new_class = to.given.get("storageClass") or there["storageClass"]
    return bool(
        here["location"] != there["location"] or source.resource["storageClass"] != new_class
    )


def _token(source: Version, rewritten: int) -> str:
    text = json.dumps([source.generation, rewritten])
    return base64.urlsafe_b64encode(text.encode()).decode()


def _rewritten(token: str, source: Version) -> int:
    """How far a rewrite is; its token is good for one generation of the source only."""
    if not token:
        return 0
    try:
        generation, rewritten = json.loads(base64.urlsafe_b64decode(token))
    except (ValueError, TypeError) as exc:
        raise faults.invalid("Invalid rewrite token.", location="rewriteToken") from exc
    if generation != source.generation:
        raise faults.invalid("Invalid rewrite token.", location="rewriteToken")
    return int(rewritten)
