"""Uploads in parts of the XML API: begun, filled in any order, completed or given up.

Must not show anything of an upload before it is complete.
"""

from __future__ import annotations

import base64
import json
from dataclasses import asdict
from urllib.parse import quote

from windlass.twin.messages import Response
from windlass.twin.storage import contents, faults, versions
from windlass.twin.storage import xml_words as words
from windlass.twin.storage.conditions import Conditions
from windlass.twin.storage.copies import joined
from windlass.twin.storage.database import Reads, Transaction
from windlass.twin.storage.names import check_object_name, stamp
from windlass.twin.storage.uploads import abandon, pieces_of, take
from windlass.twin.storage.vault import Ask, Vault, dumps
from windlass.twin.storage.versions import Wish

ID_LENGTH = 48
PART_LEAST = 5 << 20
NUMBER_MOST = 10_000


def initiate(vault: Vault, wish: Wish) -> Response:
    """Begin an upload."""
    check_object_name(wish.name)
    told = dumps({"given": wish.given, "conditions": asdict(wish.conditions)})
    now = vault.clock.now()

    def work(transaction: Transaction) -> str:
        versions.bucket_resource(transaction, wish.bucket)
        upload = vault.chance.id(ID_LENGTH)
        while transaction.one("SELECT 1 FROM multiparts WHERE id = ?", upload) is not None:
            upload = vault.chance.id(ID_LENGTH)
        transaction.run(
            "INSERT INTO multiparts VALUES (?, ?, ?, ?, ?)",
            upload,
            wish.bucket,
            wish.name,
            told,
            now,
        )
        return upload

    upload = vault.database.write(work)
    return words.document(
        "InitiateMultipartUploadResult",
        [("Bucket", wish.bucket), ("Key", wish.name), ("UploadId", upload)],
    )


def _wish(reads: Reads, ask: Ask) -> Wish:
    """What an upload is for."""
    bucket, name = ask.params
    row = reads.one(
        "SELECT wish FROM multiparts WHERE id = ? AND bucket = ? AND name = ?",
        ask.query["uploadId"],
        bucket,
        name,
    )
    if row is None:
        raise faults.no_such_upload()
    told = json.loads(row[0])
    return Wish(
        bucket=bucket,
        name=name,
        given=told["given"],
        conditions=Conditions(**told["conditions"]),
    )


def put_part(vault: Vault, ask: Ask) -> Response:
    """One part; a second of the same number replaces the first."""
    number = ask.number("partNumber")
    if number is None or not 1 <= number <= NUMBER_MOST:
        raise faults.invalid("Part number must be an integer between 1 and 10000, inclusive.")
    upload = ask.query["uploadId"]
    _wish(vault.database, ask)
    content = take(vault, pieces_of(ask.request.body))
    now = vault.clock.now()
    etag = f'"{base64.b64decode(content.md5 or "").hex()}"'

    def work(transaction: Transaction) -> None:
        _wish(transaction, ask)
        where = "upload = ? AND number = ?"
        before = transaction.one(f"SELECT content FROM parts WHERE {where}", upload, number)
        if before is not None:
            contents.drop(transaction, before[0], blobs=vault.blobs)
            transaction.run(f"DELETE FROM parts WHERE {where}", upload, number)
        kept = contents.add(transaction, content)
        transaction.run("INSERT INTO parts VALUES (?, ?, ?, ?, ?)", upload, number, kept, etag, now)

    try:
        contents.verify(content, {}, ask.request.headers)
        vault.database.write(work)
    except BaseException:
        abandon(vault, content)
        raise
    hashes = f"crc32c={content.crc32c},md5={content.md5}"
    return Response(headers=(("ETag", etag), ("x-goog-hash", hashes)))


