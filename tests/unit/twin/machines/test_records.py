"""A process is known by more than its number."""

from __future__ import annotations

import dataclasses
import os
import subprocess

from windlass.twin.machines import records


def test_this_process_runs_and_another_of_its_number_does_not():
    mine = records.identity(os.getpid())
    assert records.is_running(mine)
    assert not records.is_running(dataclasses.replace(mine, began=mine.began + 1))
    assert not records.is_running(dataclasses.replace(mine, boot="another"))


def test_a_dead_process_that_nobody_asked_about_does_not_run():
    with subprocess.Popen(["sleep", "1000"]) as child:
        who = records.identity(child.pid)
        assert records.is_running(who)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not records.is_running(who)
    assert not records.is_running(who)


def test_a_record_is_read_as_it_was_written(tmp_path):
    assert records.read(tmp_path) is None
    mine = records.identity(os.getpid())
    record = records.Record(supervisor=mine, init=mine, address="127.0.0.9")
    records.write(tmp_path, record)
    assert records.read(tmp_path) == record
    assert records.read_exit(tmp_path) is None
    records.write_exit(tmp_path, 3)
    assert records.read_exit(tmp_path) == 3
    (tmp_path / records.RUNNING).write_text("half a rec")
    assert records.read(tmp_path) is None
