"""Tokens for Cloud Storage on a node: from the metadata server, or from a program that gives them.

Must not keep a token anywhere but in memory. Python 3.9, standard library only.
"""

from __future__ import annotations

import http.client
import json
import os
import shlex
import time
from typing import Any, Dict, Tuple

from windlass.agent.storage import BucketError, Token

METADATA = "metadata.google.internal"
PATH = "/computeMetadata/v1/"
ACCOUNT = "instance/service-accounts/default/"
TIMEOUT_S = 5.0
EARLY_S = 60.0
COMMAND = "WINDLASS_TOKEN_COMMAND"
"""A command line that prints `{"access_token": ..., "expires_in": ...}`: on a machine that has no
metadata server, Windlass itself gives out what the user has logged in with."""


def ambient_token() -> Token:
    """Where tokens come from on this machine."""
    command = os.environ.get(COMMAND)
    return KeptToken(CommandSource(command)) if command else KeptToken(MachineSource())


class KeptToken:
    """See Token: asks its source again shortly before a token is no longer good."""

    def __init__(self, source: "MachineSource | CommandSource") -> None:
        self._source = source
        self._value = ""
        self._until = float("-inf")

    def __call__(self, is_anew: bool) -> str:
        """See Token."""
        if is_anew or time.monotonic() > self._until:
            said = self._source.ask()
            try:
                life_s = float(said["expires_in"])
                self._value = str(said["access_token"])
            except (KeyError, TypeError, ValueError) as exc:
                raise BucketError(f"what should be a token is none: {exc!r}") from exc
            # One that is old already is used all the same: the refusal will tell.
            self._until = time.monotonic() + max(life_s - EARLY_S, life_s / 2)
        return self._value


class MachineSource:
    """The machine's own service account, from its metadata server, which no proxy may come
    between."""

    def ask(self) -> Dict[str, Any]:
        """A new token."""
        status, body = self._look("token")
        if status != 200:
            raise BucketError(f"the metadata server gave no token: {status}")
        return _parsed(body)

    def email(self) -> str:
        """Who the machine is; empty where nobody says."""
        try:
            status, body = self._look("email")
        except (OSError, http.client.HTTPException):
            return ""
        return body.decode("utf-8", "replace").strip() if status == 200 else ""

    @staticmethod
    def _look(what: str) -> Tuple[int, bytes]:
        connection = http.client.HTTPConnection(metadata_host(), timeout=TIMEOUT_S)
        try:
            connection.request("GET", PATH + ACCOUNT + what, headers={"Metadata-Flavor": "Google"})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


class CommandSource:
    """A program of the caller's own machine."""

    def __init__(self, command: str) -> None:
        self._command = command

    def ask(self) -> Dict[str, Any]:
        """A new token."""
        import subprocess  # Slow to import, and not needed on a cloud's machines.

        try:
            done = subprocess.run(
                shlex.split(self._command), capture_output=True, check=True, timeout=30
            )
        except subprocess.SubprocessError as exc:
            said = (getattr(exc, "stderr", None) or b"").decode("utf-8", "replace").strip()
            raise BucketError(f"no token was given: {said or exc}") from exc
        return _parsed(done.stdout)


def metadata_host() -> str:
    """Where the metadata server is."""
    return os.environ.get("GCE_METADATA_HOST") or METADATA


def _parsed(body: bytes) -> Dict[str, Any]:
    try:
        said = json.loads(body)
    except ValueError as exc:
        raise BucketError("what should be a token is none") from exc
    if not isinstance(said, dict):
        raise BucketError("what should be a token is none")
    return said
