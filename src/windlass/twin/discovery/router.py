"""Which API and method a request is for: by host, then by path prefix, then by the path's shape.

Must not answer: a surface without a document (XML, batch, OAuth) is named and left to others.
"""

from __future__ import annotations

import functools
import re

from windlass.twin.discovery.api import load_api
from windlass.twin.discovery.documents import available
from windlass.twin.discovery.model import Found
from windlass.twin.discovery.paths import PathTree

# First words of the paths that a client is given as an endpoint of the twin's own. There must be
# no `batch` among them: gcloud sends batches to /batch/compute/v1 whatever its endpoint.
PREFIXES = {
    "tpu": "tpu",
    "ai": "aiplatform",
    "aiplatform": "aiplatform",
    "container": "container",
    "serviceusage": "serviceusage",
    "crm": "cloudresourcemanager",
    "cloudresourcemanager": "cloudresourcemanager",
    "billing": "cloudbilling",
    "cloudbilling": "cloudbilling",
    "billingbudgets": "billingbudgets",
    "logging": "logging",
    "monitoring": "monitoring",
    "iam": "iam",
    "iamcredentials": "iamcredentials",
    "cloudquotas": "cloudquotas",
    "oslogin": "oslogin",
    "batchapi": "batch",
    "secretmanager": "secretmanager",
    "hypercomputecluster": "hypercomputecluster",
}
# APIs whose paths name them, so that they need no prefix of ours.
ROOTS = {"compute": "compute", "storage": "storage", "oauth2": "oauth2", "userinfo": "oauth2"}
# Services that share /v1/projects/…: of several with a path of the same shape the first is meant.
BY_SHAPE = (
    "serviceusage",
    "cloudresourcemanager",
    "container",
    "tpu",
    "iam",
    "iamcredentials",
    "secretmanager",
    "billingbudgets",
    "cloudbilling",
    "logging",
    "monitoring",
    "oslogin",
    "cloudquotas",
    "batch",
    "hypercomputecluster",
)
# Asked when no other has the shape, because its document takes longest to read.
LAST_BY_SHAPE = "aiplatform"
# Long-running operations have one shape in many services; their ids tell them apart.
OPERATION_IDS = (
    (re.compile(r"/locations/[^/]+/operations/\d+(:\w+)?$"), "aiplatform"),
    (re.compile(r"^/v\d+/operations/(cp|pc|dp|rf|fc|uf)\."), "cloudresourcemanager"),
)

_VERSION = re.compile(r"v\d+(?:(?:alpha|beta)\d*)?|alpha|beta")
_LOOPBACK = re.compile(r"127(?:\.\d+){3}|(?:.*\.)?localhost|\[?::1\]?")
# us-central1-aiplatform, compute.mtls, aiplatform.us-central1.rep
_SERVICE = re.compile(r"(?:[a-z]+-[a-z]+\d+-)?([a-z0-9]+)(?:\.mtls|\.[a-z0-9-]+\.rep)?")
_DOMAIN = ".googleapis.com"
_ANY = "www"
"""The host of several services, told apart by path."""
_LOCAL = "localhost"


class Router:
    """Finds what a request is for."""

    def find(self, host: str, http_method: str, path: str) -> Found:
        """`path` is as sent: percent-encoded, without the query."""
        service = _of_host(host)
        if service == _LOCAL:
            return self._on_loopback(http_method, path)
        if service == _ANY:
            service = _rooted(path)
        return _in_service(service, http_method, path)

    def _on_loopback(self, http_method: str, path: str) -> Found:
        service = _rooted(path)
        if service:
            return _in_service(service, http_method, path)
        first, _, rest = path.removeprefix("/").partition("/")
        if first in PREFIXES:
            return _in_service(PREFIXES[first], http_method, f"/{rest}")
        found = _in_service(_by_shape(http_method, path), http_method, path)
        return Found(service="", path=path) if found.nothing else found


@functools.lru_cache(maxsize=1024)
def _of_host(host: str) -> str:
    """The service of a host; empty where it is none of Google's APIs."""
    host = re.sub(r"(?<!:):\d+$", "", host.lower())
    if _LOOPBACK.fullmatch(host):
        return _LOCAL
    if not host.endswith(_DOMAIN):
        return ""
    label = host.removesuffix(_DOMAIN)
    if label.endswith(".storage"):
        return "storage"
    named = _SERVICE.fullmatch(label)
    return named[1] if named else ""


def _rooted(path: str) -> str:
    """The API that a path names; empty where it names none."""
    words = path.split("/", 5)[1:5]
    while words and words[0] in ("upload", "resumable", "download", "batch"):
        del words[0]
    is_versioned = len(words) > 1 and _VERSION.fullmatch(words[1])
    return ROOTS.get(words[0], "") if is_versioned else ""


def _in_service(service: str, http_method: str, path: str) -> Found:
    version = _version(service, path)
    if not version:
        return Found(service=service, path=path)
    api = load_api(service, version)
    return Found(service=service, path=path, described=api, match=api.match(http_method, path))


def _version(service: str, path: str) -> str:
    """The version that a path names, where it is shipped."""
    versions = available().get(service)
    if versions is None:
        return ""
    for word in path.split("/", 5)[1:5]:
        if word in versions:
            return word
    # One batch endpoint may serve all versions.
    return versions[0] if path.strip("/") == "batch" else ""


def _by_shape(http_method: str, path: str) -> str:
    """The service whose methods have a path of this shape; empty where none has."""
    version = path.split("/", 2)[1] if path.startswith("/") else ""
    if not _VERSION.fullmatch(version):
        return ""
    for pattern, service in OPERATION_IDS:
        if pattern.search(path) and version in available()[service]:
            return service
    found = _shapes(version).find(http_method, path)
    if found is not None:
        return found[0]
    return LAST_BY_SHAPE


@functools.cache
def _shapes(version: str) -> PathTree[str]:
    tree: PathTree[str] = PathTree()
    for service in BY_SHAPE:
        if version in available()[service]:
            for each in load_api(service, version).templates():
                tree.add(each.http_method, each.path, each.patterns, service)
    return tree
