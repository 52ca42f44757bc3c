"""Google's batch requests: many calls in one multipart body, answered in one.

Must not answer the calls itself: it takes them apart and puts the answers together.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import urlsplit

from windlass.twin.messages import Bytes, Request, Response
from windlass.twin.refusals import Refusal

MOST_PARTS = 1000
MOST_BODY = 32 << 20
BOUNDARY = re.compile(r"""boundary=(?:"([^"]+)"|'([^']+)'|([^;\s]+))""")


def is_batch(request: Request) -> bool:
    """Whether it is one: every API has its path for them, and all begin alike. What is uploaded
    may be of that type too."""
    kind = request.headers.get("content-type", "")
    is_there = request.path == "/batch" or request.path.startswith("/batch/")
    return request.method == "POST" and is_there and kind.startswith("multipart/mixed")


def answer_batch(request: Request, answer: Callable[[Request], Response]) -> Response:
    """Answer each part in turn. None is carried out unless all can be read."""
    boundary = boundary_of(request.headers.get("content-type", ""))
    parts = split_parts(_whole(request), boundary)
    if len(parts) > MOST_PARTS:
        message = f"The batch request has more than {MOST_PARTS} calls."
        raise Refusal(400, message, reason="batchSizeTooLarge")
    calls = [
        (headers.get("content-id", ""), _inner(content, outer=request))
        for headers, content in parts
    ]
    answers = []
    for content_id, inner in calls:
        response = answer(inner)
        if response.status == 0:
            return response  # It is lost, and all others with it: they travel together.
        answers.append(_part(content_id, response))
    mark = "batch_windlass_twin"
    body = b"".join(b"--%s\r\n%s\r\n" % (mark.encode(), part) for part in answers)
    kind = f"multipart/mixed; boundary={mark}"
    return Response(headers=(("Content-Type", kind),), content=body + f"--{mark}--\r\n".encode())


def boundary_of(content_type: str) -> bytes:
    """What separates the parts. Some clients put it in single quotes."""
    found = BOUNDARY.search(content_type)
    if found is None:
        raise Refusal(400, "The multipart body has no boundary.", reason="parseError")
    return next(group for group in found.groups() if group).encode()


def split_parts(body: bytes, boundary: bytes) -> list[tuple[dict[str, str], bytes]]:
    """Headers and content of each part."""
    # Clients end lines as they like, gcloud with a bare line feed.
    mark = re.compile(rb"(?:^|\r?\n)--" + re.escape(boundary))
    parts = []
    for piece in mark.split(body)[1:]:
        if piece.startswith(b"--"):
            break
        head, content = _halves(piece.lstrip(b" \t").removeprefix(b"\r\n").removeprefix(b"\n"))
        parts.append((head, content))
    return parts


def _whole(request: Request) -> bytes:
    raw = request.body.read(MOST_BODY + 1)
    if len(raw) > MOST_BODY:
        raise Refusal(413, "Request payload size exceeds the limit.", reason="uploadTooLarge")
    return raw


def _halves(piece: bytes) -> tuple[dict[str, str], bytes]:
    for gap in (b"\r\n\r\n", b"\n\n"):
        head, found, content = piece.partition(gap)
        if found:
            return _headers(head), content
    return {}, piece


def _headers(head: bytes) -> dict[str, str]:
    pairs = (line.partition(":") for line in head.decode("utf-8", "replace").splitlines())
    return {name.strip().lower(): value.strip() for name, found, value in pairs if found}


def _inner(content: bytes, *, outer: Request) -> Request:
    line, _, rest = content.partition(b"\n")
    words = line.decode("utf-8", "replace").split()
    try:
        target = urlsplit(words[1])
    except (IndexError, ValueError) as exc:
        message = "A part of the batch is not an HTTP request."
        raise Refusal(400, message, reason="parseError") from exc
    headers, body = _halves(rest)
    # A part inherits what the whole says, above all whose it is.
    inherited = {name: outer.headers[name] for name in ("authorization",) if name in outer.headers}
    inner = Request(
        method=words[0].upper(),
        host=(target.hostname or outer.host).lower(),
        path=target.path,
        query=target.query,
        headers={**inherited, **headers},
        body=Bytes(body.rstrip(b"\r\n")),
        base=outer.base,
    )
    if is_batch(inner):
        raise Refusal(400, "A batch cannot be part of a batch.", reason="badRequest")
    return inner


def _part(content_id: str, response: Response) -> bytes:
    content = response.content if isinstance(response.content, bytes) else b""
    phrase = HTTPStatus(response.status).phrase
    head = [f"HTTP/1.1 {response.status} {phrase}"]
    head += [f"{name}: {value}" for name, value in response.headers]
    head.append(f"Content-Length: {len(content)}")
    name = content_id.strip().removeprefix("<").removesuffix(">")
    outer = f"Content-Type: application/http\r\nContent-ID: <response-{name}>\r\n\r\n"
    return outer.encode() + "\r\n".join(head).encode() + b"\r\n\r\n" + content
