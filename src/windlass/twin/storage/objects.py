"""Objects of the JSON API: shown, listed, described and deleted.

Must not receive or copy bytes: uploads and copies do.
"""

from __future__ import annotations

from typing import Any

from windlass.twin.messages import Response
from windlass.twin.storage import conditions, faults, versions
from windlass.twin.storage.buckets import merge
from windlass.twin.storage.conditions import Conditions
from windlass.twin.storage.contents import Content
from windlass.twin.storage.database import Transaction
from windlass.twin.storage.listing import PAGE_MOST, Question, list_page
from windlass.twin.storage.media import download, reading
from windlass.twin.storage.names import moment, stamp
from windlass.twin.storage.rendering import list_text, object_response, text_response, version_text
from windlass.twin.storage.vault import Ask, Vault
from windlass.twin.storage.versions import WRITABLE, Version


def get(vault: Vault, ask: Ask) -> Response:
    """An object's metadata, or with `alt=media` its bytes."""
    if ask.query.get("alt") == "media":
        return download_media(vault, ask)
    bucket, name = ask.params
    version = versions.require(vault.database, bucket, name, ask.number("generation"))
    check_read(ask, version)
    return object_response(ask, version)


def download_media(vault: Vault, ask: Ask) -> Response:
    """An object's bytes, from the path that `mediaLink` names."""
    bucket, name = ask.params

    def show(version: Version, content: Content) -> Response:
        check_read(ask, version)
        return download(vault, ask.request, version, content)

    return reading(vault, bucket, name, generation=ask.number("generation"), show=show)


def check_read(ask: Ask, version: Version) -> None:
    """Refuse a read whose preconditions do not hold."""
    wanted = conditions.from_query(ask.query)
    if wanted is not conditions.NONE:
        wanted.check_read(version.generation, version.metageneration)
    headers = ask.request.headers
    known, required = headers.get("if-none-match"), headers.get("if-match")
    if known is None and required is None:
        return
    etag = version.resource["etag"]
    if required is not None and not conditions.matches_etag(required, etag):
        raise faults.condition_failed()
    if known is not None and conditions.matches_etag(known, etag):
        raise faults.not_modified()


def list_(vault: Vault, ask: Ask) -> Response:
    """A page of a bucket's objects."""
    bucket = ask.params[0]
    query = ask.query
    versions.bucket_resource(vault.database, bucket)
    if ask.flag("softDeleted"):
        return text_response(ask, '{"kind":"storage#objects"}')
    most = ask.number("maxResults")
    question = Question(
        bucket=bucket,
        prefix=query.get("prefix", ""),
        delimiter=query.get("delimiter", ""),
        start=query.get("startOffset", ""),
        end=query.get("endOffset", ""),
        glob=query.get("matchGlob", ""),
        has_versions=ask.flag("versions"),
        has_trailing_delimiter=ask.flag("includeTrailingDelimiter"),
        most=PAGE_MOST if not most or most < 0 else min(most, PAGE_MOST),
        token=query.get("pageToken", ""),
    )
    page = list_page(vault.database, question)
    items = (version_text(ask, version) for version in page.items)
    return text_response(
        ask, list_text("storage#objects", items=items, prefixes=page.prefixes, token=page.token)
    )


def delete(vault: Vault, ask: Ask) -> Response:
    """Delete the live generation, or one that is named."""
    bucket, name = ask.params
    remove(
        vault,
        bucket,
        name,
        generation=ask.number("generation"),
        wanted=conditions.from_query(ask.query),
    )
    return Response(status=204)


def remove(
    vault: Vault, bucket: str, name: str, *, generation: int | None, wanted: Conditions
) -> None:
    """Take an object away: a named generation for good, else as its bucket keeps versions."""
    now = vault.clock.now()

    def work(transaction: Transaction) -> None:
        version = versions.require(transaction, bucket, name, generation)
        versions.check_write(wanted, version)
        if generation is not None:
            versions.remove(transaction, version, blobs=vault.blobs, now=now)
            return
        resource = versions.bucket_resource(transaction, bucket)
        versions.retire(transaction, version, bucket=resource, blobs=vault.blobs, now=now)

    vault.database.write(work)


def patch(vault: Vault, ask: Ask) -> Response:
    """Change some metadata; null removes a field."""
    return _change(vault, ask, is_whole=False)


def update(vault: Vault, ask: Ask) -> Response:
    """Replace all metadata that a client may write."""
    return _change(vault, ask, is_whole=True)


def _change(vault: Vault, ask: Ask, *, is_whole: bool) -> Response:
    bucket, name = ask.params
    given = ask.document("Object")
    generation = ask.number("generation")
    wanted = conditions.from_query(ask.query)
    now = vault.clock.now()

    def work(transaction: Transaction) -> Version:
        version = versions.require(transaction, bucket, name, generation)
        versions.check_write(wanted, version)
        resource = version.resource
        _check_custom_time(resource, given)
        for key in WRITABLE:
            if key in given:
                merge(resource, key, given[key])
            elif is_whole and key != "customTime":
                resource.pop(key, None)
        if not resource.get("metadata"):
            resource.pop("metadata", None)
        if given.get("storageClass") not in (None, resource["storageClass"]):
            resource["storageClass"] = given["storageClass"]
            resource["timeStorageClassUpdated"] = stamp(now)
        return versions.describe(transaction, version, resource, now=now)

    return object_response(ask, vault.database.write(work))


def _check_custom_time(resource: dict[str, Any], given: dict[str, Any]) -> None:
    """Once set, a custom time can only move on."""
    before, wanted = resource.get("customTime"), given.get("customTime")
    if "customTime" not in given or before is None:
        return
    if wanted is None or moment(wanted) < moment(before):
        raise faults.invalid("Custom time cannot be removed or set to an earlier date time.")
