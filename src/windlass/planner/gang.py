"""What a number of machines can do together: compute, and sum gradients over their links.

Must not know prices or specs.
"""

from __future__ import annotations

from typing import NamedTuple

from windlass.catalog.model import Chip, Machine
from windlass.planner.priors import Priors

GIGA = 1e9
TERA = 1e12


class Gang(NamedTuple):
    """So many nodes of one kind; slices, for TPUs."""

    machine: Machine
    """One host."""
    chip: Chip | None
    chips_per_node: int
    """GPUs of a VM, or chips of a slice."""
    hosts_per_node: int
    """1, or the hosts of a slice."""
    nodes: int

    @property
    def chips(self) -> int:
        """Of all nodes."""
        return self.chips_per_node * self.nodes

    @property
    def hosts(self) -> int:
        """Machines of all nodes."""
        return self.hosts_per_node * self.nodes


def flops_per_s(gang: Gang, priors: Priors) -> float | None:
    """What it computes when it waits for nothing; None when the chip's peak is not known."""
    if gang.chip is None or not gang.chip.peak_tflops:
        return None
    mfu = priors.value("mfu", gang.chip.name)
    return gang.chips * gang.chip.peak_tflops * TERA * mfu


class Links(NamedTuple):
    """What summing over the chips of some nodes of one kind takes.

    The alpha-beta model: a latency for each of the messages in a row, and for every stage with k
    members 2 (k - 1) / k times the bytes over the bandwidth; first inside each node, then between.
    """

    chips_per_node: int
    latency_s: float
    inside_s_per_byte: float
    between_s_per_byte: float
    """Without the factor for the number of nodes."""

    def allreduce_s(self, size_bytes: float, nodes: int) -> float:
        """Summing that many bytes over all chips of so many nodes."""
        chips = self.chips_per_node * nodes
        if chips <= 1:
            return 0.0
        messages = 2 * (chips - 1).bit_length()
        each = self.inside_s_per_byte + _around(nodes) * self.between_s_per_byte
        return messages * self.latency_s + size_bytes * each


def links_of(gang: Gang, priors: Priors) -> Links:
    """Of gangs of this kind, in any number of nodes."""
    around = _around(gang.chips_per_node) if gang.chips_per_node else 0.0
    return Links(
        chips_per_node=gang.chips_per_node,
        latency_s=priors.value("latency"),
        inside_s_per_byte=around / (_inner_gb_per_s(gang, priors) * GIGA),
        between_s_per_byte=1 / (_outer_gb_per_s(gang, priors) * GIGA),
    )


def allreduce_s(gang: Gang, size_bytes: float, priors: Priors) -> float:
    """Summing that many bytes over all chips of this gang."""
    return links_of(gang, priors).allreduce_s(size_bytes, gang.nodes)


def _around(members: int) -> float:
    return 2 * (members - 1) / members


def _inner_gb_per_s(gang: Gang, priors: Priors) -> float:
    """One way, of one chip, inside a node."""
    both_ways = gang.chip.scale_up_gb_per_s if gang.chip else None
    if both_ways is None:
        return priors.value("host_links")
    return both_ways / 2 * priors.value("scale_up_efficiency")


def _outer_gb_per_s(gang: Gang, priors: Priors) -> float:
    """Of one node, over all its hosts."""
    machine = gang.machine
    if machine.busbw_gb_per_s is not None:
        return machine.busbw_gb_per_s * gang.hosts_per_node
    gbps = machine.network_gbps or priors.value("unknown_network")
    return gbps / 8 * priors.value("network_efficiency") * gang.hosts_per_node


def step_s(compute_s: float, sum_s: float, overlap: float) -> float:
    """A step: gradients are summed while others are still computed, as far as that goes."""
    beyond = sum_s - overlap * compute_s
    return compute_s + beyond if beyond > 0 else compute_s


def compute_of_step_s(step: float, sum_s: float, priors: Priors) -> float:
    """The other way round: what of a measured step was computing. At least a tenth of it."""
    overlap = priors.value("overlap")
    if sum_s <= overlap * step:
        return step
    return max((step - sum_s) / (1 - overlap), step / 10)
