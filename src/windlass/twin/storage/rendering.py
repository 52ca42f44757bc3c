"""Resources as the JSON API sends them: with links, and only with the fields that were asked for.

Must not read what is stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from windlass.twin.discovery.fields import select
from windlass.twin.messages import Response, json_response
from windlass.twin.storage.vault import Ask
from windlass.twin.storage.versions import Version

JSON_TYPE = ("Content-Type", "application/json; charset=UTF-8")


def object_text(base: str, bucket: str, name: str, *, generation: int, document: str) -> str:
    """An object as JSON. Its links are added as text: a list has a thousand of them."""
    place = f"storage/v1/b/{bucket}/o/{quote(name, safe='')}"
    return (
        f'{document[:-1]},"selfLink":"{base}/{place}",'
        f'"mediaLink":"{base}/download/{place}?generation={generation}&alt=media"}}'
    )


def version_text(ask: Ask, version: Version) -> str:
    """A generation as JSON."""
    return object_text(
        ask.request.base,
        version.bucket,
        version.name,
        generation=version.generation,
        document=version.document,
    )


def object_response(
    ask: Ask, version: Version, *, headers: Sequence[tuple[str, str]] = ()
) -> Response:
    """An object's resource."""
    return text_response(ask, version_text(ask, version), headers=headers)


def object_resource(ask: Ask, version: Version) -> dict[str, Any]:
    """An object's resource, to be part of another."""
    resource: dict[str, Any] = json.loads(version_text(ask, version))
    return resource


def bucket_response(ask: Ask, resource: Mapping[str, Any]) -> Response:
    """A bucket's resource."""
    return response(ask, linked_bucket(ask, resource))


def linked_bucket(ask: Ask, resource: Mapping[str, Any]) -> dict[str, Any]:
    """A bucket's resource with its link."""
    return {**resource, "selfLink": f"{ask.request.base}/storage/v1/b/{resource['name']}"}


def list_text(kind: str, *, items: Iterable[str], prefixes: Sequence[str], token: str) -> str:
    """A page of a list, put together from texts."""
    parts = [f'{{"kind":"{kind}"']
    if token:
        parts.append(f'"nextPageToken":{json.dumps(token)}')
    if prefixes:
        parts.append(f'"prefixes":{json.dumps(prefixes, ensure_ascii=False)}')
    joined = ",".join(items)
    if joined:
        parts.append(f'"items":[{joined}]')
    return ",".join(parts) + "}"


def text_response(ask: Ask, text: str, *, headers: Sequence[tuple[str, str]] = ()) -> Response:
    """JSON that is text already, cut down to the fields that were asked for."""
    fields = ask.query.get("fields")
    if fields:
        text = json.dumps(
            select(fields, json.loads(text)), ensure_ascii=False, separators=(",", ":")
        )
    return Response(headers=(JSON_TYPE, *headers), content=text.encode())


def response(ask: Ask, value: dict[str, Any]) -> Response:
    """A JSON answer, cut down to the fields that were asked for."""
    fields = ask.query.get("fields")
    return json_response(select(fields, value) if fields else value)
