"""Vertex AI's own quotas: chips and vCPUs of trainings, by region.

Must not keep usage: it is the sum over the trainings that are under way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from windlass.twin.market import Model
from windlass.twin.vertex.words import over_quota

if TYPE_CHECKING:
    from windlass.twin.quotas import Quotas
    from windlass.twin.vertex.kinds import Kinds
    from windlass.twin.vertex.specs import Pool

PREFIX = "custom_model_training"
FAMILIES = frozenset({"a2", "a3", "c2", "g2", "n2"})
"""Families whose vCPUs are counted apart; the vCPUs of GPU machines are not counted."""


class TrainingQuota:
    """Refuses what is too much."""

    def __init__(self, quotas: Quotas, kinds: Kinds) -> None:
        self._quotas = quotas
        self._kinds = kinds

    def check(self, pools: Iterable[Pool], *, used: Iterable[Iterable[Pool]], region: str) -> None:
        """Refuse machines that pass a limit, beside those of the trainings that are under way."""
        wanted = self._spent(pools)
        usage: Counter[str] = Counter()
        for others in used:
            usage += self._spent(others)
        exceeded = [
            metric
            for metric, amount in sorted(wanted.items())
            if usage[metric] + amount > self._quotas.limit(region, metric)
        ]
        if exceeded:
            raise over_quota(exceeded)

    def _spent(self, pools: Iterable[Pool]) -> Counter[str]:
        spent: Counter[str] = Counter()
        for pool in pools:
            infix = "" if pool.model in (Model.STANDARD, Model.RESERVED) else "_preemptible"
            if pool.kind.chip:
                name = _metric(pool.kind.chip)
                spent[f"{PREFIX}{infix}_{name}"] += pool.kind.chips * pool.machines
            elif pool.machines:
                family = pool.kind.type.partition("-")[0]
                name = f"{family}_cpus" if family in FAMILIES else "cpus"
                spent[f"{PREFIX}{infix}_{name}"] += (
                    self._kinds.vcpus(pool.kind.type) * pool.machines
                )
        return spent


def _metric(chip: str) -> str:
    """`nvidia-tesla-t4` is counted as `nvidia_t4_gpus`, `tpu-v5e` as `tpu_v5e`."""
    name = chip.replace("-tesla-", "-").replace("-", "_")
    return name if name.startswith("tpu") else f"{name}_gpus"
