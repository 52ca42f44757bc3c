"""What only this engine knows: the `engine: {compute: …}` block of a spec, over the defaults.

Must not guess at what it does not know: an unknown key is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windlass.engines.networks import DEFAULT, PREFIX
from windlass.engines.options import read_options


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
    compact: bool = True
    """Whether the machines of a GPU gang are to stand close together."""
    placement_policy: str = ""
    """One that is there already, instead of one made for the claim."""
    gpudirect: bool = True
    """Whether a gang's GPUs get the networks that their machine type has for them."""
    data_prefix: str = PREFIX
    """What the names of the networks begin with that `windlass network up` makes."""


def options_of(given: Mapping[str, Any], *, defaults: Mapping[str, Any]) -> ComputeOptions:
    """The options of a claim. Raises EngineRejected for a key or a type that makes no sense."""
    return read_options(ComputeOptions, "compute", given, defaults=defaults)
