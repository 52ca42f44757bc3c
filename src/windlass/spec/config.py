"""The user's configuration file, `config.yaml` in the home folder, as a frozen value.

Must not look for the file: the caller knows the home folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from windlass.errors import OptionRefused, SpecInvalid
from windlass.spec import keys, names
from windlass.spec.document import read_bounded, read_node
from windlass.spec.problems import Problems
from windlass.spec.reader import Reader
from windlass.spec.refused import Refused, quoted
from windlass.spec.sections import read_engine, store_url
from windlass.spec.suggest import did_you_mean
from windlass.spec.tree import Table

STORES = ("sqlite", "postgresql")

_ACCOUNT = re.compile(r"[^@\s]+@[a-z0-9.-]+\.gserviceaccount\.com", re.ASCII)
# Google's rule for project ids, with the domain prefix that old ones have.
_PROJECT = re.compile(r"([a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What holds for every run of this user unless the spec says otherwise."""

    engines: tuple[str, ...] = ()
    """Empty: the engine that needs nothing but this machine."""
    store: str | None = None
    """None: the SQLite file in the home folder."""
    project: str | None = None
    impersonate: str | None = None
    """The service account that Google's APIs are called as; None: whoever is logged in."""
    run_folder: str | None = None
    """None: a folder in the home folder."""
    engine: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Options of engines, under those of a spec's `engine`."""
    policy: str | None = None
    """As written: relative to the home folder."""
    owner: str | None = None
    """None: the name the user is logged in with."""


class ConfigFile:
    """A configuration file, which may be changed while somebody goes by it for days."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._config: Config | None = None

    def current(self) -> Config:
        """What it says now; the same object for as long as it says the same. One that has become
        wrong meanwhile changes nothing."""
        stamp = _stamp(self._path)
        if self._config is None or stamp != self._stamp:
            self._stamp, self._config = stamp, self._read()
        return self._config

    def _read(self) -> Config:
        try:
            found = load_config(self._path)
        except (SpecInvalid, OptionRefused):
            if self._config is None:
                raise
            return self._config
        return self._config if found == self._config and self._config is not None else found


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def load_config(path: Path) -> Config:
    """The configuration in that file; the defaults when there is no such file.

    Raises SpecInvalid with every problem, OptionRefused when it cannot be read.
    """
    if not path.exists():
        return Config()
    return parse_config(read_bounded(path), path=str(path))


def parse_config(text: str | bytes, *, path: str) -> Config:
    """The configuration in that text. Raises SpecInvalid with every problem."""
    problems = Problems(path)
    node = read_node(text, problems, may_be_empty=True)
    if problems:
        raise problems.error()
    if node is None:
        return Config()
    if not isinstance(node, Table):
        message = "the file holds no `key: value` lines"
        remedy = f"Keys here: {', '.join(keys.CONFIG)}."
        problems.add("not-a-mapping", node, message=message, remedy=remedy)
        raise problems.error()
    config = _read_config(Reader(node, problems, title="a configuration", keys=keys.CONFIG))
    if problems:
        raise problems.error()
    return config


def _read_config(reader: Reader) -> Config:
    return Config(
        engines=reader.each("engines", names.engine_name),
        store=reader.scalar("store", _store),
        project=reader.scalar("project", _project),
        impersonate=reader.scalar("impersonate", _account),
        run_folder=reader.scalar("run_folder", store_url),
        engine=read_engine(reader),
        policy=reader.scalar("policy", _policy),
        owner=reader.scalar("owner", names.run_name),
    )


def _store(text: str) -> str:
    scheme, separator, rest = text.partition("://")
    forms = "sqlite:///path or postgresql://host/name"
    if not separator or not rest.strip("/"):
        message = f"{quoted(text)} is not the URL of a store"
        raise Refused("bad-url", message, remedy=f"Write {forms}.")
    if scheme not in STORES:
        remedy = did_you_mean(scheme, STORES, otherwise=f"Write {forms}.")
        raise Refused("bad-url", f"a store cannot be `{scheme}://`", remedy=remedy)
    if scheme == "sqlite" and not rest.startswith("/"):
        message = f"{quoted(text)} names a host, but SQLite is a file"
        raise Refused("bad-url", message, remedy=f"Write sqlite:///{rest} with three slashes.")
    return text


def _project(text: str) -> str:
    if not _PROJECT.fullmatch(text):
        remedy = "Write the project's id, such as `my-project-123`, not its name or number."
        raise Refused("bad-project", f"{quoted(text)} is not the id of a project", remedy=remedy)
    return text


def _account(text: str) -> str:
    if not _ACCOUNT.fullmatch(text):
        message = f"{quoted(text)} is no service account"
        remedy = "Write its email, such as `ci@my-project-123.iam.gserviceaccount.com`."
        raise Refused("bad-account", message, remedy=remedy)
    return text


def _policy(text: str) -> str:
    if not text.strip():
        raise Refused("bad-path", "the path is empty", remedy="Write the path of a policy file.")
    return text
