"""What only this engine knows: the `engine: {vertex: …}` block of a spec.

Must not read files.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class VertexOptions:
    """How a custom training is made."""

    service_account: str = ""
    """Empty for Vertex AI's own."""
    network: str = ""
    """`projects/NUMBER/global/networks/NAME`, peered with Vertex AI; empty for none."""
    network_attachment: str = ""
    """A Private Service Connect interface instead of a peered network."""
    image: str = ""
    """A container with Python 3.9 or newer, instead of Google's own."""
    disk_gb: int = 100
    kms_key: str = ""
