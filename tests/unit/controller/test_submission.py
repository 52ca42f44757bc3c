"""Making a run: all of it or nothing, and secrets nowhere but in their file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from controllers import ToldEngine
from windlass.agent import layout
from windlass.controller.folders import RunFolders
from windlass.controller.renting import Gang
from windlass.controller.request import facts_of
from windlass.controller.secrets import SecretFiles
from windlass.controller.submission import TRIES, Ask, new_run, submit
from windlass.errors import (
    MachineTooSmall,
    OptionRefused,
    RunChanged,
    SecretMissing,
    SourceRefused,
    StoreBusy,
)
from windlass.ports.world import system_world
from windlass.spec.accelerators import accelerators
from windlass.spec.canonical import from_json
from windlass.spec.model import Limits, Resources, Spec
from windlass.state.phases import RunPhase
from windlass.state.sqlite_store import open_sqlite

VALUE = "hf-very-secret"


class Desk:
    """Everything a submission needs, under one folder."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.work = root / "work"
        self.work.mkdir()
        (self.work / "train.py").write_text("print('hello')\n")
        (self.work / "run.yaml").write_text("name: My Run\nrun: python train.py\n")
        self.store = open_sqlite(":memory:")
        self.engine = ToldEngine()
        self.secrets = SecretFiles(self.home / "secrets")
        self.world = system_world()
        self.chosen: str | None = None
        self.spec = Spec(name="My Run", run="python train.py")

    @property
    def folders(self) -> RunFolders:
        return RunFolders(
            self.home,
            chosen=self.chosen,
            store=lambda: self.store,
            open_folder=self.world.open_folder,
        )

    def ask(self, *, rented=(), **fields):
        return Ask(
            spec=replace(self.spec, **fields),
            spec_file=self.work / "run.yaml",
            engine="told",
            owner="ada",
            is_emulated=False,
            environment={"PATH": "/bin"},
            caller={"PATH": "/bin", "HF_TOKEN": VALUE},
            rented=rented,
        )

    def submit(self, **fields):
        return submit(
            self.ask(**fields),
            world=self.world,
            store=self.store,
            engine=self.engine,
            folders=self.folders,
            secrets=self.secrets,
        )

    def files(self):
        return [path for path in self.home.rglob("*") if path.is_file()]

    def is_empty(self):
        return not self.files() and not self.store.list_runs() and not self.run_folders()

    def run_folders(self):
        runs = self.home / layout.RUNS
        return list(runs.iterdir()) if runs.exists() else []


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path)
    yield desk
    desk.store.close()


def test_a_run_has_a_row_a_folder_and_a_first_event(desk):
    run = desk.submit(limits=Limits(ttl_s=60.0))
    assert run.id.startswith("my-run-")
    assert desk.store.get_run(run.id) == run
    assert (run.name, run.phase, run.owner, run.engine) == (
        "My Run",
        RunPhase.QUEUED,
        "ada",
        "told",
    )
    assert run.expires_at == run.created_at + 60.0
    assert from_json(run.spec).run == "python train.py"
    folder = desk.home / layout.RUNS / run.id
    sha = json.loads(run.options)["source"]
    assert (folder / layout.source(sha)).is_file()
    assert (folder / layout.SPEC).read_bytes() == (desk.work / "run.yaml").read_bytes()
    (event,) = desk.store.list_events(run.id)
    assert (event.code, event.message) == ("submitted", "submitted with 2 files of source")
    assert desk.engine.asked == [], "nothing is started here"


class Choosy(ToldEngine):
    """An engine that has two L4 and nothing else."""

    def admit(self, claim):
        (wanted,) = claim.accelerators
        if (wanted.name, claim.accelerators_per_node) != ("L4", 2):
            raise MachineTooSmall(f"no {wanted} here", remedy="Try another.")


def test_the_first_accelerators_that_the_engine_can_give_are_chosen(desk):
    desk.engine = Choosy()
    wanted = tuple(accelerators(name) for name in ("v5e-16", "H100:8", "L4:2"))
    run = desk.submit(resources=Resources(accelerators=wanted))
    facts = facts_of(run)
    assert (str(facts.wanted), facts.nodes) == ("L4:2", 1)
    with pytest.raises(MachineTooSmall, match="no v5e-16 here; no H100:8 here"):
        desk.submit(resources=Resources(accelerators=wanted[:2]))


def test_ids_differ_though_names_do_not(desk):
    assert len({desk.submit().id for _ in range(20)}) == 20


