"""The XML API: objects and buckets by their plain paths, as obstore and gsutil ask for them.

Must not know JSON's paths. A bucket is the first part of the path, or of the host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from windlass.twin.messages import Request, Response
from windlass.twin.storage import buckets, conditions, faults, objects, sessions, versions
from windlass.twin.storage import xml_parts as parts
from windlass.twin.storage import xml_words as words
from windlass.twin.storage.contents import Content
from windlass.twin.storage.copies import Copy, carry_out
from windlass.twin.storage.listing import PAGE_MOST, Question, list_page, successor
from windlass.twin.storage.media import download, reading
from windlass.twin.storage.uploads import UNKNOWN_TYPE, pieces_of, receive
from windlass.twin.storage.vault import Ask, Vault
from windlass.twin.storage.versions import Version, Wish

HOST_SUFFIX = ".storage.googleapis.com"
PROJECT = "x-goog-project-id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a request is about."""

    vault: Vault
    request: Request
    bucket: str
    name: str
    query: Mapping[str, str]

    def ask(self) -> Ask:
        """The same for code that both APIs use."""
        return Ask(request=self.request, params=(self.bucket, self.name), query=self.query)


def answer_xml(vault: Vault, request: Request) -> Response:
    """What the XML API says."""
    path = request.path.lstrip("/")
    if request.host.endswith(HOST_SUFFIX):
        bucket, name = request.host.removesuffix(HOST_SUFFIX), path
    else:
        bucket, _, name = path.partition("/")
    target = Target(
        vault=vault,
        request=request,
        bucket=unquote(bucket),
        name=unquote(name),
        query=request.queries(),
    )
    if target.name:
        table = _OBJECT
    else:
        table = _BUCKET if target.bucket else _SERVICE
    handler = table.get(request.method)
    if handler is None:
        raise faults.StorageRefusal(405, "The specified method is not allowed.")
    return handler(target)


def xml_refusal(refusal: faults.StorageRefusal, *, method: str) -> Response:
    """A refusal as XML."""
    return words.refused(refusal, method=method)


def _show(target: Target) -> Response:
    """GET and HEAD of an object."""
    if "uploadId" in target.query:
        return parts.list_parts(target.vault, target.ask())
    return reading(
        target.vault,
        target.bucket,
        target.name,
        generation=target.ask().number("generation"),
        show=lambda version, content: _shown(target, version, content),
    )


def _shown(target: Target, version: Version, content: Content) -> Response:
    resource = version.resource
    _check_read(target.request.headers, version, etag=words.etag_of(resource))
    response = download(target.vault, target.request, version, content)
    named = {name for name, _ in words.shown(resource)}
    kept = [pair for pair in response.headers if pair[0] not in named]
    if not any(name == "Content-Encoding" for name, _ in response.headers):
        named.discard("Content-Encoding")
    headers = [pair for pair in words.shown(resource) if pair[0] in named]
    return Response(status=response.status, headers=(*headers, *kept), content=response.content)


def _check_read(headers: Mapping[str, str], version: Version, *, etag: str) -> None:
    wanted = conditions.from_headers(headers)
    if wanted is not conditions.NONE:
        wanted.check_read(version.generation, version.metageneration)
    required, known = headers.get("if-match"), headers.get("if-none-match")
    if required is not None and not conditions.matches_etag(required, etag):
        raise faults.condition_failed()
    if known is not None and conditions.matches_etag(known, etag):
        raise faults.not_modified()


def _put(target: Target) -> Response:
    """An upload, a part of one, a copy, or more of a session."""
    headers = target.request.headers
    if "uploadId" in target.query:
        return parts.put_part(target.vault, target.ask())
    if "upload_id" in target.query:
        done = sessions.proceed(target.vault, target.ask())
        if isinstance(done, Response):
            return done
        return Response(headers=words.written(done.resource))
    if "x-goog-copy-source" in headers:
        return _copy(target)
    version = receive(target.vault, _wish(target), pieces_of(target.request.body), headers=headers)
    return Response(headers=words.written(version.resource))


def _wish(target: Target) -> Wish:
    given = words.given_by(target.request.headers)
    given.setdefault("contentType", UNKNOWN_TYPE)
    return Wish(
        bucket=target.bucket,
        name=target.name,
        given=given,
        conditions=conditions.from_headers(target.request.headers),
    )


def _copy(target: Target) -> Response:
    headers = target.request.headers
    bucket, _, name = unquote(headers["x-goog-copy-source"].lstrip("/")).partition("/")
    generation = headers.get("x-goog-copy-source-generation")
    is_new = headers.get("x-goog-metadata-directive", "COPY").upper() == "REPLACE"
    version = carry_out(
        target.vault,
        Copy(
            bucket=bucket,
            name=name,
            generation=int(generation) if generation and generation.isdecimal() else None,
            source_conditions=conditions.from_headers(headers, prefix="x-goog-copy-source-if"),
            to=Wish(
                bucket=target.bucket,
                name=target.name,
                given=words.given_by(headers) if is_new else {},
                conditions=conditions.from_headers(headers),
            ),
        ),
    )
    resource = version.resource
    made = words.document(
        "CopyObjectResult",
        [("LastModified", resource["updated"]), ("ETag", words.etag_of(resource))],
    )
    return Response(headers=(*made.headers, *words.written(resource)), content=made.content)


