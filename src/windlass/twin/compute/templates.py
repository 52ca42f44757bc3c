"""Instance templates, and asks that are filled in from one.

Must not check what a template says: the ask that uses it is checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.compute.collection import Collection, Kind
from windlass.twin.compute.links import last, normalised, parts
from windlass.twin.compute.scopes import Scope, not_found

if TYPE_CHECKING:
    from windlass.twin.call import Call, Route
    from windlass.twin.compute.ground import Ground


class Templates:
    """Global and regional ones, on one shelf."""

    def __init__(self, base: Ground) -> None:
        kind = Kind(collection="instanceTemplates", singular="instanceTemplate")
        self._collection = Collection(base, kind)

    def routes(self) -> dict[str, Route]:
        """The methods that are modelled."""
        return {
            **self._collection.routes(),
            **self._collection.routes(group="regionInstanceTemplates"),
        }

    def filled(self, call: Call, body: dict[str, Any]) -> dict[str, Any]:
        """An ask with what its template says; what the ask says itself wins."""
        url = call.query.get("sourceInstanceTemplate") or call.body.get("sourceInstanceTemplate")
        return {**self.properties(url, call.project), **body} if url else body

    def properties(self, url: str, project: str) -> dict[str, Any]:
        """What instances of a template are like."""
        full = normalised({"instanceTemplate": url}, project=project, zone="")["instanceTemplate"]
        named = parts(full)
        region = named.get("regions", "")
        scope = Scope(project, "regions" if region else "global", region)
        template = self._collection.shelf.get(scope.key(last(full)))
        if template is None:
            raise not_found(scope, "instanceTemplates", last(full))
        return dict(template.get("properties") or {})
