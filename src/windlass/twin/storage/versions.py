"""Objects and their generations: the one place where they come to be, change and go.

Must not speak HTTP: it takes values and a transaction, and refuses in Cloud Storage's words.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windlass.twin.storage import contents, faults
from windlass.twin.storage.blobs import Blobs
from windlass.twin.storage.conditions import NONE, Conditions
from windlass.twin.storage.contents import Content
from windlass.twin.storage.database import Reads, Transaction
from windlass.twin.storage.names import check_object_name, moment, object_etag, stamp
from windlass.twin.storage.vault import dumps

WRITABLE = (
    "contentType",
    "contentEncoding",
    "contentDisposition",
    "contentLanguage",
    "cacheControl",
    "customTime",
    "temporaryHold",
    "eventBasedHold",
    "metadata",
)
"""What a client may say about an object."""


@dataclass(frozen=True, slots=True)
class Version:
    """One generation of an object."""

    bucket: str
    name: str
    generation: int
    is_live: int
    content: int
    document: str
    """The resource as JSON, without links: they depend on who asks."""

    @property
    def resource(self) -> dict[str, Any]:
        """The document, to look into or to change."""
        resource: dict[str, Any] = json.loads(self.document)
        return resource

    @property
    def metageneration(self) -> int:
        """How often its metadata was written."""
        return int(self.resource["metageneration"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """An object that a client wants to be there."""

    bucket: str
    name: str
    given: Mapping[str, Any]
    """What it says about the object."""
    conditions: Conditions = NONE


FIELDS = "bucket, name, generation, is_live, content, document"
_STORED = f"""SELECT {FIELDS}, size, crc32c, md5, file, inline FROM objects
JOIN contents ON contents.id = objects.content WHERE bucket = ? AND name = ?"""


def find(reads: Reads, bucket: str, name: str, generation: int | None = None) -> Version | None:
    """A generation of an object; the live one when none is named."""
    where = "bucket = ? AND name = ?"
    if generation is None:
        row = reads.one(f"SELECT {FIELDS} FROM objects WHERE {where} AND is_live", bucket, name)
    else:
        row = reads.one(
            f"SELECT {FIELDS} FROM objects WHERE {where} AND generation = ?",
            bucket,
            name,
            generation,
        )
    return None if row is None else Version(*row)


def require(reads: Reads, bucket: str, name: str, generation: int | None = None) -> Version:
    """Like `find`, and refuse when there is none."""
    found = find(reads, bucket, name, generation)
    if found is None:
        bucket_resource(reads, bucket)
        raise faults.no_such_object(bucket, name, generation)
    return found


def require_stored(
    reads: Reads, bucket: str, name: str, generation: int | None = None
) -> tuple[Version, Content]:
    """A generation together with its bytes, both of the same moment."""
    which = "objects.is_live" if generation is None else "objects.generation = ?"
    values = (bucket, name) if generation is None else (bucket, name, generation)
    row = reads.one(f"{_STORED} AND {which}", *values)
    if row is None:
        bucket_resource(reads, bucket)
        raise faults.no_such_object(bucket, name, generation)
    size, crc32c, md5, file, inline = row[6:]
    content = Content(size=size, crc32c=crc32c, md5=md5, file=file, inline=inline)
    return Version(*row[:6]), content


def bucket_resource(reads: Reads, bucket: str) -> Mapping[str, Any]:
    """A bucket's document; refuse when there is no such bucket."""
    row = reads.one("SELECT document FROM buckets WHERE name = ?", bucket)
    if row is None:
        raise faults.no_such_bucket()
    return _parsed(row[0])


@functools.lru_cache(maxsize=256)
def _parsed(text: str) -> Mapping[str, Any]:
    parsed: Mapping[str, Any] = json.loads(text)
    return parsed


def insert(
    transaction: Transaction,
    wish: Wish,
    *,
    content: Content | int,
    blobs: Blobs,
    now: float,
    extra: Mapping[str, Any] | None = None,
) -> Version:
    """Make a new live generation; the one before becomes noncurrent, or goes.

    `content` is new, or the number of one that is shared. `extra` is what the service itself says
    about the object, such as its component count.
    """
    check_object_name(wish.name)
    bucket = bucket_resource(transaction, wish.bucket)
    before = find(transaction, wish.bucket, wish.name)
    check_write(wish.conditions, before)
    if isinstance(content, int):
        # Before the old generation goes, which may be the last other use of it.
        number = contents.share(transaction, content)
        kept = contents.load(transaction, number)
        assert kept is not None
    else:
        number, kept = contents.add(transaction, content), content
    if before is not None:
        retire(transaction, before, bucket=bucket, blobs=blobs, now=now)
    generation = next_generation(transaction, now)
    resource = _resource(wish, bucket, kept, generation=generation, now=now)
    resource.update(extra or {})
    version = Version(wish.bucket, wish.name, generation, 1, number, dumps(resource))
    transaction.run(
        f"INSERT INTO objects ({FIELDS}) VALUES (?, ?, ?, ?, ?, ?)",
        version.bucket,
        version.name,
        generation,
        1,
        number,
        version.document,
    )
    return version


