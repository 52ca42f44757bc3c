"""Lists as Compute Engine gives them: filtered, ordered, paged, or of all places at once.

Must not know what it lists.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from windlass.twin.compute.filters import parsed
from windlass.twin.compute.links import BASE
from windlass.twin.refusals import Refusal

if TYPE_CHECKING:
    from windlass.twin.call import Call

PAGE = 500
Keyed = tuple[str, dict[str, Any]]
"""A key that orders the list, and the resource as it is shown."""


def listed(call: Call, kind: str, found: Iterable[Keyed]) -> dict[str, Any]:
    """A list of one place."""
    items, token = _page(call, found)
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
    call: Call, kind: str, name: str, found: Iterable[Keyed], scope_of: Callable[[str], str]
) -> dict[str, Any]:
    """A list of all places. gcloud's client needs `items` even when nothing is there."""
    items, token = _page(call, found)
    places: dict[str, Any] = {}
    for key, item in items:
        places.setdefault(scope_of(key), {name: []})[name].append(item)
    answer = {
        "kind": f"compute#{kind}AggregatedList",
        "id": call.request.path.removeprefix("/compute/").partition("/")[2],
        "items": places,
        "selfLink": BASE + call.request.path.removeprefix("/compute/").partition("/")[2],
    }
    if token:
        answer["nextPageToken"] = token
    return answer


def paged(call: Call, found: Iterable[Keyed]) -> tuple[list[dict[str, Any]], str]:
    """A page of a list that has a form of its own, and the token of the next."""
    items, token = _page(call, found)
    return [item for _, item in items], token


def _page(call: Call, found: Iterable[Keyed]) -> tuple[list[Keyed], str]:
    query = call.query
    test = parsed(query.get("filter", ""))
    chosen = [(key, item) for key, item in found if test(item)]
    order = query.get("orderBy", "")
    if order == "creationTimestamp desc":
        chosen.sort(key=lambda one: str(one[1].get("creationTimestamp", "")), reverse=True)
    elif order not in ("", "name"):
        raise Refusal(400, f"Invalid value for field 'orderBy': '{order}'.", reason="invalid")
    start = _offset(query.get("pageToken", ""))
    size = min(int(query.get("maxResults", PAGE)) or PAGE, PAGE)
    page = chosen[start : start + size]
    return page, _token(start + size) if start + size < len(chosen) else ""


def _token(offset: int) -> str:
    return base64.urlsafe_b64encode(f"twin:{offset}".encode()).decode()


def _offset(token: str) -> int:
    if not token:
        return 0
    try:
        mark, _, number = base64.urlsafe_b64decode(token).decode().partition(":")
        if mark == "twin":
            return int(number)
    except (ValueError, binascii.Error):
        pass
    raise Refusal(400, "Invalid value for field 'pageToken'.", reason="invalid")
