"""What only this engine knows: the `engine: {compute: …}` block of a spec, over the defaults.

Must not guess at what it does not know: an unknown key is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windlass.engines.networks import DEFAULT, PREFIX
from windlass.engines.options import read_options

HYPERDISK_FAMILIES = frozenset(
    {"a3-ultragpu", "a4-highgpu", "a4x", "c4", "c4a", "c4d", "n4", "h4d", "x4", "m4", "z3"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeOptions:
    """How instances are made."""

    service_account: str = "default"
    network: str = DEFAULT
    """A name or an URL; that of `windlass network up` brings its subnetworks."""
    subnetwork: str = ""
    external_address: bool = False
    disk_gb: int = 100
    local_ssds: int = 0
    kms_key: str = ""
    image: str = ""
    """Instead of the one that the catalog names for the accelerator."""
    placement_policy: str = ""
    gpudirect: bool = True
    data_prefix: str = PREFIX
    """What the names of the networks begin with that `windlass network up` makes."""

    def disk_type(self, family: str) -> str:
        """What the machine can boot from."""
        is_hyperdisk = any(family.startswith(name) for name in HYPERDISK_FAMILIES)
        return "hyperdisk-balanced" if is_hyperdisk else "pd-balanced"


def options_of(given: Mapping[str, Any], *, defaults: Mapping[str, Any]) -> ComputeOptions:
    """The options of a claim. Raises EngineRejected for a key or a type that makes no sense."""
    return read_options(ComputeOptions, "compute", given, defaults=defaults)