def _resource(
    wish: Wish, bucket: Mapping[str, Any], content: Content, *, generation: int, now: float
) -> dict[str, Any]:
    at = stamp(now)
    resource = {
        "kind": "storage#object",
        "id": f"{wish.bucket}/{wish.name}/{generation}",
        "name": wish.name,
        "bucket": wish.bucket,
        "generation": str(generation),
        "metageneration": "1",
        **{key: wish.given[key] for key in WRITABLE if wish.given.get(key) not in (None, {})},
        "storageClass": wish.given.get("storageClass") or bucket["storageClass"],
        "size": str(content.size),
        "crc32c": content.crc32c,
        "etag": object_etag(generation, 1),
        "timeCreated": at,
        "updated": at,
        "timeStorageClassUpdated": at,
        "timeFinalized": at,
    }
    if content.md5 is not None:
        resource["md5Hash"] = content.md5
    if bucket.get("defaultEventBasedHold") and "eventBasedHold" not in resource:
        resource["eventBasedHold"] = True
    policy = bucket.get("retentionPolicy")
    if policy:
        resource["retentionExpirationTime"] = stamp(now + int(policy["retentionPeriod"]))
    return resource


def next_generation(transaction: Transaction, now: float) -> int:
    """A number higher than all before, which is the time in microseconds when time has passed."""
    row = transaction.one("SELECT value FROM counters WHERE name = 'generation'")
    assert row is not None
    generation: int = max(int(now * 1_000_000), row[0] + 1)
    transaction.run("UPDATE counters SET value = ? WHERE name = 'generation'", generation)
    return generation


def check_write(conditions: Conditions, before: Version | None) -> None:
    """Refuse a change of what is there, or of nothing."""
    if conditions is NONE:
        return
    if before is None:
        conditions.check_write(0, 0)
    else:
        conditions.check_write(before.generation, before.metageneration)


def retire(
    transaction: Transaction,
    version: Version,
    *,
    bucket: Mapping[str, Any],
    blobs: Blobs,
    now: float,
) -> None:
    """Take a live generation out of sight: it is kept where the bucket keeps versions."""
    if not bucket.get("versioning", {}).get("enabled"):
        remove(transaction, version, blobs=blobs, now=now)
        return
    resource = version.resource
    _check_holds(version, resource, now)
    resource["timeDeleted"] = stamp(now)
    transaction.run(
        "UPDATE objects SET is_live = 0, document = ? "
        "WHERE bucket = ? AND name = ? AND generation = ?",
        dumps(resource),
        version.bucket,
        version.name,
        version.generation,
    )


def remove(transaction: Transaction, version: Version, *, blobs: Blobs, now: float) -> None:
    """Forget a generation."""
    _check_holds(version, version.resource, now)
    transaction.run(
        "DELETE FROM objects WHERE bucket = ? AND name = ? AND generation = ?",
        version.bucket,
        version.name,
        version.generation,
    )
    contents.drop(transaction, version.content, blobs=blobs)


def _check_holds(version: Version, resource: Mapping[str, Any], now: float) -> None:
    if resource.get("temporaryHold"):
        raise faults.held(version.bucket, version.name, "Temporary hold")
    if resource.get("eventBasedHold"):
        raise faults.held(version.bucket, version.name, "Event-Based hold")
    until = resource.get("retentionExpirationTime")
    if until is not None and moment(until) > now:
        raise faults.held(version.bucket, version.name, "retention")


def describe(
    transaction: Transaction, version: Version, resource: dict[str, Any], *, now: float
) -> Version:
    """Write an object's metadata anew."""
    metageneration = int(resource["metageneration"]) + 1
    resource["metageneration"] = str(metageneration)
    resource["etag"] = object_etag(version.generation, metageneration)
    resource["updated"] = stamp(now)
    document = dumps(resource)
    transaction.run(
        "UPDATE objects SET document = ? WHERE bucket = ? AND name = ? AND generation = ?",
        document,
        version.bucket,
        version.name,
        version.generation,
    )
    return Version(
        version.bucket,
        version.name,
        version.generation,
        version.is_live,
        version.content,
        document,
    )
