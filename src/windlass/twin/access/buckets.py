"""Who may do what in Cloud Storage, by the policies of a bucket and of its project.

Also whether the API is on at all.

Must not touch what is stored: it lets a request through or answers it itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qsl, unquote

from windlass.twin.access.roles import allows
from windlass.twin.messages import Request, Response, json_response
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.access.apis import EnabledApis
    from windlass.twin.access.policies import Policies
    from windlass.twin.settings import Settings

HOST = "storage.googleapis.com"
JSON = re.compile(r"/(?:resumable/)?(?:upload/|download/)?storage/v1/")
# Google's members that stand for whoever has a basic role on the project.
BASIC = {"projectOwner": "owner", "projectEditor": "editor", "projectViewer": "viewer"}
CHECKED = "storage.buckets.testIamPermissions"

Need = tuple[str, str]
"""A bucket (or nothing, for the project) and a permission."""
Rule = tuple[re.Pattern[str], dict[str, tuple[tuple[int, str], ...]]]
"""A path; and by method, where in it the bucket is (0: it is the project) and what is needed."""


def _rule(shape: str, **by_method: str) -> Rule:
    """Permissions as words, `2:` before those for the second bucket; ANY is every other method."""
    found = {}
    for method, words in by_method.items():
        pairs = (word.rpartition(":")[::2] for word in words.split())
        needs = ((int(where or 1), f"storage.{permission}") for where, permission in pairs)
        found["" if method == "ANY" else method] = tuple(needs)
    return re.compile(shape.replace("/*", "/([^/]+)")), found


_BUCKETS = "/storage/v1/b"
_OBJECT = "/storage/v1/b/*/o/[^/]+"
RULES: tuple[Rule, ...] = (
    _rule(
        f"(?:/download)?{_OBJECT}",
        ANY="objects.get",
        DELETE="objects.delete",
        PATCH="objects.update",
        PUT="objects.update",
    ),
    _rule(f"(?:/resumable)?/upload{_BUCKETS}/*/o", ANY="objects.create"),
    _rule(f"{_BUCKETS}/*/o", ANY="objects.list"),
    _rule(
        f"{_BUCKETS}/*",
        ANY="buckets.get",
        DELETE="buckets.delete",
        PATCH="buckets.update",
        PUT="buckets.update",
    ),
    _rule(_BUCKETS, ANY="0:buckets.list", POST="0:buckets.create"),
    _rule(f"{_OBJECT}/compose", ANY="objects.get objects.create"),
    _rule(f"{_OBJECT}/(?:copyTo|rewriteTo)/b/*/o/.*", ANY="objects.get 2:objects.create"),
    _rule(f"{_OBJECT}/moveTo/.*", ANY="objects.delete objects.create"),
    _rule(f"{_BUCKETS}/*/iam", ANY="buckets.getIamPolicy", PUT="buckets.setIamPolicy"),
    _rule(f"{_BUCKETS}/*/iam/testPermissions", ANY="0:buckets.testIamPermissions"),
    _rule(f"{_BUCKETS}/*/.*", ANY="buckets.get"),
)


class Store(Protocol):
    """Cloud Storage itself."""

    def handles(self, request: Request) -> bool:
        """See door.Surface."""

    def answer(self, request: Request, *, principal: str) -> Response:
        """See door.Surface."""

    def bindings(self, bucket: str) -> Sequence[Mapping[str, Any]] | None:
        """Who may do what with a bucket; None where there is none of that name."""

    def refused(self, request: Request, refusal: Refusal) -> Response:
        """A refusal in the language of the request."""


class GuardedStore:
    """Implements door.Surface in front of Cloud Storage."""

    def __init__(
        self, store: Store, *, apis: EnabledApis, policies: Policies, settings: Settings
    ) -> None:
        self._store = store
        self._apis = apis
        self._policies = policies
        self._settings = settings

    def handles(self, request: Request) -> bool:
        """See door.Surface."""
        return self._store.handles(request)

    def answer(self, request: Request, *, principal: str) -> Response:
        """See door.Surface."""
        if not self._apis.is_enabled(HOST):
            refusal = self._apis.disabled(HOST, number=self._settings.project_number)
            return self._store.refused(request, refusal)
        needs = list(needed(request))
        if ("", CHECKED) in needs:
            return self._tested(request, principal=principal)
        for bucket, permission in needs:
            if not self._allows(principal, bucket, permission):
                return self._store.refused(request, _denied(principal, bucket, permission))
        return self._store.answer(request, principal=principal)

    def _allows(self, principal: str, bucket: str, permission: str) -> bool:
        project = f"projects/{self._settings.project}"
        if self._policies.allows(principal, [project], permission):
            return True
        if self._policies.is_denied(principal, permission):
            return False
        members = self._members(principal)
        return any(
            allows(str(binding.get("role")), permission)
            for binding in (self._store.bindings(bucket) if bucket else None) or ()
            if members.intersection(binding.get("members", ()))
        )

    def _members(self, principal: str) -> set[str]:
        members = {f"user:{principal}", f"serviceAccount:{principal}", "allUsers"}
        members.add("allAuthenticatedUsers")
        project = f"projects/{self._settings.project}"
        for member, role in BASIC.items():
            if self._policies.has_role(principal, project, f"roles/{role}"):
                members.add(f"{member}:{self._settings.project}")
        return members

    def _tested(self, request: Request, *, principal: str) -> Response:
        """The store says what may be asked about; what the caller has of it is known here."""
        bucket = unquote(request.path.split("/b/")[1].split("/")[0])
        response = self._store.answer(request, principal=principal)
        if response.status != 200 or not isinstance(response.content, bytes):
            return response
        page = json.loads(response.content)
        had = [one for one in page.pop("permissions", []) if self._allows(principal, bucket, one)]
        shown = json_response({**page, **({"permissions": had} if had else {})})
        return replace(response, headers=shown.headers, content=shown.content)


def needed(request: Request) -> Iterator[Need]:
    """What a request needs. What the store does not know it refuses itself."""
    if not JSON.match(request.path):
        yield from _needed_xml(request)
        return
    path = request.path.rstrip("/")
    for shape, by_method in RULES:
        found = shape.fullmatch(path)
        if found is not None:
            for where, permission in by_method.get(request.method, by_method[""]):
                yield unquote(found[where]) if where else "", permission
            return


def _needed_xml(request: Request) -> Iterator[Need]:
    place = unquote(request.path).lstrip("/")
    bucket, _, name = place.partition("/")
    if request.host.endswith(f".{HOST}"):
        bucket, name = request.host.removesuffix(f".{HOST}"), place
    method = request.method
    if not bucket:
        yield "", "storage.buckets.list"
    elif not name:
        acts = {"PUT": "buckets.create", "DELETE": "buckets.delete", "HEAD": "buckets.get"}
        permission = f"storage.{acts.get(method, 'objects.list')}"
        yield "" if permission.endswith("create") else bucket, permission
    elif method in ("PUT", "POST"):
        source = request.headers.get("x-goog-copy-source", request.headers.get("x-amz-copy-source"))
        if source:
            yield unquote(source).lstrip("/").partition("/")[0], "storage.objects.get"
        yield bucket, "storage.objects.create"
    elif method == "DELETE" and "uploadId" in dict(parse_qsl(request.query)):
        yield bucket, "storage.multipartUploads.abort"
    else:
        yield bucket, f"storage.objects.{'delete' if method == 'DELETE' else 'get'}"


def _denied(principal: str, bucket: str, permission: str) -> Refusal:
    thing = "object" if permission.startswith("storage.objects.") else "bucket"
    if permission == "storage.objects.list":
        thing = "bucket"
    if not bucket:
        message = (
            f"{principal} does not have {permission} access to the Google Cloud project. "
            f"Permission '{permission}' denied on resource (or it may not exist)."
        )
    else:
        message = (
            f"{principal} does not have {permission} access to the Google Cloud Storage {thing}. "
            f"Permission '{permission}' denied on resource (or it may not exist)."
        )
    return Refusal(403, message, reason="forbidden")
