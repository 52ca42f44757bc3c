"""A hundred thousand modelled machines in groups that replace what Google takes back.

All are spot machines of managed instance groups, made through the twin's door; one in a hundred is
taken back in each simulated minute, and its group makes it anew.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from random import Random
from typing import Any

from figures import Figure, Result

from windlass.catalog.load import load_catalog
from windlass.cli.main import GARBAGE_AFTER
from windlass.twin.assembly import Parts, Twin, build
from windlass.twin.cloud import Cloud
from windlass.twin.market import Rule
from windlass.twin.messages import Bytes, Request

SIZES = (10_000, 30_000, 100_000)
GROUP = 1000
MINUTES = 5
SPANS = 7
CHURN_PER_MINUTE = 0.01
WANTED_H_PER_S = 0.2
TOKEN = "bench"
PROJECT = "/compute/v1/projects/twin-project"
ZONE = f"{PROJECT}/zones/us-central1-a"
IMAGE = "projects/debian-cloud/global/images/family/debian-12"
STEP_S = 1.0
"""Whoever drives a simulation asks this often what is due."""


class SimulatedClock:
    """Time that passes when the benchmark says so."""

    def __init__(self) -> None:
        self.at = 1_790_000_000.0

    def now(self) -> float:
        """See ports.Clock."""
        return self.at

    def monotonic(self) -> float:
        """See ports.Clock."""
        return self.at


class NoKeys:
    """No service account has a key."""

    def new_key(self) -> tuple[str, str]:
        """See accounts.Rsa."""
        raise AssertionError("nobody asks for keys here")

    def is_signed(self, public_pem: str, *, message: bytes, signature: bytes) -> bool:
        """See accounts.Rsa."""
        return False


def measure() -> Result:
    """The median of some spans for each size, the largest last: the peak of memory is its."""
    gc.set_threshold(GARBAGE_AFTER)
    figures: list[Figure] = []
    for size in SIZES:
        clock = SimulatedClock()
        begun = time.perf_counter()
        twin = _populated(clock, size)
        made_s = time.perf_counter() - begun
        spans = sorted(_lived(twin, clock) for _ in range(SPANS))
        del twin
        gc.collect()
        each_s = spans[SPANS // 2]
        hours_per_s = 1 / (each_s * size * CHURN_PER_MINUTE * 60)
        figures.append(
            Figure(
                name=f"{size:,} machines: simulated hours a second",
                value=hours_per_s,
                unit="h/s",
                ratio=WANTED_H_PER_S / hours_per_s,
                target=1.0 if size == SIZES[-1] else None,
                note=f"{1e6 * each_s:.0f} us for each that is replaced; "
                f"made {size / made_s:,.0f} a second",
            )
        )
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures.append(Figure(name="peak memory of this process", value=peak_mib, unit="MiB"))
    return Result(
        title="Modelled machines with 1 % churn a simulated minute",
        baseline=f"{WANTED_H_PER_S} simulated hours a second, which is what is wanted; "
        "less is faster",
        limit="three entries on a heap and two records for each machine that is replaced",
        figures=tuple(figures),
    )


def _populated(clock: SimulatedClock, size: int) -> Twin:
    cloud = Cloud(clock=clock, chance=Random(7))
    twin = build(cloud, catalog=load_catalog(), parts=Parts(token=TOKEN, rsa=NoKeys()))
    for metric in ("E2_CPUS", "INSTANCES"):
        twin.quotas.set_limit("*", metric, 1e9)
    twin.market.add(Rule(model="SPOT", hazard_per_h=60 * CHURN_PER_MINUTE))
    disk = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": IMAGE}}
    scheduling = {"provisioningModel": "SPOT", "instanceTerminationAction": "DELETE"}
    properties = {"machineType": "e2-small", "disks": [disk], "scheduling": scheduling}
    _post(twin, f"{PROJECT}/global/instanceTemplates", {"name": "t", "properties": properties})
    for number in range(size // GROUP):
        body = {"name": f"g{number}", "instanceTemplate": "global/instanceTemplates/t"}
        _post(twin, f"{ZONE}/instanceGroupManagers", {**body, "targetSize": GROUP})
    if twin.fleet.counts() != (0, size):
        sys.exit(f"there are {twin.fleet.counts()} machines instead of {size}")
    return twin


def _lived(twin: Twin, clock: SimulatedClock) -> float:
    """How long it took, for each machine that was replaced."""
    before = twin.compute.instances.made
    end = clock.at + MINUTES * 60
    begun = time.perf_counter()
    while (due := twin.cloud.next_at()) is not None and due <= end:
        clock.at = min(end, max(clock.at, due) + STEP_S)
        twin.cloud.advance()
        twin.cloud.commit()
    spent_s = time.perf_counter() - begun
    return spent_s / (twin.compute.instances.made - before)


def _post(twin: Twin, path: str, body: dict[str, Any]) -> None:
    request = Request(
        method="POST",
        host="compute.googleapis.com",
        path=path,
        headers={"authorization": f"Bearer {TOKEN}"},
        body=Bytes(json.dumps(body).encode()),
    )
    response = twin.door.answer(request)
    if response.status != 200:
        sys.exit(f"{path}: {response.content!r}")
