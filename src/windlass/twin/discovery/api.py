"""One version of one of Google's APIs: its methods, found by request, and its schemas.

Must not answer anything nor check bodies: check.py does.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from windlass.twin.discovery.documents import document
from windlass.twin.discovery.model import Match, Method, Parameter
from windlass.twin.discovery.paths import PathTree

HTTP_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


class Template(NamedTuple):
    """A path that leads to a method."""

    http_method: str
    path: str
    patterns: Mapping[str, str]
    method_id: str
    part: str


class Api:
    """A version of an API."""

    def __init__(self, source: dict[str, Any]) -> None:
        self.name: str = source["name"]
        self.version: str = source["version"]
        self.revision: str = source["revision"]
        self.root_url: str = source["rootUrl"]
        self.service_path: str = source["servicePath"]
        self.batch_path: str = source["batchPath"]
        self.schemas: Mapping[str, dict[str, Any]] = source["schemas"]
        self.parameters = _parameters(source["parameters"])
        self._sources: dict[str, dict[str, Any]] = source["methods"]
        self._methods: dict[str, Method] = {}
        self._tree: PathTree[tuple[str, str]] | None = None

    @property
    def method_ids(self) -> tuple[str, ...]:
        """Every method's id."""
        return tuple(self._sources)

    def method(self, method_id: str) -> Method:
        """The method of this id; KeyError where there is none."""
        known = self._methods.get(method_id)
        if known is None:
            source = self._sources[method_id]
            known = self._methods[method_id] = Method(
                id=method_id,
                api=self.name,
                version=self.version,
                http_method=source["httpMethod"],
                path=source["path"],
                flat_path=source.get("flatPath", source["path"]),
                parameters=_parameters(source["parameters"]),
                request=source.get("request"),
                response=source.get("response"),
                supports_media_upload="upload" in source,
                supports_media_download=source.get("supportsMediaDownload", False),
            )
        return known

    def match(self, http_method: str, path: str) -> Match | None:
        """The method for this path, as sent: percent-encoded, from the root of the API's host."""
        found = self._paths().find(http_method, path)
        if found is None:
            return None
        (method_id, part), params = found
        return Match(self.method(method_id), params, part)

    def allows(self, path: str) -> set[str]:
        """The HTTP methods that this path has."""
        return self._paths().methods(path, HTTP_METHODS)

    def templates(self) -> Iterator[Template]:
        """Every path that leads to a method, from the root of the API's host."""
        for method_id, source in self._sources.items():
            patterns = {
                name: parameter["pattern"]
                for name, parameter in source["parameters"].items()
                if "pattern" in parameter
            }
            for http_method, path, part in self._ways(source):
                yield Template(http_method, path, patterns, method_id, part)

    def _ways(self, source: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
        http_method, path = source["httpMethod"], self.service_path + source["path"]
        yield http_method, path, ""
        if source.get("supportsMediaDownload"):
            yield http_method, f"download/{path}", "download"
        uploads = source.get("upload", {})
        for protocol, upload in uploads.items():
            yield http_method, upload, protocol
        if "resumable" in uploads:
            # The session of a resumable upload may live at either path, whichever opened it;
            # documents do not say so.
            for upload in uploads.values():
                yield "PUT", upload, "resumable"
                yield "DELETE", upload, "resumable"

    def _paths(self) -> PathTree[tuple[str, str]]:
        if self._tree is None:
            tree: PathTree[tuple[str, str]] = PathTree()
            for each in self.templates():
                tree.add(each.http_method, each.path, each.patterns, (each.method_id, each.part))
            self._tree = tree
        return self._tree


@functools.cache
def load_api(name: str, version: str) -> Api:
    """The API, read when first asked for; LookupError where it is not shipped."""
    return Api(document(f"{name}.{version}"))


def _parameters(source: dict[str, dict[str, Any]]) -> Mapping[str, Parameter]:
    return MappingProxyType(
        {
            name: Parameter(**{**fields, "enum": tuple(fields.get("enum", ()))})
            for name, fields in source.items()
        }
    )