def _post(target: Target) -> Response:
    """The beginning or the end of an upload in parts, or the beginning of a session."""
    if "uploads" in target.query:
        return parts.initiate(target.vault, _wish(target))
    if "uploadId" in target.query:
        return parts.complete(target.vault, target.ask())
    if target.request.headers.get("x-goog-resumable") == "start":
        session = sessions.open_session(target.vault, _wish(target))
        where = f"{target.request.base}/{target.bucket}/{quote(target.name)}?upload_id={session}"
        return Response(status=201, headers=(("Location", where),))
    raise faults.not_modelled("POST Object of the XML API (HTML forms)")


def _delete(target: Target) -> Response:
    """An object, or an upload that is given up."""
    if "uploadId" in target.query:
        return parts.abort(target.vault, target.ask())
    if "upload_id" in target.query:
        return sessions.cancel(target.vault, target.ask())
    objects.remove(
        target.vault,
        target.bucket,
        target.name,
        generation=target.ask().number("generation"),
        wanted=conditions.from_headers(target.request.headers),
    )
    return Response(status=204)


def _list(target: Target) -> Response:
    """A page of a bucket's objects, in either of two dialects."""
    query = target.query
    resource = versions.bucket_resource(target.vault.database, target.bucket)
    if "location" in query:
        return words.document("LocationConstraint", [("Location", resource["location"])])
    if "uploads" in query:
        return parts.list_uploads(target.vault, target.ask())
    ask = target.ask()
    is_second = query.get("list-type") == "2"
    most = ask.number("max-keys")
    after = query.get("start-after" if is_second else "marker", "")
    question = Question(
        bucket=target.bucket,
        prefix=query.get("prefix", ""),
        delimiter=query.get("delimiter", ""),
        start=_behind(after, query.get("delimiter", "")),
        has_versions="versions" in query,
        most=PAGE_MOST if most is None else max(1, min(most, PAGE_MOST)),
        token=query.get("continuation-token", "") if is_second else "",
    )
    page = list_page(target.vault.database, question)
    tree: words.Tree = [
        ("Name", target.bucket),
        ("Prefix", question.prefix),
        ("Delimiter", question.delimiter),
        ("MaxKeys", str(question.most)),
        ("IsTruncated", "true" if page.token else "false"),
    ]
    if is_second:
        tree.append(("KeyCount", str(page.count)))
        tree += [("NextContinuationToken", page.token)] if page.token else []
    else:
        last = max([*(item.name for item in page.items[-1:]), *page.prefixes[-1:]], default="")
        tree += [("Marker", after), *([("NextMarker", last)] if page.token else [])]
    tree += [("Contents", _entry(item)) for item in page.items]
    tree += [("CommonPrefixes", [("Prefix", prefix)]) for prefix in page.prefixes]
    return words.document("ListBucketResult", tree)


def _behind(after: str, delimiter: str) -> str:
    """The least name behind a marker, which may be a common prefix."""
    if not after:
        return ""
    return successor(after) if delimiter and after.endswith(delimiter) else after + "\0"


def _entry(version: Version) -> words.Tree:
    resource = version.resource
    return [
        ("Key", version.name),
        ("Generation", resource["generation"]),
        ("MetaGeneration", resource["metageneration"]),
        ("LastModified", resource["updated"]),
        ("ETag", words.etag_of(resource)),
        ("Size", resource["size"]),
        ("StorageClass", resource["storageClass"]),
    ]


def _head_bucket(target: Target) -> Response:
    resource = versions.bucket_resource(target.vault.database, target.bucket)
    return Response(
        headers=(
            ("x-goog-metageneration", resource["metageneration"]),
            ("x-goog-bucket-location", resource["location"]),
        )
    )


def _create_bucket(target: Target) -> Response:
    project = target.request.headers.get(PROJECT, "")
    if not project:
        raise faults.required(PROJECT)
    given = {"name": target.bucket}
    if int(target.request.headers.get("content-length") or 0):
        document = words.parsed(target.request)
        given["location"] = words.text_of(document, "LocationConstraint")
    buckets.create(target.vault, given, project=project)
    return Response()


def _delete_bucket(target: Target) -> Response:
    buckets.remove(target.vault, target.bucket)
    return Response(status=204)


def _list_buckets(target: Target) -> Response:
    project = target.request.headers.get(PROJECT, "")
    rows = target.vault.database.all(
        "SELECT name, document FROM buckets WHERE project = ? ORDER BY name", project
    )
    entries: words.Tree = [("Bucket", [("Name", row[0])]) for row in rows]
    return words.document("ListAllMyBucketsResult", [("Buckets", entries)])


Handler = Callable[[Target], Response]
_OBJECT: dict[str, Handler] = {
    "GET": _show,
    "HEAD": _show,
    "PUT": _put,
    "POST": _post,
    "DELETE": _delete,
}
_BUCKET: dict[str, Handler] = {
    "GET": _list,
    "HEAD": _head_bucket,
    "PUT": _create_bucket,
    "DELETE": _delete_bucket,
}
_SERVICE: dict[str, Handler] = {"GET": _list_buckets}
