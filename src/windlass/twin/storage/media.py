"""Downloads: an object's bytes, or a range of them, with the headers that clients check.

Must not read a blob: the server sends it from the disk.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from windlass.twin.messages import Content as Sent
from windlass.twin.messages import Request, Response
from windlass.twin.storage import contents, faults, versions
from windlass.twin.storage.blobs import Lease, LeasedPart
from windlass.twin.storage.contents import Content
from windlass.twin.storage.names import http_date, moment
from windlass.twin.storage.vault import Vault
from windlass.twin.storage.versions import Version

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")
_OPTIONAL = {
    "cacheControl": "Cache-Control",
    "contentDisposition": "Content-Disposition",
    "contentEncoding": "Content-Encoding",
    "contentLanguage": "Content-Language",
}
ATTEMPTS = 100
ZIPPED = 16 + zlib.MAX_WBITS


class Replaced(Exception):
    """Another request replaced the object between our look at it and our hold on its bytes."""


def reading(
    vault: Vault,
    bucket: str,
    name: str,
    *,
    generation: int | None,
    show: Callable[[Version, Content], Response],
) -> Response:
    """What `show` makes of an object; of what is there now, when it was replaced meanwhile."""
    for _ in range(ATTEMPTS):
        version, content = versions.require_stored(vault.database, bucket, name, generation)
        try:
            return show(version, content)
        except Replaced:
            continue
    raise faults.busy()


def download(vault: Vault, request: Request, version: Version, content: Content) -> Response:
    """The bytes of a generation."""
    resource = version.resource
    size = int(resource["size"])
    headers = object_headers(resource)
    if _is_unzipped(resource, request):
        kept = [pair for pair in headers if pair[0] != "Content-Encoding"]
        lease = _lease(vault, content)
        sent = _unzipped(vault, content, lease)
        return Response(headers=(*kept, ("Warning", "214 UploadServer gunzipped")), content=sent)
    wanted = byte_range(request.headers.get("range", ""), size)
    start, length = (0, size) if wanted is None else wanted
    status = 200
    if wanted is not None:
        status = 206
        headers.append(("Content-Range", f"bytes {start}-{start + length - 1}/{size}"))
    if request.method == "HEAD":
        headers.append(("Content-Length", str(length)))
        return Response(status=status, headers=tuple(headers))
    part = _part(vault, content, start, length)
    return Response(status=status, headers=tuple(headers), content=part)


def object_headers(resource: dict[str, Any]) -> list[tuple[str, str]]:
    """What a download says about its object."""
    hashes = f"crc32c={resource['crc32c']}"
    if "md5Hash" in resource:
        hashes += f",md5={resource['md5Hash']}"
    headers = [
        ("Content-Type", _safe(resource.get("contentType", "application/octet-stream"))),
        ("ETag", f'"{resource["etag"]}"'),
        ("Last-Modified", http_date(moment(resource["updated"]))),
        ("Accept-Ranges", "bytes"),
        ("x-goog-generation", resource["generation"]),
        ("x-goog-metageneration", resource["metageneration"]),
        ("x-goog-hash", hashes),
        ("x-goog-storage-class", resource["storageClass"]),
        ("x-goog-stored-content-encoding", _safe(resource.get("contentEncoding", "identity"))),
        ("x-goog-stored-content-length", resource["size"]),
    ]
    headers += [
        (header, _safe(resource[key])) for key, header in _OPTIONAL.items() if key in resource
    ]
    if "componentCount" in resource:
        headers.append(("x-goog-component-count", str(resource["componentCount"])))
    return headers


def _safe(value: Any) -> str:
    """A client's words as a header: without the line ends that would begin another one."""
    return re.sub(r"[\x00-\x1f\x7f]", "", str(value))


def byte_range(header: str, size: int) -> tuple[int, int] | None:
    """Where a range begins and how long it is; None for everything. Refuse an impossible one."""
    found = _RANGE.fullmatch(header.strip())
    if found is None or found.groups() == ("", ""):
        return None
    if not found[1]:
        length = min(int(found[2]), size)
        if length == 0:
            raise faults.bad_range()
        return size - length, length
    start = int(found[1])
    end = min(int(found[2]), size - 1) if found[2] else size - 1
    if found[2] and int(found[2]) < start:
        return None
    if start >= size:
        raise faults.bad_range()
    return start, end - start + 1


def _part(vault: Vault, content: Content, start: int, length: int) -> Sent:
    lease = _lease(vault, content)
    if content.file is None or lease is None:
        inline = content.inline or b""
        return inline if length == len(inline) else inline[start : start + length]
    path = vault.blobs.path(content.file)
    return LeasedPart(path=path, offset=start, length=length, lease=lease)


def _lease(vault: Vault, content: Content) -> Lease | None:
    """What keeps a content until it is sent; one that is inline needs nothing."""
    if content.file is None:
        return None
    lease = vault.blobs.lease(content.file)
    if lease is None:
        raise Replaced
    return lease


def _is_unzipped(resource: dict[str, Any], request: Request) -> bool:
    """Whether Google would unpack it for a client that cannot."""
    return (
        resource.get("contentEncoding") == "gzip"
        and "gzip" not in request.headers.get("accept-encoding", "")
        and "no-transform" not in resource.get("cacheControl", "")
        and request.method == "GET"
    )


def _unzipped(vault: Vault, content: Content, lease: Lease | None) -> Iterator[bytes]:
    unzip = zlib.decompressobj(ZIPPED)
    for piece in contents.pieces(content, blobs=vault.blobs):
        yield unzip.decompress(piece)
    # The lease must live as long as this does.
    del lease
    yield unzip.flush()
