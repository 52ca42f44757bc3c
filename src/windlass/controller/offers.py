"""Which offers may be asked for now: what was refused is blocked for a while, or for good.

Must not decide what follows when none is left (starting.py does). Pure; the state is the run's
`market`, so that a new controller goes on where the last one was.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from windlass.controller.renting import Gang
from windlass.controller.zones import ZoneRecord

BLOCK_FIRST_S = 60.0
BLOCK_MAX_S = 1800.0
OUT_OF_STOCK = "out-of-stock"
QUOTA = "quota-exceeded"
PREEMPTED = "preempted"
SPOT = "spot"
ON_DEMAND = "on-demand"


class Block(NamedTuple):
    """Why something is not asked for, and until when."""

    until: float | None
    """None: for the rest of the run."""
    times: int
    """How often in a row."""
    code: str

    @property
    def is_soft(self) -> bool:
        """Others are asked for first, but it is, when there are no others."""
        return self.code == PREEMPTED

    def holds(self, now: float) -> bool:
        """Whether it is blocked now. A clock that was set back must not block it for longer than
        any block lasts."""
        return self.until is None or 0 < self.until - now <= BLOCK_MAX_S


class Moving(NamedTuple):
    """A move from spot to on-demand that was decided."""

    attempt: int
    """The one that is to be left; machines are asked for as claims of the next."""
    reason: str
    again_at: float = 0.0
    """Before that nothing more is asked for: it was called off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """What a run has learnt while renting."""

    blocks: Mapping[str, Block] = field(default_factory=dict)
    zones: Mapping[str, ZoneRecord] = field(default_factory=dict)
    """How spot did in each zone."""
    asked: int = 0
    """How many times on-demand machines were asked for."""
    refused_at: float | None = None
    """When they were refused last; None: never, or got since."""
    is_warned: bool = False
    """The user was told that most of the budget is spent."""
    is_capped: bool = False
    """The user was told that no more racers are asked for."""
    moving: Moving | None = None
    """The newest move; of an attempt that was left it says only why."""

    def block_of(self, gang: Gang, now: float) -> Block | None:
        """What keeps it from being asked for now: what lasts longest."""
        found = [self.blocks[key] for key in _keys(gang) if key in self.blocks]
        holding = [block for block in found if block.holds(now)]
        return max(holding, key=_end) if holding else None

    def refused(self, gang: Gang, code: str, now: float) -> Market:
        """After the engine has refused it."""
        is_stock = code == OUT_OF_STOCK
        key = _stock_key(gang) if is_stock else _quota_key(gang) if code == QUOTA else gang.offer
        market = self._blocked(key, code, now, is_for_good=not is_stock)
        if gang.kind == SPOT:
            return market._seen(gang.zone, now, is_up=False) if is_stock else market
        return replace(market, refused_at=now) if gang.kind == ON_DEMAND else market

    def taken_away(self, gang: Gang, now: float) -> Market:
        """After its machines were taken away, or did not do."""
        market = self._blocked(_stock_key(gang), PREEMPTED, now, is_for_good=False)
        return market._seen(gang.zone, now, is_up=False) if gang.kind == SPOT else market

    def got(self, gang: Gang, now: float) -> Market:
        """After its machines came."""
        blocks = {key: block for key, block in self.blocks.items() if key not in _keys(gang)}
        market = replace(self, blocks=blocks)
        if gang.kind == SPOT:
            return market._seen(gang.zone, now, is_up=True)
        return replace(market, refused_at=None) if gang.kind == ON_DEMAND else market

    def _blocked(self, key: str, code: str, now: float, *, is_for_good: bool) -> Market:
        known = self.blocks.get(key)
        times = known.times + 1 if known is not None else 1
        wait_s = min(BLOCK_FIRST_S * 2.0 ** min(times - 1, 20), BLOCK_MAX_S)
        until = None if is_for_good else now + wait_s
        return replace(self, blocks={**self.blocks, key: Block(until, times, code)})

    def _seen(self, zone: str, now: float, *, is_up: bool) -> Market:
        record = self.zones.get(zone) or ZoneRecord.begun(now, is_up=is_up)
        return replace(self, zones={**self.zones, zone: record.seen(now, is_up=is_up)})


def free(
    gangs: Sequence[Gang],
    market: Market,
    now: float,
    *,
    but: Collection[tuple[str, str]] = (),
    is_choosy: bool = False,
) -> list[Gang]:
    """What may be asked for now, in order; what is only avoided comes last, or not at all for who
    `is_choosy`. `but` are offers, each with the way to buy it, that are asked for already."""
    open_, avoided = [], []
    for gang in gangs:
        if (gang.offer, gang.buy) in but:
            continue
        block = market.block_of(gang, now)
        if block is None:
            open_.append(gang)
        elif block.is_soft:
            avoided.append(gang)
    return open_ if is_choosy else open_ + avoided


def free_at(gangs: Sequence[Gang], market: Market, now: float) -> float | None:
    """When the first of them may be asked for again; None when none ever may."""
    blocks = [market.block_of(gang, now) for gang in gangs]
    if any(block is None for block in blocks):
        return now
    return min((block.until for block in blocks if block and block.until is not None), default=None)


def market_of(text: str) -> Market:
    """As a run's row keeps it."""
    known = json.loads(text)
    blocks = {key: Block(*block) for key, block in known.pop("blocks", {}).items()}
    zones = {zone: ZoneRecord(*record) for zone, record in known.pop("zones", {}).items()}
    moving = Moving(*known.pop("moving")) if "moving" in known else None
    return Market(blocks=blocks, zones=zones, moving=moving, **known)


def market_text(market: Market) -> str:
    """What `market_of` reads; only what is not as at the beginning."""
    said: dict[str, Any] = {
        "blocks": dict(market.blocks),
        "zones": dict(market.zones),
        "asked": market.asked,
        "refused_at": market.refused_at,
        "is_warned": market.is_warned,
        "is_capped": market.is_capped,
        "moving": market.moving,
    }
    return json.dumps({key: value for key, value in said.items() if value}, sort_keys=True)


def _end(block: Block) -> float:
    return float("inf") if block.until is None else block.until


def _keys(gang: Gang) -> tuple[str, ...]:
    """Everything that may block it: machines that are out of stock on demand are not there as spot
    either, and not the other way round."""
    place = f"{gang.zone}/{gang.label}"
    return (_stock_key(gang), place, _quota_key(gang), gang.offer)


def _stock_key(gang: Gang) -> str:
    place = f"{gang.zone}/{gang.label}"
    return place if gang.kind == ON_DEMAND else f"{place}/{gang.buy}"


def _quota_key(gang: Gang) -> str:
    return f"{gang.region}:{gang.metric or f'{gang.label}/{gang.kind}'}"
