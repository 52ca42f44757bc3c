"""What the XML API writes and reads: documents, headers and errors.

Must not touch what is stored.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from windlass.twin.messages import Request, Response
from windlass.twin.storage import faults
from windlass.twin.storage.faults import XML_MESSAGES, StorageRefusal
from windlass.twin.storage.media import object_headers

XML_TYPE = ("Content-Type", "application/xml; charset=UTF-8")
NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
BODY_MOST = 8 << 20
_HEADERS = {
    "content-type": "contentType",
    "content-encoding": "contentEncoding",
    "cache-control": "cacheControl",
    "content-disposition": "contentDisposition",
    "content-language": "contentLanguage",
    "x-goog-storage-class": "storageClass",
    "x-goog-custom-time": "customTime",
}
META = "x-goog-meta-"

Tree = list[tuple[str, "str | Tree"]]


def document(root: str, tree: Tree) -> Response:
    """An answer of nested elements."""
    text = f'<?xml version="1.0" encoding="UTF-8"?><{root} xmlns="{NAMESPACE}">'
    return Response(headers=(XML_TYPE,), content=f"{text}{_inside(tree)}</{root}>".encode())


def _inside(tree: Tree) -> str:
    return "".join(
        f"<{name}>{escape(value) if isinstance(value, str) else _inside(value)}</{name}>"
        for name, value in tree
    )


def refused(refusal: StorageRefusal, *, method: str) -> Response:
    """An error."""
    if refusal.code == 304 or method == "HEAD":
        return Response(status=refusal.code)
    message = XML_MESSAGES.get(refusal.xml, refusal.message)
    details = "" if message == refusal.message else f"<Details>{escape(refusal.message)}</Details>"
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f"<Error><Code>{refusal.xml}</Code><Message>{escape(message)}</Message>{details}</Error>"
    )
    return Response(status=refusal.code, headers=(XML_TYPE,), content=text.encode())


def parsed(request: Request) -> ElementTree.Element:
    """A body that is an XML document; one that defines entities is refused unread."""
    raw = request.body.read(BODY_MOST)
    if b"<!DOCTYPE" in raw or b"<!ENTITY" in raw:
        raise faults.invalid("The XML you provided has a DTD.", xml="MalformedXML")
    try:
        return ElementTree.fromstring(raw)
    except ElementTree.ParseError as exc:
        raise faults.invalid("The XML you provided is not XML.", xml="MalformedXML") from exc


def text_of(element: ElementTree.Element, name: str) -> str:
    """The text of a child, whatever its namespace."""
    for child in element:
        if child.tag.rpartition("}")[2] == name:
            return (child.text or "").strip()
    return ""


def given_by(headers: Mapping[str, str]) -> dict[str, Any]:
    """What a request's headers say about its object."""
    given: dict[str, Any] = {
        key: headers[name] for name, key in _HEADERS.items() if headers.get(name)
    }
    metadata = {
        name.removeprefix(META): value for name, value in headers.items() if name.startswith(META)
    }
    if metadata:
        given["metadata"] = metadata
    return given


def etag_of(resource: Mapping[str, Any]) -> str:
    """An object's ETag here: its MD5 in hex, or something opaque where it has none."""
    if "md5Hash" in resource:
        return f'"{base64.b64decode(resource["md5Hash"]).hex()}"'
    return f'"-{resource["etag"]}"'


def shown(resource: dict[str, Any]) -> list[tuple[str, str]]:
    """An object's headers."""
    headers = [pair for pair in object_headers(resource) if pair[0] != "ETag"]
    headers.append(("ETag", etag_of(resource)))
    for name, value in (resource.get("metadata") or {}).items():
        if re.fullmatch(r"[\w.-]+", name):
            headers.append((f"{META}{name}", re.sub(r"[\x00-\x1f\x7f]", "", str(value))))
    return headers


def written(resource: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """The headers that answer an upload."""
    wanted = ("ETag", "x-goog-generation", "x-goog-metageneration", "x-goog-hash")
    stored = ("x-goog-stored-content-length", "x-goog-stored-content-encoding")
    return tuple(pair for pair in shown(resource) if pair[0] in wanted + stored)
