"""Cloud Storage's calls have the names of Google's methods."""

from __future__ import annotations

import pytest

from windlass.twin.faults.naming import storage_method
from windlass.twin.messages import Request


@pytest.mark.parametrize(
    ("verb", "path", "name"),
    [
        ("GET", "/storage/v1/b", "storage.buckets.list"),
        ("POST", "/storage/v1/b", "storage.buckets.insert"),
        ("GET", "/storage/v1/b/x", "storage.buckets.get"),
        ("DELETE", "/storage/v1/b/x", "storage.buckets.delete"),
        ("GET", "/storage/v1/b/x/o", "storage.objects.list"),
        ("GET", "/storage/v1/b/x/o/a%2Fb", "storage.objects.get"),
        ("GET", "/download/storage/v1/b/x/o/a", "storage.objects.get"),
        ("PATCH", "/storage/v1/b/x/o/a", "storage.objects.patch"),
        ("POST", "/upload/storage/v1/b/x/o", "storage.objects.insert"),
        ("PUT", "/resumable/upload/storage/v1/b/x/o", "storage.objects.insert"),
        ("POST", "/storage/v1/b/x/o/a/compose", "storage.objects.compose"),
        ("POST", "/storage/v1/b/x/o/a/rewriteTo/b/y/o/c", "storage.objects.rewrite"),
        ("GET", "/storage/v1/b/x/iam", "storage.other"),
        ("GET", "/bucket/object", "storage.xml"),
    ],
)
def test_a_storage_call_is_named(verb, path, name):
    assert storage_method(Request(method=verb, host="storage.googleapis.com", path=path)) == name


def test_what_is_no_storage_call_has_no_name():
    assert storage_method(Request(method="GET", host="127.0.0.1", path="/token")) == ""
