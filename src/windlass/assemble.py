"""Builds the real objects from configuration: the one place that does.

Must not hold logic. Everything heavy is imported when it is first asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from windlass.errors import HomeUnusable

if TYPE_CHECKING:
    from windlass.agent.folder import Folder
    from windlass.catalog.query import Catalog
    from windlass.controller.folders import RunFolders
    from windlass.controller.loop import Loop
    from windlass.controller.presence import Presence
    from windlass.controller.renting import Gang
    from windlass.controller.secrets import SecretFiles
    from windlass.controller.summons import Summons
    from windlass.engines.base import Engine
    from windlass.engines.site import EngineSite
    from windlass.google.access import Access
    from windlass.google.session import Session
    from windlass.planner.candidates import Candidate
    from windlass.planner.history import History
    from windlass.policy.document import Policy
    from windlass.ports.world import World
    from windlass.spec.config import Config, ConfigFile
    from windlass.spec.model import Spec
    from windlass.state.model import Run
    from windlass.state.store import Store

DEFAULT_ENGINE = "local"
Made = TypeVar("Made")


def home_path(environment: Mapping[str, str] = os.environ) -> Path:
    """The home folder: WINDLASS_HOME, or `.windlass` in the user's own."""
    chosen = environment.get("WINDLASS_HOME")
    return Path(chosen).expanduser().absolute() if chosen else Path.home() / ".windlass"


def open_home(*, path: Path | None = None) -> Home:
    """The home folder, made when it is not there."""
    home = path or home_path()
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise HomeUnusable(
            f"the home folder {home} cannot be made: {error.strerror}",
            remedy="Set WINDLASS_HOME to a folder that you can write.",
        ) from error
    return Home(home, caller=dict(os.environ))


