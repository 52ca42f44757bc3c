"""The local engine over this machine: its queue, its GPUs, odd paths, and a full disk."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from claims import make_claim_request
from conformance.engines import Bench
from gangs import is_alive
from windlass.engines.base import Handle, Seen
from windlass.engines.local.desk import Desk
from windlass.engines.local.factory import build
from windlass.errors import EngineTransient, MachineTooSmall
from windlass.ports.process import Processes

WHOLE_MACHINE = float(len(os.sched_getaffinity(0)))


@pytest.fixture
def bench(tmp_path):
    bench = Bench(build, tmp_path / "home")
    yield bench
    bench.close()


@pytest.fixture
def two_gpus(tmp_path, monkeypatch):
    """A driver that shows two L4."""
    path = tmp_path / "nvidia-smi"
    path.write_text("#!/bin/sh\necho '0, NVIDIA L4, 23034'\necho '1, NVIDIA L4, 23034'\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")


def end(bench, handle):
    bench.engine.cancel(handle, now=True)
    bench.wait(handle, Seen.GONE)


# ---- the queue -----------------------------------------------------------------------------------


def test_a_claim_waits_until_the_machine_has_room(bench):
    first = bench.submit(bench.claim("a-1-0", "sleep 60", cpus_per_node=WHOLE_MACHINE))
    second = bench.submit(bench.claim("b-1-0", "echo done", cpus_per_node=WHOLE_MACHINE))
    seen = bench.look(second)
    assert seen.seen is Seen.PENDING
    assert seen.reason.endswith("processors are in use, number 1 in the queue, behind a")
    end(bench, first)
    bench.wait(second, Seen.GONE)
    assert bench.output("b-1-0") == "done\n"


def test_a_waiting_claim_that_is_cancelled_never_starts(bench):
    first = bench.submit(bench.claim("a-1-0", "sleep 60", cpus_per_node=WHOLE_MACHINE))
    second = bench.submit(bench.claim("b-1-0", "echo no", cpus_per_node=WHOLE_MACHINE))
    third = bench.submit(bench.claim("c-1-0", "echo yes", cpus_per_node=WHOLE_MACHINE))
    bench.engine.cancel(second)
    assert bench.look(second).seen is Seen.GONE
    end(bench, first)
    bench.wait(third, Seen.GONE)
    assert (bench.output("b-1-0"), bench.output("c-1-0")) == ("", "yes\n")
    assert bench.submit(bench.claim("b-1-0", "echo no")) == second
    assert bench.look(second).seen is Seen.GONE


def test_a_new_controller_keeps_the_order_of_the_queue(bench):
    bench.submit(bench.claim("z-1-0", "sleep 60", cpus_per_node=WHOLE_MACHINE))
    waiting = [
        bench.submit(bench.claim(f"{name}-1-0", "sleep 60", cpus_per_node=WHOLE_MACHINE))
        for name in ("y", "x")
    ]
    bench.restart()
    reasons = [bench.look(handle).reason for handle in waiting]
    assert ["number 1" in reasons[0], "number 2" in reasons[1]] == [True, True]


# ---- GPUs ----------------------------------------------------------------------------------------

SHOW_GPUS = 'echo "gpus=$CUDA_VISIBLE_DEVICES order=$CUDA_DEVICE_ORDER"'


def gpu_claim(bench, name, command, count=1, **fields):
    wanted = make_claim_request(on=f"L4:{count}").accelerators
    return bench.claim(
        name,
        command,
        accelerators=wanted,
        accelerators_per_node=count,
        cpus_per_node=0.1,
        **fields,
    )


def test_each_node_sees_its_own_gpu_and_gives_it_back(bench, two_gpus):
    first = bench.submit(gpu_claim(bench, "a-1-0", f"{SHOW_GPUS}; sleep 60", nodes=2))
    bench.until(lambda: bench.output("a-1-0") and bench.output("a-1-0", node=1))
    outputs = [bench.output("a-1-0", node=node) for node in (0, 1)]
    assert outputs == [f"gpus={n} order=PCI_BUS_ID\n" for n in (0, 1)]
    second = bench.submit(gpu_claim(bench, "b-1-0", SHOW_GPUS, 2))
    assert "2 GPUs are needed and 0 free" in bench.look(second).reason
    bench.restart()
    assert bench.look(second).seen is Seen.PENDING, "adopted claims hold their GPUs"
    end(bench, first)
    bench.wait(second, Seen.GONE)
    assert bench.output("b-1-0") == "gpus=0,1 order=PCI_BUS_ID\n"


def test_a_run_without_gpus_sees_none(bench, two_gpus):
    handle = bench.submit(bench.claim("a-1-0", SHOW_GPUS))
    bench.wait(handle, Seen.GONE)
    assert bench.output("a-1-0").startswith("gpus= ")


def test_an_emulated_claim_needs_no_gpu(bench):
    claim = gpu_claim(bench, "a-1-0", "echo ran", 8, is_emulated=True)
    bench.engine.admit(claim)
    bench.wait(bench.submit(claim), Seen.GONE)
    assert bench.output("a-1-0") == "ran\n"


def test_a_claim_that_is_too_large_is_refused_and_leaves_nothing(bench, two_gpus):
    claim = gpu_claim(bench, "a-1-0", "true", 3)
    for refuse in (bench.engine.admit, bench.submit):
        with pytest.raises(MachineTooSmall):
            refuse(claim)
    assert bench.engine.owned() == []
    assert list((bench.home / "local" / "live").iterdir()) == []


def test_asking_whether_the_machine_is_large_enough_starts_nothing(bench):
    bench.submit(bench.claim("a-1-0", "sleep 60", cpus_per_node=WHOLE_MACHINE))
    live = bench.home / "local" / "live"
    half_written = live / "b-1-0"
    half_written.mkdir()
    command = build_again(bench)
    command.admit(bench.claim("c-1-0", "true"))
    command.inventory()
    command.limits()
    assert half_written.exists(), "it may be the controller's, at this very moment"


def build_again(bench):
    """The engine as a command builds it beside the controller's."""
    kept = bench.engine
    other = bench.restart()
    bench.engine = kept
    return other


