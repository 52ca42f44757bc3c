"""Where the folders of runs are: on this machine, or where the configuration says.

Must not read what is in them. A run's folder stays where it was made, whatever the configuration
says later.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from windlass.agent import layout
from windlass.agent.folder import Folder, folder_url
from windlass.errors import FolderUnreachable, OptionRefused, RunChanged

if TYPE_CHECKING:
    from windlass.spec.model import Spec
    from windlass.state.store import Store

AGENTS = "agents"
Open = Callable[[str], Folder]


class RunFolders:
    """The run folders of one home."""

    def __init__(
        self, home: Path, *, chosen: str | None, store: Callable[[], Store], open_folder: Open
    ) -> None:
        self.home = home
        self._chosen = _as_url(chosen, home)
        self._store = store
        self._open = open_folder
        self._agents: set[str] = set()
        self._sent: set[str] = set()

    def path(self, run_id: str) -> Path:
        """The run's folder on this machine, when it is there; else what is kept here of it."""
        return self.home / layout.RUNS / run_id

    def needs_bucket(self, spec: Spec) -> bool:
        """Whether a run of the spec has to do with buckets."""
        to = spec.checkpoint.to if spec.checkpoint else None
        return any(place is not None and place.startswith("gs://") for place in (self._chosen, to))

    def new_url(self, run_id: str) -> str:
        """The folder of a run that is being made."""
        if self._chosen is None:
            return folder_url(self.path(run_id))
        return f"{self._chosen}/{layout.RUNS}/{run_id}"

    def send(self, run_id: str, source: str) -> dict[str, str]:
        """Bring what was packed for a run to where its agents will look, when that is not here;
        what its options must say of it.

        Raises:
            FolderUnreachable: it cannot be brought there.
            RunChanged: another run has this id.
        """
        if self._chosen is None:
            return {}
        url, path = self.new_url(run_id), self.path(run_id)
        try:
            folder = self._open(url)
            if not folder.create(layout.SPEC, (path / layout.SPEC).read_bytes()):
                raise RunChanged(f"there is a folder of {run_id} already")
            self._sent.add(run_id)
            folder.write(source, (path / source).read_bytes())
        except OSError as error:
            raise FolderUnreachable(
                f"the run's folder {url} cannot be written: {error}",
                remedy="Check `run_folder` in the configuration, and that you may write there; "
                "`windlass bucket up` makes a bucket that is not there.",
            ) from error
        shutil.rmtree(path, ignore_errors=True)
        return {"folder": url}

    def take_back(self, run_id: str) -> None:
        """Remove what was packed and brought for a run that does not come to be."""
        shutil.rmtree(self.path(run_id), ignore_errors=True)
        if run_id in self._sent:
            with contextlib.suppress(OSError):
                self._empty(self._open(self.new_url(run_id)))

    def url(self, run_id: str) -> str:
        """The folder of a run that there is."""
        run = self._store().get_run(run_id)
        found = json.loads(run.options).get("folder") if run is not None else None
        return str(found) if found else folder_url(self.path(run_id))

    def shown(self, run_id: str) -> str:
        """The same in words for a person: a path where it is one."""
        url = self.url(run_id)
        here = self.path(run_id)
        return str(here) if url == folder_url(here) else url

    def open(self, run_id: str) -> Folder:
        """The run's folder."""
        return self._open(self.url(run_id))

    def remove(self, run_id: str) -> None:
        """Remove everything of a run; what is gone already is no trouble."""
        url = self.url(run_id)
        if url != folder_url(self.path(run_id)):
            self._empty(self._open(url))
        shutil.rmtree(self.path(run_id), ignore_errors=True)

    def agent_place(self, program: Path) -> str:
        """Where the agent's program is put for machines that are rented.

        Raises:
            OptionRefused: run folders are on this machine, where no such machine can look.
        """
        return f"{self.bucket_place()}/{AGENTS}/{program.name}"

    def bucket_place(self) -> str:
        """Where in a bucket the run folders are.

        Raises:
            OptionRefused: they are on this machine, where no machine that is rented can look.
        """
        if self._chosen is None or not self._chosen.startswith("gs://"):
            raise OptionRefused(
                "rented machines need run folders in a bucket, and there is none",
                remedy="Make one with `windlass bucket up my-bucket`, and write "
                f"`run_folder: gs://my-bucket` into {self.home / 'config.yaml'}.",
            )
        return self._chosen

    def agent_url(self, agent: Callable[[], Path]) -> str:
        """Where machines that are rented find the agent's program; put there once per content.

        Raises:
            OptionRefused: run folders are on this machine, where no such machine can look.
            FolderUnreachable: it cannot be put there.
        """
        program = agent()
        url = self.agent_place(program)
        if url not in self._agents:
            base, _, name = url.rpartition(f"/{AGENTS}/")
            try:
                # Its name is a hash of what it is made of: one that is there is the same.
                self._open(base).create(f"{AGENTS}/{name}", program.read_bytes())
            except OSError as error:
                raise FolderUnreachable(
                    f"the agent's program cannot be put into {base}: {error}",
                    remedy="Check that the bucket is there and that you may write to it.",
                ) from error
            self._agents.add(url)
        return url

    @staticmethod
    def _empty(folder: Folder) -> None:
        for name in folder.list(""):
            folder.delete(name)


def _as_url(chosen: str | None, home: Path) -> str | None:
    if chosen is None:
        return None
    if "://" in chosen:
        return chosen.rstrip("/")
    return folder_url(home / Path(chosen).expanduser())