class Home:
    """Everything that belongs to one home folder."""

    def __init__(self, path: Path, *, caller: Mapping[str, str]) -> None:
        self.path = path
        self.caller = caller
        self._made: dict[str, tuple[Config, Any]] = {}

    @property
    def config(self) -> Config:
        """The user's configuration as it stands; all defaults when there is no file."""
        return self._config_file.current()

    @cached_property
    def _config_file(self) -> ConfigFile:
        from windlass.spec.config import ConfigFile

        return ConfigFile(self.path / "config.yaml")

    def _under_config(self, what: str, make: Callable[[], Made]) -> Made:
        """Made once, and anew when the configuration has changed: a controller lives for days."""
        config = self.config
        if what not in self._made or self._made[what][0] is not config:
            self._made[what] = config, make()
        made: Made = self._made[what][1]
        return made

    @cached_property
    def world(self) -> World:
        """The real world."""
        from dataclasses import replace

        from windlass.ports.clock import clock_from
        from windlass.ports.world import system_world

        clock = clock_from(self.path / "clock.json")
        return replace(system_world(), clock=clock, open_folder=self._open_folder)

    def _open_folder(self, url: str) -> Folder:
        if url.startswith("gs://"):
            return self._google.open_folder(url)
        from windlass.agent.open_folder import open_folder

        return open_folder(url)

    @cached_property
    def _store(self) -> Store:
        from windlass.state.open_store import open_store

        return open_store(self.store_url)

    @property
    def store_url(self) -> str:
        """Where runs are kept: the configured store, or a file in the home folder."""
        file = self.path / "config.yaml"
        chosen = self.config.store if file.exists() else None
        return chosen or f"sqlite://{self.path / 'windlass.db'}"

    def store(self) -> Store:
        """The store, opened once."""
        return self._store

    @property
    def has_store(self) -> bool:
        """Whether there is a store already; one on a server is taken to be there."""
        place = self.store_url.removeprefix("sqlite://")
        return "://" in place or Path(place).exists()

    def history(self, spec: Spec | None) -> History:
        """What the runs of this home have shown, for a plan of this spec; nothing before there is
        a store, which is never made for it."""
        from windlass.planner.history import History, make_history

        if not self.has_store:
            return History()
        store = self.store()
        paces = store.paces(spec.name, cloud=self.cloud) if spec is not None else ()
        held = store.held(now=self.world.clock.now(), cloud=self.cloud)
        return make_history(held, paces, spec=spec)

    @property
    def catalog_folder(self) -> Path:
        """Where newer catalogs are installed."""
        return self.path / "catalog"

    @cached_property
    def catalog(self) -> Catalog:
        """What can be rented: the catalog that was installed, or the one of Windlass."""
        from windlass.catalog.load import chosen, load_catalog

        return load_catalog(chosen(self.catalog_folder))

    @cached_property
    def presence(self) -> Presence:
        """The signs of life of this home's controller."""
        from windlass.controller.presence import Presence

        return Presence(self.path, cloud=self.cloud)

    @cached_property
    def secrets(self) -> SecretFiles:
        """Secrets of runs on this machine."""
        from windlass.controller.secrets import SecretFiles

        return SecretFiles(self.path / "secrets")

    # ---- runs ------------------------------------------------------------------------------

    @cached_property
    def folders(self) -> RunFolders:
        """The folders of runs."""
        from windlass.controller.folders import RunFolders

        has_file = (self.path / "config.yaml").exists()
        return RunFolders(
            self.path,
            chosen=self.config.run_folder if has_file else None,
            store=self.store,
            open_folder=self.world.open_folder,
            cloud=self.cloud,
        )

    def folder(self, run_id: str) -> Folder:
        """The run's folder."""
        return self.folders.open(run_id)

    def submit(
        self,
        spec_path: Path,
        spec: Spec,
        *,
        emulate: bool = False,
        engine: str | None = None,
        chosen: Candidate | None = None,
        others: Sequence[Candidate] = (),
    ) -> Run:
        """Make a run of the spec and see to it that a controller takes it up. `chosen` is what to
        rent, where the engine rents, and `others` where else to ask, in order."""
        from getpass import getuser

        from windlass.controller.inherited import INHERITED
        from windlass.controller.secrets import check_present
        from windlass.controller.submission import Ask, submit
        from windlass.engines.registry import google_engines

        spec = self.admitted(spec, spec_path)
        name = engine or self.engines_for(spec)[0]
        if not google_engines(name):
            check_present(spec.secrets, self.caller)  # Before anything is made for the run.
        needs_bucket = self.folders.needs_bucket(spec)
        cloud = self.cloud if needs_bucket or google_engines(name) else ""
        if cloud:
            self.summons.check_free()
        ask = Ask(
            spec=spec,
            spec_file=spec_path,
            engine=name,
            owner=self.config.owner or getuser(),
            is_emulated=emulate,
            environment={key: self.caller[key] for key in INHERITED if key in self.caller}
            | (self._google.token_command() if needs_bucket else {}),
            caller=self.caller,
            cloud=cloud,
            rented=_rented([chosen, *others], self.engines_for(spec)) if chosen else (),
        )
        run = submit(
            ask,
            world=self.world,
            store=self.store(),
            engine=self.engine(name),
            folders=self.folders,
            secrets=self.secrets,
        )
        self.wake(run)
        return run

    def remove(self, run: Run) -> None:
        """Forget an ended run and everything that is kept of it on this machine."""
        from windlass.engines.base import Forgets

        engine = self.engine(run.engine)
        if isinstance(engine, Forgets):
            engine.forget(run.id, [claim.id for claim in self.store().list_claims(run.id)])
        self.folders.remove(run.id)
        self.secrets.forget(run.id)
        # Last: when this is cut short, the run is still known and can be removed again.
        self.store().delete_run(run.id)

    def engines_for(self, spec: Spec) -> tuple[str, ...]:
        """The engines that may run the spec, first choice first: its own, else the user's."""
        return spec.where.engines or tuple(self.config.engines) or (DEFAULT_ENGINE,)

    @cached_property
    def policy(self) -> Policy | None:
        """The platform team's policy; None where the configuration names none."""
        from windlass.governance.policy_source import read_policy

        return read_policy(self.config.policy, home=self.path, session=lambda: self.google_session)

    def admitted(self, spec: Spec, path: Path) -> Spec:
        """The spec with what the policy fills in. PolicyDenied when the policy forbids it."""
        if self.config.policy is None or self.policy is None:
            return spec
        from windlass.governance.admission import admitted, circumstances

        about = circumstances(self.engines_for(spec), self.config.engine)
        return admitted(spec, self.policy, about, path=path)

    # ---- engines ---------------------------------------------------------------------------

    def engine(self, name: str) -> Engine[Any]:
        """The engine of that name, built once."""
        from windlass.engines.registry import build_engine

        return self._under_config(f"engine {name}", lambda: build_engine(name, self.site))

    @cached_property
    def site(self) -> EngineSite:
        """What engines are built from."""
        from windlass.engines.site import EngineSite, GoogleSite
        from windlass.ports.process import Processes

        return EngineSite(
            home=self.path,
            world=self.world,
            processes=Processes(),
            agent=self._agent,
            secrets=self.secrets.path,
            wake=self.presence.pipe,
            google=GoogleSite(
                project=lambda: self.project,
                session=lambda: self.google_session,
                catalog=lambda: self.catalog,
                agent_url=lambda: self.folders.agent_url(self._agent),
                defaults=lambda engine: self.config.engine.get(engine, {}),
            ),
        )

    def _agent(self) -> Path:
        from windlass.agent.pack import build

        return build(self.path / "agent")

    # ---- Google ----------------------------------------------------------------------------

    @cached_property
    def cloud(self) -> str:
        """The cloud that is talked to: Google, or a twin of it."""
        from windlass.controller.clouds import cloud_here

        return cloud_here(self.caller)

    @property
    def project(self) -> str:
        """The project that things are rented in."""
        from windlass.google.access import chosen_project

        return chosen_project(self.config.project, self.caller, file=self.path / "config.yaml")

    @property
    def _google(self) -> Access:
        from windlass.google.access import Access, chosen_account

        account = chosen_account(self.config.impersonate, self.caller)
        return self._under_config("google", lambda: Access(impersonate=account))

    @property
    def google_session(self) -> Session:
        """Calls to Google, as whoever the machine's credentials say."""
        return self._google.session

    # ---- the controller --------------------------------------------------------------------

    def is_controller_alive(self) -> bool:
        """Whether a controller serves this home."""
        return self.presence.is_alive()

    @cached_property
    def summons(self) -> Summons:
        """The way to the controller."""
        from windlass.controller.summons import Summons

        return Summons(self.presence, self.caller, store=self.store)

    def wake(self, run: Run | None = None) -> None:
        """Make the controller look at once; start one when there is none that can serve the run."""
        self.summons.wake(run)

    def serve(self, *, is_on_demand: bool) -> bool:
        """Be the controller until nothing is left to do; False when there is one already."""
        from windlass.controller.workers import Worker

        if is_on_demand:
            os.chdir("/")  # It outlives the command, whose folder may be removed.
        worker = Worker(
            self.world.clock,
            self.store(),
            loop=self._loop,
            presence=self.presence,
            holder=f"{os.uname().nodename}:{self.path}",
            is_on_demand=is_on_demand,
        )
        return worker.run()

    def _loop(self) -> Loop:
        from windlass.controller.forgetting import Forgetting
        from windlass.controller.loop import Loop
        from windlass.controller.site import Site
        from windlass.controller.workers import tell_bug

        forgetting = Forgetting(self.store(), self.secrets, clock=self.world.clock)
        forgetting.sweep()
        site = Site(
            world=self.world,
            store=self.store(),
            engine=self.engine,
            engine_names=(DEFAULT_ENGINE,),
            folder_url=self.folders.url,
            cloud=self.cloud,
        )
        return Loop(site, on_ended=forgetting.after_end, on_bug=tell_bug)


def _rented(chosen: Sequence[Candidate], engines: Sequence[str]) -> tuple[Gang, ...]:
    from windlass.controller.renting import rented
    from windlass.engines.registry import renter

    each = {one.id: one for one in chosen}.values()
    return tuple(
        rented(one, engine=renter(engines, is_slice=one.offer.slice is not None) or "")
        for one in each
    )
