"""Markets that never were: availability drawn by chance, of several kinds, the same for one seed.

Must not take anything from the policy: its assumptions are what these are to try.

Each zone is up or down, and a state of some age ends with a rate (ends per hour) that its regime
gives. A regime may have weather, which changes by itself: for every zone its own, or one for all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, pi, sin
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from windlass.planner.buying.study.replay import STEP_H, Market

SETTLE_H = 48.0
"""So much passes before what is shown begins: a zone's first state is not that of hour 0."""


class Moment(NamedTuple):
    """What the rate of a zone may depend on."""

    is_up: bool
    age_h: float
    hour: float
    """Of the day, in the zone."""
    is_storm: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Regime:
    """One kind of market."""

    name: str
    rate: Callable[[Moment], float]
    """Ends per hour of the state a zone is in."""
    calm_h: float = 0.0
    """How long it is calm on average, and how long a storm lasts; 0: no weather."""
    storm_h: float = 0.0
    is_shared: bool = False
    """Whether the weather is that of all zones."""


def _memoryless(now: Moment) -> float:
    return 1 / 4 if now.is_up else 1 / 2


def _bursty(now: Moment) -> float:
    if now.is_storm:
        return 1 / 0.3 if now.is_up else 1 / 0.5
    return 1 / 15 if now.is_up else 1 / 0.5


def _diurnal(now: Moment) -> float:
    # Little is free while people work; the middle of the working day is at 14 h.
    busy = 0.5 + 0.5 * sin((now.hour - 8) / 24 * 2 * pi)
    return 0.02 + 1.2 * busy**2 if now.is_up else 0.05 + 1.5 * (1 - busy) ** 2


def _rare_long(now: Moment) -> float:
    return 1 / 40 if now.is_up else 1 / 10


def _correlated(now: Moment) -> float:
    if now.is_storm:
        return 4.0 if now.is_up else 1 / 20
    return 1 / 12 if now.is_up else 1.0


def _flapping(now: Moment) -> float:
    return 1 / 0.4 if now.is_up else 1 / 0.3


def _wearing(now: Moment) -> float:
    # The older, the sooner it ends: the opposite of what published traces show.
    return 0.02 + (now.age_h / 4) ** 3 if now.is_up else 0.05 + now.age_h**2


def _scarce(now: Moment) -> float:
    return 1 / 1.5 if now.is_up else 1 / 12


REGIMES = (
    Regime(name="memoryless", rate=_memoryless),
    Regime(name="bursty", rate=_bursty, calm_h=14, storm_h=6),
    Regime(name="diurnal", rate=_diurnal),
    Regime(name="rare long outages", rate=_rare_long),
    Regime(name="correlated zones", rate=_correlated, calm_h=16, storm_h=5, is_shared=True),
    Regime(name="flapping", rate=_flapping),
    Regime(name="wearing", rate=_wearing),
    Regime(name="scarce", rate=_scarce),
)


def draw(regime: Regime, *, zones: int, steps: int, seed: int, spread: float = 0.0) -> Market:
    """A market of this regime; on-demand costs 1, spot 0.3 and up to `spread` more by zone."""
    chance = np.random.default_rng([seed, REGIMES.index(regime) if regime in REGIMES else 99])
    settle = round(SETTLE_H / STEP_H)
    weathers = [_weather(regime, settle + steps, chance) for _ in range(zones)]
    up = np.stack(
        [
            _zone(regime, weathers[0] if regime.is_shared else weather, chance)[settle:]
            for weather in weathers
        ]
    )
    prices = 0.3 + spread * chance.random(zones)
    return Market(
        names=tuple(f"zone-{number}" for number in range(zones)),
        up=up,
        spot=np.repeat(prices[:, None], steps, axis=1),
        on_demand=(1.0,) * zones,
    )


def stock(*, at_once: float, mean_wait_h: float, steps: int, seed: int) -> npt.NDArray[np.bool_]:
    """Whether on-demand machines are there: a share `at_once` of the time, out for a mean wait."""
    chance = np.random.default_rng(seed)
    back = 1 - exp(-STEP_H / mean_wait_h)
    out = min(1.0, back * (1 - at_once) / at_once) if at_once > 0 else 1.0
    return _switching(out, back, first=bool(chance.random() < at_once), luck=chance.random(steps))


def _weather(regime: Regime, steps: int, chance: np.random.Generator) -> npt.NDArray[np.bool_]:
    luck = chance.random(steps + 1)
    if not regime.storm_h:
        return np.zeros(steps, np.bool_)
    is_storm = bool(luck[0] < regime.storm_h / (regime.calm_h + regime.storm_h))
    return _switching(
        STEP_H / regime.storm_h, STEP_H / regime.calm_h, first=is_storm, luck=luck[1:]
    )


def _switching(
    off: float, on: float, *, first: bool, luck: npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]:
    """A state that goes off, and on, with these probabilities in each step."""
    state, states = first, []
    for value in luck.tolist():
        states.append(state)
        if value < (off if state else on):
            state = not state
    return np.array(states)


def _zone(
    regime: Regime, weather: npt.NDArray[np.bool_], chance: np.random.Generator
) -> npt.NDArray[np.bool_]:
    # Zones lie hours apart from each other.
    hour = float(chance.random() * 24)
    luck = chance.random(len(weather)).tolist()
    is_up, age_h, states = bool(luck[0] < 0.5), 0.0, []
    for is_storm, value in zip(weather.tolist(), luck, strict=True):
        states.append(is_up)
        rate = regime.rate(Moment(is_up, age_h, hour, is_storm))
        age_h, hour = age_h + STEP_H, (hour + STEP_H) % 24
        if value < 1 - exp(-rate * STEP_H):
            is_up, age_h = not is_up, 0.0
    return np.array(states)
