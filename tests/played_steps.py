"""Steps of training, played event by event: slices of computing, messages around rings.

Must not import the planner's formulas: it is written from the planner's page, and takes from the
package only what a machine is and what is assumed of it.
"""

from __future__ import annotations

import numpy as np

from windlass.planner.gang import Gang
from windlass.planner.priors import Priors

SLICES = 200
"""Parts of a step's computing."""
VARIES = 0.05
"""By how much each slice and each message differs from the usual, as a standard deviation."""


class Cluster:
    """Machines whose every slice and message takes a drawn time."""

    def __init__(self, gang: Gang, priors: Priors, *, seed: int, steps: int) -> None:
        self._gang = gang
        self._priors = priors
        self._chance = np.random.default_rng(seed)
        self._steps = steps

    def step_times(self, params: float, tokens: float) -> np.ndarray:
        """Seconds of each of the steps, with so many tokens in each."""
        links_s = self._sum_s(2 * params)
        slice_s = 6 * params * tokens / self._operations_per_s() / SLICES
        clock = np.zeros(self._steps)
        left_s = links_s
        first_hidden = round(SLICES * (1 - self._priors.value("overlap")))
        for number in range(SLICES):
            lasted = self._drawn(slice_s)
            clock += lasted
            if number >= first_hidden:  # Gradients are on their way while others are computed.
                left_s = np.maximum(0.0, left_s - lasted)
        return clock + left_s

    def _drawn(self, usual_s: float) -> np.ndarray:
        return usual_s * self._chance.normal(1.0, VARIES, self._steps)

    def _operations_per_s(self) -> float:
        chip = self._gang.chip
        assert chip is not None
        assert chip.peak_tflops is not None
        of_one = chip.peak_tflops * 1e12 * self._priors.value("mfu", chip.name)
        return sum(of_one for _ in range(self._gang.nodes * self._gang.chips_per_node))

    def _sum_s(self, size: float) -> np.ndarray:
        """Up and down a tree of small messages, then around the two rings with the bytes."""
        gang = self._gang
        clock = np.zeros(self._steps)
        members = gang.nodes * gang.chips_per_node
        while members > 1:
            clock += 2 * self._drawn(self._priors.value("latency"))
            members = (members + 1) // 2
        clock += self._ring_s(gang.chips_per_node, size, self._inside_bytes_per_s())
        return clock + self._ring_s(gang.nodes, size, self._between_bytes_per_s())

    def _ring_s(self, members: int, size: float, bytes_per_s: float) -> np.ndarray:
        """A piece for each member goes round twice: once to be summed, once to be known by all."""
        clock = np.zeros(self._steps)
        for _ in range(2):
            for _ in range(members - 1):
                clock += self._drawn(size / members / bytes_per_s)
        return clock

    def _inside_bytes_per_s(self) -> float:
        chip = self._gang.chip
        if chip is None or chip.scale_up_gb_per_s is None:
            return self._priors.value("host_links") * 1e9
        one_way = chip.scale_up_gb_per_s * 1e9 / 2
        return one_way * self._priors.value("scale_up_efficiency")

    def _between_bytes_per_s(self) -> float:
        machine, hosts = self._gang.machine, self._gang.hosts_per_node
        if machine.busbw_gb_per_s is not None:
            return machine.busbw_gb_per_s * 1e9 * hosts
        bits = (machine.network_gbps or self._priors.value("unknown_network")) * 1e9
        return bits / 8 * self._priors.value("network_efficiency") * hosts
