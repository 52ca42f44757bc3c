"""The cheapest way there was, known only afterwards: exact optimum over availability traces.

Must not be used to decide anything: it looks into the future.

A run that has made `t - lost` steps of progress at step `t` meets its deadline when at most
`slack = deadline - work` steps are lost at the end. So the state is (lost steps, what is held): a
step of work leaves `lost` as it is, a step of waiting adds one, and a restart adds its steps at
once, a debt which the first steps of a machine pay back. Leaving a machine before its restart is
over looks worse here than it is, and is never part of an optimum: waiting costs less.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Flags = npt.NDArray[np.bool_]
Prices = npt.NDArray[np.float64]

# So many elements of one array stay in a core's cache.
BLOCK = 60_000


def optimum(
    up: Flags, spot: Prices, *, on_demand: float, work: int, restart: int
) -> list[float | None]:
    """The least cost of each run, in prices times steps; None where the deadline cannot be met.

    `up` and `spot` are (runs, zones, steps): whether a zone can be had, and its price; as many
    steps as there are until the deadline.
    """
    runs, _, steps = up.shape
    slack = steps - work
    if slack < restart:
        return [None] * runs
    size = max(1, BLOCK // (slack + 1))
    found: list[float | None] = []
    for first in range(0, runs, size):
        part = slice(first, first + size)
        found.extend(
            _solve(up[part], spot[part], on_demand=on_demand, slack=slack, restart=restart)
        )
    return found


def _solve(
    up: Flags, spot: Prices, *, on_demand: float, slack: int, restart: int
) -> Sequence[float]:
    runs, zones, steps = up.shape
    never = np.float32(np.inf)
    # Whatever is held, the cheapest way to have lost so many steps.
    best = np.full((runs, slack + 1), never, np.float32)
    best[:, 0] = 0
    rented = np.full((runs, slack + 1), never, np.float32)
    held = np.full((zones, runs, slack + 1), never, np.float32)
    began = np.empty_like(best)
    free = np.where(up, spot, never).astype(np.float32)
    for step in range(steps):
        began[:, :restart] = never
        began[:, restart:] = best[:, : slack + 1 - restart]
        best[:, 1:] = best[:, :-1].copy()
        best[:, 0] = never
        np.minimum(rented, began, out=rented)
        rented += np.float32(on_demand)
        np.minimum(best, rented, out=best)
        for zone in range(zones):
            price = free[:, zone, step]
            if np.isinf(price).all():
                held[zone] = never
                continue
            np.minimum(held[zone], began, out=held[zone])
            held[zone] += price[:, None]
            np.minimum(best, held[zone], out=best)
    return [float(value) for value in best.min(axis=1)]
