"""Why something cannot be rented, and the nearest that can.

Must not rank by price: nearest is meant in numbers.
"""

from __future__ import annotations

from windlass.catalog.query import Catalog
from windlass.spec.model import ANY_GPU, Accelerators


def why_absent(catalog: Catalog, wanted: Accelerators) -> str | None:
    """Why the catalog has no offer for these accelerators; None when it has some."""
    if catalog.offers(accelerators=[wanted]):
        return None
    if wanted.name == ANY_GPU:
        return f"no machine has {wanted.count} GPUs"
    counts = catalog.counts(wanted.name)
    if counts:
        return f"{wanted.name} is rented as {_listed(wanted, nearest_counts(catalog, wanted))}"
    hosts = [machine for machine in catalog.machines.values() if machine.chip == wanted.name]
    if hosts and not any(machine.supports for machine in hosts):
        return f"{wanted.name} is rented with a reservation only, and Google publishes no price"
    return f"the catalog of {catalog.snapshot} has no price for {wanted.name}"


def nearest_counts(catalog: Catalog, wanted: Accelerators, *, most: int = 4) -> tuple[int, ...]:
    """The numbers nearest to the one wanted in which these accelerators are rented."""
    counts = catalog.counts(wanted.name)
    return tuple(sorted(sorted(counts, key=lambda count: abs(count - wanted.count))[:most]))


def _listed(wanted: Accelerators, counts: tuple[int, ...]) -> str:
    separator = "-" if wanted.is_tpu else ":"
    return ", ".join(f"{wanted.name}{separator}{count}" for count in counts)
