"""Names of the calls that no discovery document routes: Cloud Storage's, by what they ask.

Must not know more of Cloud Storage than its paths.
"""

from __future__ import annotations

import re

from windlass.twin.messages import Request

PREFIXES = ("/storage/v1/", "/upload/storage/v1/", "/resumable/upload/", "/download/storage/v1/")
UPLOADS = re.compile(r"/(?:resumable/)?upload/storage/v1/b/[^/]+/o")
OBJECT = re.compile(r"/(?:download/)?storage/v1/b/[^/]+/o/[^/]+")
OBJECTS = re.compile(r"/storage/v1/b/[^/]+/o")
BUCKET = re.compile(r"/storage/v1/b/[^/]+")
BUCKETS = re.compile(r"/storage/v1/b")
ACT = re.compile(r"/storage/v1/b/[^/]+/o/[^/]+/(compose|copyTo|rewriteTo|moveTo)(?:/.*)?")
ACTS = {"compose": "compose", "copyTo": "copy", "rewriteTo": "rewrite", "moveTo": "move"}
VERBS = {"GET": "get", "HEAD": "get", "DELETE": "delete", "PATCH": "patch", "PUT": "update"}


def storage_method(request: Request) -> str:
    """Google's id of the method, `storage.xml` for the XML API; empty for what is not storage."""
    path = request.path
    if not path.startswith(PREFIXES):
        return "storage.xml" if request.host.endswith("storage.googleapis.com") else ""
    if UPLOADS.fullmatch(path):
        return "storage.objects.insert"
    act = ACT.fullmatch(path)
    if act is not None:
        return f"storage.objects.{ACTS[act[1]]}"
    if OBJECT.fullmatch(path):
        return f"storage.objects.{VERBS.get(request.method, 'get')}"
    if OBJECTS.fullmatch(path):
        return "storage.objects.list"
    if BUCKET.fullmatch(path):
        return f"storage.buckets.{VERBS.get(request.method, 'get')}"
    if BUCKETS.fullmatch(path):
        return f"storage.buckets.{'insert' if request.method == 'POST' else 'list'}"
    return "storage.other"
