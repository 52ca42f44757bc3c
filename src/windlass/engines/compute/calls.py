"""A request as the calls that it comes to.

Must not send them.
"""

from __future__ import annotations

from windlass.engines.compute.request import ComputeRequest
from windlass.engines.rendering import Call
from windlass.google.compute import BASE


def calls(request: ComputeRequest, *, project: str) -> list[Call]:
    """What `submit` sends, in order."""
    return [
        Call(
            method="POST",
            url=f"{BASE}/projects/{project}/{insert.scope}/{insert.collection}",
            query={"requestId": insert.request_id},
            body=insert.body,
        )
        for insert in request.inserts
    ]
