"""Judges a catalog file before it is used: whole, well formed, and with prices that can be.

Must not change anything. Every problem is told, not only the first.
"""

from __future__ import annotations

from hashlib import sha256

from windlass.catalog.container import Container, body
from windlass.catalog.load import decoded
from windlass.catalog.query import Catalog
from windlass.catalog.tables import Complaints


def check(data: bytes, complaints: Complaints, *, where: str) -> Catalog:
    """The catalog of a file that may be used.

    Raises:
        CatalogRefused: with everything that is wrong with it.
    """
    container = Container(data, where=where)
    if container.sha256 != sha256(body(data)).hexdigest():
        complaints.problems.append("the checksum does not match: the file is damaged")
    complaints.raise_if_any(where)
    return decoded(container)
