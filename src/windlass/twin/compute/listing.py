"""Lists as Compute Engine gives them: filtered, ordered, paged, or of all places at once.

Must not know what it lists.
"""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from windlass.twin.compute.filters import parsed
from windlass.twin.compute.links import BASE
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.call import Call

PAGE = 500
NEWEST = "creationTimestamp desc"
Keyed = tuple[str, Any]
"""A key that orders the list, and the resource as it is shown, or what it is shown from."""
Row = tuple[str, dict[str, Any]]
Showing = Callable[[Any], dict[str, Any]]
"""Makes the resource of what is listed; without it that is the resource."""


def listed(
    call: Call, kind: str, found: Iterable[Keyed], show: Showing | None = None
) -> dict[str, Any]:
    """A list of one place."""
    items, token = _page(call, found, show)
    answer: dict[str, Any] = {
        "kind": f"compute#{kind}List",
        "id": call.request.path.removeprefix("/compute/").partition("/")[2],
        "selfLink": BASE + call.request.path.removeprefix("/compute/").partition("/")[2],
    }
    if items:
        answer["items"] = [item for _, item in items]
    if token:
        answer["nextPageToken"] = token
    return answer


def aggregated(
    call: Call, kind: str, name: str, found: Iterable[Keyed], show: Showing | None = None
) -> dict[str, Any]:
    """A list of all places. gcloud's client needs `items` even when nothing is there."""
    items, token = _page(call, found, show)
    places: dict[str, Any] = {}
    for key, item in items:
        places.setdefault(scope_of_key(key), {name: []})[name].append(item)
    answer = {
        "kind": f"compute#{kind}AggregatedList",
        "id": call.request.path.removeprefix("/compute/").partition("/")[2],
        "items": places,
        "selfLink": BASE + call.request.path.removeprefix("/compute/").partition("/")[2],
    }
    if token:
        answer["nextPageToken"] = token
    return answer


def paged(
    call: Call, found: Iterable[Keyed], show: Showing | None = None
) -> tuple[list[dict[str, Any]], str]:
    """A page of a list that has a form of its own, and the token of the next."""
    items, token = _page(call, found, show)
    return [item for _, item in items], token


def scope_of_key(key: str) -> str:
    """The place in a resource's key: `zones/us-central1-a`, or `global`."""
    words = key.split("/")
    return "global" if words[1] == "global" else "/".join(words[1:3])


def _page(call: Call, found: Iterable[Keyed], show: Showing | None) -> tuple[list[Row], str]:
    query = call.query
    rows = sorted(found, key=itemgetter(0))
    after = _after(query.get("pageToken", ""))
    order = query.get("orderBy", "")
    if order not in ("", "name", NEWEST):
        raise Refusal(400, f"Invalid value for field 'orderBy': '{order}'.", reason="invalid")
    test = parsed(query["filter"]) if query.get("filter") else None
    size = min(int(query.get("maxResults", PAGE)) or PAGE, PAGE)
    if order == NEWEST:
        chosen = list(_shown(rows, show, test))
        chosen.sort(key=lambda row: str(row[1].get("creationTimestamp", "")), reverse=True)
        start = next((at + 1 for at, row in enumerate(chosen) if row[0] == after), 0)
        page = chosen[start : start + size + 1]
    else:
        # Only what is on the page is made: there may be a hundred thousand behind it.
        start = bisect_right(rows, after, key=itemgetter(0)) if after else 0
        page = list(islice(_shown(rows[start:], show, test), size + 1))
    return page[:size], _token(page[size - 1][0]) if len(page) > size else ""


def _shown(
    rows: Iterable[Keyed], show: Showing | None, test: Callable[[dict[str, Any]], bool] | None
) -> Iterator[Row]:
    for key, record in rows:
        item = record if show is None else show(record)
        if test is None or test(item):
            yield key, item


def _token(key: str) -> str:
    """The next page begins behind this key, whatever has come and gone by then."""
    return base64.urlsafe_b64encode(f"twin:{key}".encode()).decode()


def _after(token: str) -> str:
    if not token:
        return ""
    try:
        mark, _, key = base64.urlsafe_b64decode(token).decode().partition(":")
        if mark == "twin":
            return key
    except (ValueError, binascii.Error):
        pass
    raise Refusal(400, "Invalid value for field 'pageToken'.", reason="invalid")
