"""A PostgreSQL URL: what may be shown of it, and what is added to it.

Must not let a password out: not in a message, not by quoting the driver.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from windlass.errors import OptionRefused

# A password without the signs that a URL gives a meaning to: nobody can take a part of it for the
# host, so the driver has no way to quote it as one.
PLAIN = re.compile(r"[a-z]+://(?:[^:@/?#]*(?::[^@/?#]*)?@)?[^@]*")

# A dead network is noticed in half a minute, not in the kernel's two hours.
PATIENCE = {
    "connect_timeout": 10,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "application_name": "windlass",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a database is, and how to speak of it."""

    url: str = field(repr=False)
    shown: str
    """Host, port and database; never the password."""
    is_plain: bool
    """Whether the driver's own words can be shown."""
    defaults: dict[str, Any]
    """Settings that the URL leaves open."""
    password: str = field(repr=False)

    def redacted(self, exc: psycopg.Error) -> str:
        """What the driver said, in one line and without the password."""
        if not self.is_plain:
            return "(its answer is not shown: signs in the URL's password must be written as %XX)"
        said = " ".join(str(exc).split())
        return said.replace(self.password, "***") if self.password else said


def read_address(url: str) -> Address:
    """Take a URL apart; OptionRefused when it is none."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        # The driver quotes what it did not understand, which may be the password: hence `None`.
        raise OptionRefused(
            "the store's URL is not one that PostgreSQL understands",
            remedy="Write it as postgresql://USER@HOST:PORT/DATABASE, the password in ~/.pgpass.",
        ) from None
    is_plain = PLAIN.fullmatch(url) is not None
    known = {name: str(value) for name, value in parts.items() if value is not None}
    host = known.get("host") or known.get("hostaddr") or "localhost"
    port = f":{known['port']}" if "port" in known else ""
    place = f"postgresql://{host}{port}/{known.get('dbname', '')}"
    return Address(
        url=url,
        shown=place if is_plain else "at its PostgreSQL URL",
        is_plain=is_plain,
        defaults={name: value for name, value in PATIENCE.items() if name not in known},
        password=known.get("password", ""),
    )
