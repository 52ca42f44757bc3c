"""A home folder and everything that belongs to it."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from builders import make_attempt, make_claim, make_event, make_run
from gangs import until
from windlass.assemble import Home, home_path, open_home
from windlass.controller import workers
from windlass.controller.forgetting import UNDER_WAY_S
from windlass.controller.inherited import INHERITED
from windlass.errors import HomeUnusable, OptionRefused, SecretMissing
from windlass.planner.history import History
from windlass.spec.canonical import to_json
from windlass.spec.model import Resources, Spec, Where
from windlass.state.model import Change
from windlass.state.phases import AttemptPhase, RunPhase, is_ended

VALUE = "hf-very-secret-value"


@pytest.fixture
def home(tmp_path):
    caller = {**os.environ, "HF_TOKEN": VALUE, "WINDLASS_CLAIM": "outer-1-0", "WINDLASS_RANK": "0"}
    path = tmp_path / "höme of mine"
    path.mkdir()
    home = Home(path, caller=caller)
    yield home
    end_controller(home)
    home.store().close()


def end_controller(home):
    pid = home.presence.process_id()
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        until(lambda: not home.is_controller_alive())


@pytest.fixture
def spec_file(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    path = folder / "run.yaml"
    path.write_text("name: r\nrun: 'true'\n")
    return path


def serve_once(home):
    """Be a controller that ends when it has nothing to do, in a process of its own."""
    child = os.fork()
    if child == 0:
        status = 70
        try:
            workers.IDLE_S = 0.0
            status = 0 if Home(home.path, caller=home.caller).serve(is_on_demand=True) else 3
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# ---- where it is ---------------------------------------------------------------------------------


def test_the_home_is_where_the_environment_says():
    assert home_path({"WINDLASS_HOME": "/x/y"}) == Path("/x/y")
    assert home_path({"WINDLASS_HOME": "~/y"}) == Path.home() / "y"
    assert home_path({}) == Path.home() / ".windlass"
    assert home_path({"WINDLASS_HOME": "relative"}).is_absolute()


def test_a_home_is_made_for_its_owner_alone(tmp_path):
    home = open_home(path=tmp_path / "a" / "b")
    assert home.path.stat().st_mode & 0o077 == 0


def test_a_home_that_cannot_be_made_says_why(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeUnusable) as refused:
        open_home(path=tmp_path / "file" / "home")
    assert "Not a directory" in refused.value.message
    assert "WINDLASS_HOME" in refused.value.remedy


def test_the_store_is_a_file_in_the_home_unless_another_is_chosen(home, tmp_path):
    assert home.store_url == f"sqlite://{home.path}/windlass.db"
    chosen = f"sqlite://{tmp_path}/other.db"
    (home.path / "config.yaml").write_text(f"store: {chosen}\n")
    assert Home(home.path, caller={}).store_url == chosen


def test_the_address_of_a_run_leads_back_to_its_folder(home):
    home.world.open_folder(home.folders.url("r")).write("x", b"1")
    assert (home.folders.path("r") / "x").read_bytes() == b"1"
    assert home.folder("r").read("x") == b"1"


def test_engines_are_built_once(home):
    assert home.engine("local") is home.engine("local")


# ---- submitting ----------------------------------------------------------------------------------


def submit(home, spec_file, **fields):
    spec = Spec(**{"name": "r", "run": "true", **fields})
    return home.submit(spec_file, spec)


def test_only_what_ranks_need_is_taken_from_the_caller(home, spec_file):
    run = submit(home, spec_file)
    environment = json.loads(run.options)["environment"]
    assert set(environment) <= set(INHERITED)
    assert environment["PATH"] == os.environ["PATH"]
    assert VALUE not in run.options
    until(home.presence.process_id)


def test_an_unknown_engine_is_refused_and_nothing_is_started(home, spec_file):
    with pytest.raises(OptionRefused, match="nonsense"):
        submit(home, spec_file, where=Where(engines=("nonsense",)))
    assert home.store().list_runs() == []
    assert not home.is_controller_alive()


def test_a_missing_secret_is_told_before_anything_is_done(home, spec_file):
    with pytest.raises(SecretMissing):
        submit(home, spec_file, secrets={"A": "NOT_SET"})
    assert [path.name for path in home.path.iterdir()] == []


def test_the_engine_of_the_configuration_is_the_default(home, spec_file):
    (home.path / "config.yaml").write_text("engines: [nonsense]\n")
    with pytest.raises(OptionRefused, match="nonsense"):
        submit(Home(home.path, caller=home.caller), spec_file)


# ---- the controller ------------------------------------------------------------------------------


def test_a_controller_that_a_rank_started_carries_none_of_its_marks(home):
    home.wake()
    pid = until(home.presence.process_id)
    said = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    ours = sorted(pair for pair in said if pair.startswith(b"WINDLASS_"))
    assert ours == [b"WINDLASS_CLOUD=google", b"WINDLASS_HOME=" + os.fsencode(home.path)]
    until(lambda: Path(f"/proc/{pid}/cwd").readlink() == Path("/"))


def test_a_second_controller_of_a_home_says_so(home):
    home.presence.take()
    assert serve_once(home) == 3
    home.presence.release()


def where_the_value_is(home):
    return [
        path
        for path in home.path.rglob("*")
        if path.is_file() and VALUE.encode() in path.read_bytes()
    ]


def test_a_secret_reaches_ranks_and_nothing_else_and_is_gone_with_its_run(home, spec_file):
    command = f"test \"$TOKEN\" = {VALUE[:6]}'{VALUE[6:]}' && echo right; sleep 0.3"
    run = submit(home, spec_file, run=command, secrets={"TOKEN": "HF_TOKEN"})
    kept = home.secrets.path(run.id)
    log = home.folders.path(run.id) / f"attempts/1/{run.id}-1-0/nodes/0/rank-0/log-00001.txt"
    until(lambda: log.exists() and "right" in log.read_text())
    assert where_the_value_is(home) == [kept]
    commands = [p.read_bytes() for p in Path("/proc").glob("[0-9]*/cmdline") if p.exists()]
    assert not [said for said in commands if VALUE.encode() in said]
    until(lambda: is_ended(home.store().get_run(run.id).phase))
    assert home.store().get_run(run.id).phase is RunPhase.SUCCEEDED
    until(lambda: not kept.exists())
    assert where_the_value_is(home) == []


def keep_secrets(home, run_id, *, age_s=0.0):
    home.secrets.keep(run_id, {"TOKEN": "HF_TOKEN"}, home.caller)
    at = time.time() - age_s
    os.utime(home.secrets.path(run_id), (at, at))


def test_a_new_controller_forgets_the_secrets_that_a_killed_one_left(home):
    ended_at = time.time() - 10.0
    for name in ("ended", "retried"):
        run = make_run(name, phase=RunPhase.FAILED, ended_at=ended_at)
        home.store().add_run(run, make_event(name))
    keep_secrets(home, "ended", age_s=60.0)
    keep_secrets(home, "retried")  # Kept after its end: a retry is about to be written.
    keep_secrets(home, "coming")  # Its row is about to be written.
    keep_secrets(home, "orphan", age_s=UNDER_WAY_S + 60.0)
    assert serve_once(home) == 0
    kept = sorted(path.stem for path in (home.path / "secrets").iterdir())
    assert kept == ["coming", "retried"]


def test_a_removed_run_leaves_nothing(home, spec_file):
    run = submit(home, spec_file, resources=Resources(nodes_min=2, nodes_max=2))
    until(lambda: is_ended(home.store().get_run(run.id).phase))
    end_controller(home)
    home.remove(home.store().get_run(run.id))
    left = list(home.path.rglob(f"*{run.id}*"))
    assert (left, home.store().get_run(run.id)) == ([], None)


def test_the_controller_is_started_with_the_same_python(home):
    home.wake()
    pid = until(home.presence.process_id)
    said = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    assert said[:5] == [os.fsencode(sys.executable), b"-m", b"windlass", b"up", b"--on-demand"]


STORES = {
    "a file that is not there": ("store: sqlite:///nowhere/at/all.db\n", False),
    "a server": ("store: postgresql://ada@db/windlass\n", True),
    "none was named": (None, False),
}


@pytest.mark.parametrize(("config", "expected"), STORES.values(), ids=STORES)
def test_a_store_is_looked_for_where_it_would_be_and_not_made(tmp_path, config, expected):
    if config is not None:
        (tmp_path / "config.yaml").write_text(config)
    home = Home(tmp_path, caller={})
    assert home.has_store is expected
    if not expected:
        assert home.history(None) == History()
    assert not (tmp_path / "windlass.db").exists()


def test_history_is_what_the_store_has(tmp_path):
    home = Home(tmp_path, caller={})
    spec = Spec(name="llm", run="python train.py")
    run = make_run(name="llm", spec=to_json(spec), phase=RunPhase.RUNNING, attempt=1)
    started_at = home.world.clock.now() - 3600.0
    attempt = make_attempt(phase=AttemptPhase.RUNNING, winner="r-1-0", started_at=started_at)
    claim = make_claim(offer="z/m/spot", buy="spot", accelerators="H100:8", nodes=2)
    home.store().add_run(run, make_event())
    lease = home.store().take_lease("test", now=0.0, ttl_s=10.0)
    measured = replace(attempt, step_s=1.5)
    home.store().write(lease, Change(run=run, attempts=(measured,), claims=(claim,)))
    history = home.history(spec)
    assert history.seen["H100", "spot"].node_hours == pytest.approx(2.0, rel=0.01)
    assert [step.step_s for step in history.steps] == [1.5]
    assert home.history(None).steps == ()
    home.store().close()


def test_an_engine_goes_by_the_configuration_as_it_stands(home):
    file = home.path / "config.yaml"
    file.write_text("project: first-project\nrun_folder: gs://b\n")
    first = home.engine("compute")
    assert home.engine("compute") is first
    file.write_text("project: second-project\nrun_folder: gs://b\n")
    assert home.engine("compute")._google.project == "second-project"
