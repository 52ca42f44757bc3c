"""Which names buckets and objects may have, and how moments and versions are written.

Must not touch what is stored. The rules: cloud.google.com/storage/docs/buckets#naming and
cloud.google.com/storage/docs/objects#naming.
"""

from __future__ import annotations

import base64
import datetime
import re

from windlass.twin.storage import faults

_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]*[a-z0-9]")
_ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+")
_GOOGLE = re.compile(r"g[o0]{2}g[l1]e")
_FORBIDDEN = re.compile("[\r\n\x00\ud800-\udfff]")

BUCKET_MOST = 63
DOTTED_BUCKET_MOST = 222
OBJECT_BYTES_MOST = 1024


def check_bucket_name(name: str) -> None:
    """Refuse a name that no bucket can have."""
    most = DOTTED_BUCKET_MOST if "." in name else BUCKET_MOST
    if (
        not 3 <= len(name) <= most
        or _BUCKET.fullmatch(name) is None
        or _ADDRESS.fullmatch(name) is not None
        or name.startswith("goog")
        or _GOOGLE.search(name) is not None
        or any(not 1 <= len(part) <= BUCKET_MOST for part in name.split("."))
    ):
        raise faults.bad_bucket_name(name)


def check_object_name(name: str) -> None:
    """Refuse a name that no object can have."""
    if not name:
        raise faults.required("name")
    if (
        _FORBIDDEN.search(name) is not None
        or name in (".", "..")
        or name.startswith(".well-known/acme-challenge/")
    ):
        raise faults.bad_object_name(name)
    if len(name.encode()) > OBJECT_BYTES_MOST:
        raise faults.long_object_name()


def stamp(moment: float) -> str:
    """A moment as the JSON API writes it."""
    utc = datetime.datetime.fromtimestamp(moment, datetime.UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"


def moment(text: str) -> float:
    """The opposite of `stamp`, for any RFC 3339 text; a bare date is its first moment."""
    try:
        parsed = datetime.datetime.fromisoformat(text)
    except ValueError as exc:
        raise faults.invalid(f"Invalid value for a date: {text}") from exc
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=datetime.UTC)
    return parsed.timestamp()


def http_date(moment_: float) -> str:
    """A moment as headers write it."""
    utc = datetime.datetime.fromtimestamp(moment_, datetime.UTC)
    return f"{utc:%a, %d %b %Y %H:%M:%S} GMT"


def object_etag(generation: int, metageneration: int) -> str:
    """An object's ETag: both numbers, as Google packs them."""
    packed = b"\x08" + _varint(generation) + b"\x10" + _varint(metageneration)
    return base64.b64encode(packed).decode()


def bucket_etag(metageneration: int) -> str:
    """A bucket's ETag."""
    return base64.b64encode(b"\x08" + _varint(metageneration)).decode()


def _varint(value: int) -> bytes:
    packed = bytearray()
    while value > 0x7F:
        packed.append(value & 0x7F | 0x80)
        value >>= 7
    packed.append(value)
    return bytes(packed)