def complete(vault: Vault, ask: Ask) -> Response:
    """Make the object of the parts that the client names."""
    upload = ask.query["uploadId"]
    wish = _wish(vault.database, ask)
    stored = {
        row[0]: row[1:]
        for row in vault.database.all(
            "SELECT number, content, etag, size FROM parts JOIN contents ON content = contents.id "
            "WHERE upload = ?",
            upload,
        )
    }
    chosen = _chosen(ask)
    for place, (number, etag) in enumerate(chosen):
        if number not in stored or etag.strip('"') not in ("", stored[number][1].strip('"')):
            raise faults.invalid(f"Part {number} is missing.", xml="InvalidPart")
        if stored[number][2] < PART_LEAST and place < len(chosen) - 1:
            raise faults.invalid(f"Part {number} is too small.", xml="EntityTooSmall")

    def also(transaction: Transaction) -> None:
        # Checked again, because a second completion of the same upload may have come first.
        _wish(transaction, ask)
        _forget(transaction, vault, upload)

    numbers = [stored[number][0] for number, _ in chosen]
    version = joined(vault, wish, numbers, extra={}, also=also)
    resource = version.resource
    where = f"{ask.request.base}/{wish.bucket}/{quote(wish.name)}"
    made = words.document(
        "CompleteMultipartUploadResult",
        [
            ("Location", where),
            ("Bucket", wish.bucket),
            ("Key", wish.name),
            ("ETag", words.etag_of(resource)),
        ],
    )
    return Response(headers=(*made.headers, *words.written(resource)), content=made.content)


def _chosen(ask: Ask) -> list[tuple[int, str]]:
    """The parts that a client names: number and ETag, in their order."""
    chosen = []
    for element in words.parsed(ask.request):
        if element.tag.rpartition("}")[2] == "Part":
            number = words.text_of(element, "PartNumber")
            if not number.isdecimal():
                raise faults.invalid("A part has no number.", xml="MalformedXML")
            chosen.append((int(number), words.text_of(element, "ETag")))
    if not chosen:
        raise faults.invalid("There are no parts.", xml="MalformedXML")
    numbers = [number for number, _ in chosen]
    if numbers != sorted(set(numbers)):
        raise faults.invalid("Parts are not in order.", xml="InvalidPartOrder")
    return chosen


def abort(vault: Vault, ask: Ask) -> Response:
    """Give an upload up."""

    def work(transaction: Transaction) -> None:
        _wish(transaction, ask)
        _forget(transaction, vault, ask.query["uploadId"])

    vault.database.write(work)
    return Response(status=204)


def _forget(transaction: Transaction, vault: Vault, upload: str) -> None:
    for (content,) in transaction.all("SELECT content FROM parts WHERE upload = ?", upload):
        contents.drop(transaction, content, blobs=vault.blobs)
    transaction.run("DELETE FROM parts WHERE upload = ?", upload)
    transaction.run("DELETE FROM multiparts WHERE id = ?", upload)


def list_parts(vault: Vault, ask: Ask) -> Response:
    """The parts that have arrived."""
    wish = _wish(vault.database, ask)
    rows = vault.database.all(
        "SELECT number, etag, size, created FROM parts JOIN contents ON content = contents.id "
        "WHERE upload = ? ORDER BY number",
        ask.query["uploadId"],
    )
    tree: words.Tree = [
        ("Bucket", wish.bucket),
        ("Key", wish.name),
        ("UploadId", ask.query["uploadId"]),
        ("IsTruncated", "false"),
    ]
    for number, etag, size, created in rows:
        tree.append(
            (
                "Part",
                [
                    ("PartNumber", str(number)),
                    ("LastModified", stamp(created)),
                    ("ETag", etag),
                    ("Size", str(size)),
                ],
            )
        )
    return words.document("ListPartsResult", tree)


def list_uploads(vault: Vault, ask: Ask) -> Response:
    """The uploads to a bucket that have not ended."""
    rows = vault.database.all(
        "SELECT name, id, created FROM multiparts WHERE bucket = ? ORDER BY name, id",
        ask.params[0],
    )
    tree: words.Tree = [("Bucket", ask.params[0]), ("IsTruncated", "false")]
    for name, upload, created in rows:
        entry: words.Tree = [("Key", name), ("UploadId", upload), ("Initiated", stamp(created))]
        tree.append(("Upload", entry))
    return words.document("ListMultipartUploadsResult", tree)
