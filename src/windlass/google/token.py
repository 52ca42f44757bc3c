"""Prints a token for Google Cloud, for agents on the caller's own machine.

Must not be imported: it is a program. Must not print anything else.
"""

from __future__ import annotations

import json
import sys

import httpx

from windlass.errors import WindlassError
from windlass.google.credentials import AmbientBearer

LASTS_S = 300
"""Asked again after this long; Google's own last for an hour."""


def main() -> int:
    """The token on standard output, as the metadata server would give it; of the service account
    that the command line names, if it names one."""
    impersonate = sys.argv[1] if len(sys.argv) > 1 else ""
    with httpx.Client() as client:
        try:
            token = AmbientBearer(client, impersonate=impersonate).token()
        except WindlassError as error:
            sys.stderr.write(f"{error.message}. {error.remedy}\n")
            return error.exit_status
    said = {"access_token": token, "expires_in": LASTS_S, "token_type": "Bearer"}
    sys.stdout.write(f"{json.dumps(said)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
