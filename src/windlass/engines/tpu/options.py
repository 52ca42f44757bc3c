"""What only this engine knows: the `engine: {tpu: …}` block of a spec.

Must not read files.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TpuOptions:
    """How slices are made."""

    service_account: str = ""
    """Empty for the project's default one."""
    network: str = "default"
    subnetwork: str = ""
    external_address: bool = False
    runtime_version: str = ""
    """Instead of the one that the catalog names for the slice."""
    kms_key: str = ""
    secure_boot: bool = False