# ---- after the end -------------------------------------------------------------------------------


def test_forgetting_a_run_removes_its_work_and_its_tombstones(bench):
    handle = bench.submit(bench.claim("a-1-0", "true"))
    bench.wait(handle, Seen.GONE)
    root = bench.home / "local"
    assert (root / "ended" / "a-1-0").exists()
    assert (root / "work" / "a").exists()
    bench.engine.forget("a", ["a-1-0"])
    bench.engine.forget("a", ["a-1-0"])
    assert not (root / "ended" / "a-1-0").exists()
    assert not (root / "work" / "a").exists()


# ---- odd homes -----------------------------------------------------------------------------------

HOMES = {
    "spaces and quotes": 'a home\'s "own" $place',
    "Unicode": "héim/日本語/🪢",
    "percent and hash": "100%/#1?x=y",
    "very long": "/".join(["long-" * 20] * 20),
}


@pytest.mark.parametrize("name", HOMES.values(), ids=HOMES)
def test_a_home_may_be_called_anything(name, tmp_path):
    bench = Bench(build, tmp_path / name)
    handle = bench.submit(bench.claim("a-1-0", "echo here; pwd", nodes=2))
    bench.wait(handle, Seen.GONE)
    assert bench.output("a-1-0", node=1).startswith("here\n")
    bench.close()


# ---- a full disk ---------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own that a test can fill."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    options = ["-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    if os.geteuid() != 0 or mount is None:
        pytest.skip("only root can make a small file system")
    if subprocess.run([mount, *options], capture_output=True, check=False).returncode != 0:
        pytest.skip("no file system can be made here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place):
    path = place / "ballast"
    with path.open("ab", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return path


def test_a_full_disk_delays_a_submit_and_a_start(small_disk):
    bench = Bench(build, small_disk / "home")
    first = bench.claim("a-1-0", "echo ran")
    ballast = fill(small_disk)
    with pytest.raises(EngineTransient) as refused:
        bench.submit(first)
    assert "No space left" in refused.value.message
    assert "goes on by itself" in refused.value.remedy
    ballast.unlink()
    handle = bench.submit(first)
    bench.wait(handle, Seen.GONE)
    assert bench.output("a-1-0") == "ran\n"


class NoRoomForMore(Processes):
    """A machine on which no process can be started for the moment."""

    is_full = False

    def spawn(self, argv, *, env, output):
        if self.is_full:
            raise BlockingIOError("Resource temporarily unavailable")
        return super().spawn(argv, env=env, output=output)


def test_what_cannot_be_started_now_is_started_later(tmp_path):
    bench = Bench(build, tmp_path)
    bench.processes = NoRoomForMore()
    bench.restart()
    bench.processes.is_full = True
    handle = bench.submit(bench.claim("a-1-0", "echo ran", nodes=2))
    assert bench.look(handle).seen is Seen.RUNNING
    bench.processes.is_full = False
    bench.wait(handle, Seen.GONE)
    assert [bench.output("a-1-0", node=node) for node in (0, 1)] == ["ran\n", "ran\n"]


def test_what_could_not_be_placed_waits_and_says_why(bench):
    first = bench.submit(bench.claim("a-1-0", "true", cpus_per_node=WHOLE_MACHINE))
    second = bench.submit(bench.claim("b-1-0", "echo ran", cpus_per_node=WHOLE_MACHINE))
    live = bench.home / "local" / "live"
    bench.until(lambda: not Desk(live.parent).is_alive("a-1-0", 0) and bench.exit("a-1-0"))
    (live / "b-1-0" / "placed.json").mkdir()  # A write of this file fails, all others succeed.
    bench.wait(first, Seen.GONE)
    assert "cannot be started yet" in bench.look(second).reason
    (live / "b-1-0" / "placed.json").rmdir()
    bench.wait(second, Seen.GONE)
    assert bench.output("b-1-0") == "ran\n"


def test_a_cancel_reaches_its_processes_though_the_disk_is_full(small_disk):
    bench = Bench(build, small_disk / "home")
    handle = bench.submit(bench.claim("a-1-0", "echo $$; sleep 60"))
    rank = int(bench.until(lambda: bench.output("a-1-0")))
    ballast = fill(small_disk)
    bench.engine.cancel(handle)
    bench.until(lambda: not is_alive(rank), timeout_s=10)
    ballast.unlink()
    bench.wait(handle, Seen.GONE)


def test_a_handle_that_cannot_be_looked_at_is_unknown_and_hides_no_other(bench):
    handle = bench.submit(bench.claim("a-1-0", "sleep 60"))
    folder = bench.home / "local" / "live" / "a-1-0"
    bench.until(lambda: bench.look(handle).seen is Seen.RUNNING)
    lock = folder / "node-0.lock"
    bench.until(lambda: lock.exists() and lock.stat().st_size)
    kept = lock.read_bytes()
    aside = folder / "kept.lock"
    lock.rename(aside)
    lock.symlink_to(lock)
    seen = bench.engine.observe([handle, Handle("never-1-0")])
    assert [found.seen for found in seen.values()] == [Seen.UNKNOWN, Seen.GONE]
    lock.unlink()
    aside.rename(lock)
    assert lock.read_bytes() == kept
