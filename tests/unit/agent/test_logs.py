"""Logs in the run folder: prompt, bounded, and honest about what was lost."""

from __future__ import annotations

import calendar
import signal
import sys
import time
from pathlib import Path

import pytest

from gangs import Gang, until
from windlass.agent import chunks, logs
from windlass.agent.chunks import Chunks
from windlass.agent.folder import DiskFolder
from windlass.agent.lines import Lines, Raw
from windlass.agent.logs import Log
from windlass.agent.mask import Mask


class Flaky(DiskFolder):
    """A folder that can be cut off, and counts what is written to it."""

    is_cut = False
    writes = 0

    def append(self, name: str, data: bytes) -> None:
        if self.is_cut:
            raise OSError("no space left on device")
        self.writes += 1
        super().append(name, data)


@pytest.fixture
def folder(tmp_path: Path) -> Flaky:
    return Flaky(tmp_path)


def content(folder: DiskFolder) -> bytes:
    return b"".join(folder.read(name) or b"" for name in folder.list("rank-0"))


def newest(where: Path) -> bytes:
    """The end of the newest chunk."""
    last = max(where.glob("log-*.txt"), default=None)
    return b"" if last is None else last.read_bytes()[-100:]


def make_log(folder: DiskFolder, **options: int) -> Log:
    return Log(Chunks(folder, "rank-0/log", "txt"), Raw(Mask([])), **options)


def test_output_is_written_at_once_but_not_more_than_fifty_times_a_second(folder: Flaky) -> None:
    log = make_log(folder)
    log.feed(b"first\n", 10.0, 0.0)
    assert log.due() <= 10.0
    log.flush(10.0, 0.0)
    assert content(folder) == b"first\n"
    now = 10.0
    while now < 11.0:
        now += 0.001
        log.feed(b"more\n", now, 0.0)
        log.flush(now, 0.0)
    assert 40 <= folder.writes <= 52


def test_an_unfinished_line_is_written_after_a_second(folder: Flaky) -> None:
    log = Log(Chunks(folder, "rank-0/log", "txt"), Lines(Mask([])))
    log.feed(b"loading", 10.0, 0.5)
    log.flush(10.5, 1.0)
    assert content(folder) == b""
    assert log.due() == 11.0
    log.flush(11.0, 1.5)
    assert content(folder) == b"1970-01-01T00:00:01.500Z loading"


def test_a_full_chunk_is_followed_by_the_next(folder: Flaky) -> None:
    log = make_log(folder)
    for second in range(3):
        log.feed(b"x" * chunks.CHUNK_BYTES, float(second), 0.0)
        log.flush(float(second), 0.0)
    assert folder.list("rank-0") == [f"rank-0/log-0000{k}.txt" for k in (1, 2, 3)]


def test_where_objects_cannot_grow_a_chunk_is_written_anew_until_it_is_full(tmp_path: Path) -> None:
    class Bucket(DiskFolder):
        can_append = False

    folder = Bucket(tmp_path)
    log = make_log(folder)
    for second in range(0, 20, 2):
        log.feed(b"x\n", float(second), 0.0)
        log.flush(float(second), 0.0)
    assert folder.list("rank-0") == ["rank-0/log-00001.txt"]
    assert content(folder).count(b"x\n") == 10
    log.feed(b"y" * chunks.WHOLE_BYTES + b"\n", 30.0, 0.0)
    log.flush(30.0, 0.0)
    log.feed(b"z\n", 32.0, 0.0)
    log.flush(32.0, 0.0)
    assert folder.list("rank-0") == ["rank-0/log-00001.txt", "rank-0/log-00002.txt"]
    assert folder.read("rank-0/log-00002.txt") == b"z\n"


def test_while_cut_off_the_end_is_kept_and_the_loss_is_told(folder: Flaky) -> None:
    log = make_log(folder)
    folder.is_cut = True
    line = b"y" * 99 + b"\n"
    for tick in range(100):
        log.feed(line * 1000, tick / 10, 0.0)
        log.flush(tick / 10, 0.0)
        assert not log.is_full
    folder.is_cut = False
    log.feed(b"last\n", 20.0, 0.0)
    log.flush(20.0, 0.0)
    said = content(folder)
    note, _, kept = said.partition(b"\n")
    lost = int(note.split()[2])
    assert note.endswith(b"bytes of log were lost here: the run folder could not be written")
    assert kept.endswith(line + b"last\n") and len(kept) <= logs.KEPT_BYTES
    assert lost + len(kept) == 100 * 1000 * 100 + 5


def test_a_log_over_its_cap_is_cut_with_a_note(folder: Flaky) -> None:
    log = make_log(folder, cap_bytes=1000)
    for tick in range(100):
        log.feed(b"z" * 49 + b"\n", float(tick), 0.0)
        log.flush(float(tick), 0.0)
    log.close(100.0, 0.0)
    assert content(folder).count(b"z" * 49) == 20
    assert content(folder).endswith(b"[windlass] log cut here: it is over 1000 bytes\n")


def test_a_flood_neither_blocks_the_rank_for_long_nor_eats_memory(
    tmp_path: Path, record_property: pytest.RecordProperty
) -> None:
    flood = (
        "import sys, time; t = time.monotonic()\n"
        "for _ in range(1000): sys.stdout.write(('x' * 99 + chr(10)) * 1000)\n"
        "print('took', time.monotonic() - t)"
    )
    (tmp_path / "flood.py").write_text(flood)
    gang = Gang(tmp_path, command=f"{sys.executable} '{tmp_path}/flood.py'; sleep 1000")
    gang.start()
    where = gang.folder / gang.rank_folder()
    until(lambda: where.exists() and b"took" in newest(where), timeout_s=30)
    status = Path(f"/proc/{gang.agent_pid()}/status").read_text()
    peak_mb = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    gang.signal(signal.SIGUSR1)
    gang.wait()
    took_s = float(gang.log().rpartition("took ")[2])
    record_property("seconds for 100 MB", round(took_s, 2))
    record_property("agent's peak memory in MB", round(peak_mb))
    assert gang.log().count("x" * 99 + "\n") == 1_000_000
    assert took_s < 15
    assert peak_mb < 64


def test_lines_carry_the_time_of_day_in_utc(tmp_path: Path) -> None:
    gang = Gang(tmp_path, command="echo hello; echo world >&2")
    before = time.time()
    gang.start()
    gang.wait()
    lines = gang.chunks(gang.rank_folder()).decode().splitlines()
    assert [line[25:] for line in lines] == ["hello", "world"]
    stamp = time.strptime(lines[0][:19], "%Y-%m-%dT%H:%M:%S")
    assert -2 < calendar.timegm(stamp) - before < 60


def test_secrets_are_masked_in_every_log(tmp_path: Path) -> None:
    gang = Gang(
        tmp_path,
        setup="echo setup $TOKEN",
        command="echo rank $TOKEN; printf %s ${TOKEN:0:4}; sleep 1.2; echo ${TOKEN:4}",
    )
    gang.secrets = {"TOKEN": "hf_abcdefgh"}
    gang.start()
    gang.wait()
    assert gang.setup_log() == "setup ***\n"
    assert gang.log() == "rank ***\n***\n"