def test_a_home_inside_the_workdir_does_not_ship_itself(desk):
    desk.home = desk.work / "home"
    (desk.home / "large").mkdir(parents=True)
    (desk.home / "large" / "file").write_text("x")
    desk.submit()
    (event,) = desk.store.list_events(desk.store.list_runs()[0].id)
    assert event.message == "submitted with 2 files of source"


# ---- secrets -------------------------------------------------------------------------------------


def test_a_secret_is_in_its_own_file_and_nowhere_else(desk):
    run = desk.submit(secrets={"TOKEN": "HF_TOKEN"})
    path = desk.secrets.path(run.id)
    assert json.loads(path.read_text()) == {"TOKEN": VALUE}
    others = [file for file in desk.files() if file != path]
    assert others
    assert not [file for file in others if VALUE.encode() in file.read_bytes()]
    assert VALUE not in repr(desk.store.get_run(run.id))
    assert VALUE not in repr(desk.store.list_events(run.id))


# ---- refusals ------------------------------------------------------------------------------------


class TooSmall(ToldEngine):
    def admit(self, claim):
        raise MachineTooSmall("8 x H100 needed", remedy="Add --emulate.")


class Refusing:
    """A store that refuses new runs so many times."""

    def __init__(self, store, error, times):
        self._store = store
        self._error = error
        self.left = times

    def __getattr__(self, name):
        return getattr(self._store, name)

    def add_run(self, run, event):
        if self.left:
            self.left -= 1
            raise self._error
        self._store.add_run(run, event)


def too_small(desk):
    desk.engine = TooSmall()


def too_many_nodes(desk):
    desk.spec = replace(desk.spec, resources=Resources(nodes_min=5, nodes_max=5))


def no_workdir(desk):
    desk.spec = replace(desk.spec, workdir="not/there")


def no_secret(desk):
    desk.spec = replace(desk.spec, secrets={"A": "HF_TOKEN", "B": "NOT_SET"})


def busy_store(desk):
    desk.store = Refusing(desk.store, StoreBusy("locked"), 1)


def killed(desk):
    desk.store = Refusing(desk.store, KeyboardInterrupt(), 1)


def no_free_id(desk):
    desk.store = Refusing(desk.store, RunChanged("taken"), TRIES)


REFUSALS = [
    (too_small, MachineTooSmall),
    (too_many_nodes, OptionRefused),
    (no_workdir, SourceRefused),
    (no_secret, SecretMissing),
    (busy_store, StoreBusy),
    (killed, KeyboardInterrupt),
    (no_free_id, OptionRefused),
]


@pytest.mark.parametrize(
    ("refuse", "error"), REFUSALS, ids=[refuse.__name__ for refuse, _ in REFUSALS]
)
def test_a_refusal_leaves_nothing_behind(desk, refuse, error):
    desk.spec = replace(desk.spec, secrets={"TOKEN": "HF_TOKEN"})
    refuse(desk)
    with pytest.raises(error):
        desk.submit()
    assert desk.is_empty()


def test_an_id_that_is_taken_elsewhere_is_passed_over_without_a_trace(desk):
    desk.store = Refusing(desk.store, RunChanged("taken"), 2)
    run = desk.submit(secrets={"TOKEN": "HF_TOKEN"})
    assert [folder.name for folder in desk.run_folders()] == [run.id]
    assert [path.stem for path in (desk.home / "secrets").iterdir()] == [run.id]


class SameName:
    """Chance that has run out."""

    def __init__(self, *names):
        self._names = list(names)

    def id(self, length=5):
        return self._names.pop(0)

    def jitter(self, base):
        return base


def test_a_folder_that_is_there_already_is_nobody_elses(desk):
    first = desk.home / layout.RUNS / "my-run-aaa"
    first.mkdir(parents=True)
    (first / "kept").write_text("")
    desk.world = replace(desk.world, entropy=SameName("aaa", "bbb"))
    assert desk.submit().id == "my-run-bbb"
    assert (first / "kept").exists()


def test_what_was_chosen_to_be_rented_is_kept_with_the_run(desk):
    gang = Gang(offer="z/a3-highgpu-8g/spot", buy="spot", accelerators="H100:8", nodes=3)
    other = gang._replace(offer="y/a3-highgpu-8g/spot", usd_per_h=12.5)
    facts = facts_of(new_run(desk.ask(rented=(gang, other)), run_id="r-1", now=0.0))
    assert facts.gang == gang
    assert facts.gangs == (gang, other)


def test_machines_are_not_rented_for_a_run_whose_folder_they_cannot_reach(desk):
    with pytest.raises(OptionRefused, match="run folders in a bucket") as refused:
        desk.submit(rented=(Gang(offer="z/m/spot", buy="spot", nodes=1),))
    assert "windlass bucket up" in refused.value.remedy
    assert desk.is_empty()
