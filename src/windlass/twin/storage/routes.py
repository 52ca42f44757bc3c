"""Which path of the JSON API means what.

Must not carry anything out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote

from windlass.twin.messages import Request, Response, json_response
from windlass.twin.storage import buckets, copies, faults, objects, policies, sessions, uploads
from windlass.twin.storage.vault import Ask, Vault

Handler = Callable[[Vault, Ask], Response]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A method, and what its path names."""

    handler: Handler
    params: tuple[str, ...]


def _not_modelled(method: str) -> Handler:
    def refuse(vault: Vault, ask: Ask) -> Response:
        raise faults.not_modelled(method)

    return refuse


def _service_account(vault: Vault, ask: Ask) -> Response:
    number = vault.project_number(ask.params[0])
    return json_response(
        {
            "kind": "storage#serviceAccount",
            "email_address": f"service-{number}@gs-project-accounts.iam.gserviceaccount.com",
        }
    )


# In the order of their use: the first that fits is taken.
_TABLE: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/storage/v1/b/*/o/*", objects.get),
    ("GET", "/download/storage/v1/b/*/o/*", objects.download_media),
    ("GET", "/storage/v1/b/*/o", objects.list_),
    ("GET", "/storage/v1/b/*", buckets.get),
    ("GET", "/storage/v1/b", buckets.list_),
    ("HEAD", "/storage/v1/b/*/o/*", objects.get),
    ("HEAD", "/download/storage/v1/b/*/o/*", objects.download_media),
    ("GET", "/storage/v1/b/*/iam", policies.get_policy),
    ("GET", "/storage/v1/b/*/iam/testPermissions", policies.test_permissions),
    ("GET", "/storage/v1/b/*/storageLayout", buckets.layout),
    ("GET", "/storage/v1/b/*/managedFolders", buckets.managed_folders),
    ("GET", "/storage/v1/projects/*/serviceAccount", _service_account),
    ("POST", "/upload/storage/v1/b/*/o", uploads.insert),
    ("POST", "/resumable/upload/storage/v1/b/*/o", uploads.insert),
    ("PUT", "/upload/storage/v1/b/*/o", sessions.go_on),
    ("PUT", "/resumable/upload/storage/v1/b/*/o", sessions.go_on),
    ("DELETE", "/upload/storage/v1/b/*/o", sessions.cancel),
    ("DELETE", "/resumable/upload/storage/v1/b/*/o", sessions.cancel),
    ("DELETE", "/storage/v1/b/*/o/*", objects.delete),
    ("DELETE", "/storage/v1/b/*", buckets.delete),
    ("PATCH", "/storage/v1/b/*/o/*", objects.patch),
    ("PATCH", "/storage/v1/b/*", buckets.patch),
    ("PUT", "/storage/v1/b/*/o/*", objects.update),
    ("PUT", "/storage/v1/b/*/iam", policies.set_policy),
    ("PUT", "/storage/v1/b/*", buckets.update),
    ("POST", "/storage/v1/b", buckets.insert),
    ("POST", "/storage/v1/b/*/o/*/compose", copies.compose),
    ("POST", "/storage/v1/b/*/o/*/copyTo/b/*/o/*", copies.copy_to),
    ("POST", "/storage/v1/b/*/o/*/rewriteTo/b/*/o/*", copies.rewrite),
    ("POST", "/storage/v1/b/*/o/*/moveTo/o/*", copies.move_to),
)

# Google has these, with any verb; the twin does not.
_ABSENT: tuple[tuple[str, str], ...] = (
    ("/storage/v1/b/*/acl(?:/.*)?", "storage.bucketAccessControls"),
    ("/storage/v1/b/*/defaultObjectAcl(?:/.*)?", "storage.defaultObjectAccessControls"),
    ("/storage/v1/b/*/o/*/acl(?:/.*)?", "storage.objectAccessControls"),
    ("/storage/v1/b/*/o/*/iam(?:/.*)?", "storage.objects.getIamPolicy"),
    ("/storage/v1/b/*/notificationConfigs(?:/.*)?", "storage.notifications"),
    ("/storage/v1/b/*/anywhereCaches(?:/.*)?", "storage.anywhereCaches"),
    ("/storage/v1/b/*/folders(?:/.*)?", "storage.folders"),
    ("/storage/v1/b/*/managedFolders(?:/.*)?", "storage.managedFolders"),
    ("/storage/v1/b/*/operations(?:/.*)?", "storage.buckets.operations"),
    ("/storage/v1/b/*/lockRetentionPolicy", "storage.buckets.lockRetentionPolicy"),
    ("/storage/v1/b/*/relocate", "storage.buckets.relocate"),
    ("/storage/v1/b/*/restore", "storage.buckets.restore"),
    ("/storage/v1/b/*/o/bulkRestore", "storage.objects.bulkRestore"),
    ("/storage/v1/b/*/o/watch", "storage.objects.watchAll"),
    ("/storage/v1/b/*/o/*/restore", "storage.objects.restore"),
    ("/storage/v1/b/*/o", "storage.objects.insert without an upload"),
    ("/storage/v1/channels/stop", "storage.channels.stop"),
    ("/storage/v1/projects/*/hmacKeys(?:/.*)?", "storage.projects.hmacKeys"),
)


def _pattern(shape: str) -> re.Pattern[str]:
    return re.compile(shape.replace("/*", "/([^/]+)"))


_ROUTES: dict[str, list[tuple[re.Pattern[str], Handler]]] = {}
for _method, _shape, _handler in _TABLE:
    _ROUTES.setdefault(_method, []).append((_pattern(_shape), _handler))
_REFUSED = [(_pattern(shape), _not_modelled(name)) for shape, name in _ABSENT]
for _found in _ROUTES.values():
    _found += _REFUSED


def find_route(request: Request) -> Found:
    """The method that a request calls; refuse what Google does not have."""
    path = request.path.rstrip("/") if request.path.endswith("/o/") else request.path
    for pattern, handler in _ROUTES.get(request.method, _REFUSED):
        found = pattern.fullmatch(path)
        if found is not None:
            return Found(handler=handler, params=tuple(map(unquote, found.groups())))
    raise faults.StorageRefusal(404, "Not Found", reason="notFound")
