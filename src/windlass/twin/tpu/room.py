"""Whether slices can be had: quota and stock, in Cloud TPU's words.

Must not take anything: the fleet counts what runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from windlass.twin.market import Model, Wanted
from windlass.twin.refusals import Refusal
from windlass.twin.tpu.names import eid

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.market import Market
    from windlass.twin.quotas import Exceeded, Quotas

EXHAUSTED = 8
"""gRPC's code for a lack of something."""


class Room:
    """Looks before anything starts. Slices that are asked for together are had together."""

    def __init__(self, cloud: Cloud, *, market: Market, quotas: Quotas) -> None:
        self._cloud = cloud
        self._market = market
        self._quotas = quotas

    def check_quota(self, wanted: Wanted) -> None:
        """Refuse what is over the limit of a zone."""
        exceeded = self._quotas.exceeded(wanted)
        if exceeded is not None:
            message = (
                f"Quota limit '{exceeded.metric}' has been exceeded. "
                f"Limit: {exceeded.limit:g} in zone {exceeded.scope}."
            )
            raise Refusal(429, message)

    def over_quota(self, wanted: Mapping[Wanted, int]) -> dict[str, Any] | None:
        """What a queued resource that is over the limit fails with."""
        for kind, count in wanted.items():
            exceeded = self._quotas.exceeded(kind, count)
            if exceeded is not None:
                return {"code": EXHAUSTED, "message": _exhausted(exceeded)}
        return None

    def lacking(self, wanted: Mapping[Wanted, int]) -> Wanted | None:
        """The first kind of which there is not enough; None when all can be had."""
        for kind, count in wanted.items():
            if self._market.room(kind) < count:
                return kind
        return None

    def out_of_stock(self, wanted: Wanted) -> dict[str, Any] | None:
        """What an operation fails with where there is no stock."""
        if self._market.room(wanted) >= 1:
            return None
        message = (
            f'There is no more capacity in the zone "{wanted.zone}"; you can try in another zone '
            "where Cloud TPU Nodes are offered (see https://cloud.google.com/tpu/docs/regions)"
        )
        if wanted.model is Model.RESERVED:
            message = (
                "Insufficient reserved capacity. Contact customer support to increase your "
                "reservation."
            )
        return {"code": EXHAUSTED, "message": f"{message} {eid(self._cloud)}"}


def _exhausted(exceeded: Exceeded) -> str:
    return f"Quota '{exceeded.metric}' exhausted. Limit {exceeded.limit:g} in zone {exceeded.scope}"
