"""The start-up script and its programs: they run on a machine that has only Python and bash."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import pytest

from claims import make_claim_request
from windlass.engines import bootstrap_programs as programs
from windlass.engines.bootstrap import OF_GANGS, RUN_AND_HEED, Manner, node_order, startup_script
from windlass.engines.tpu import worker
from windlass.engines.vertex import replica

PROGRAMS = {
    "machine by name": f"{programs.MACHINE}\n{programs.BY_NAME}",
    "machine of a slice": f"{programs.MACHINE}\n{worker.MACHINE}",
    "machine of a training": f"{programs.MACHINE}\n{replica.MACHINE}",
    "fetch": programs.FETCH,
    "await": programs.AWAIT,
    "expire": programs.EXPIRE,
    "give back": programs.GIVE_BACK,
    "hurry": programs.HURRY,
}
CLUSTER = {"workerpool0": ["first:2222"], "workerpool1": ["second:2222", "third:2222"]}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_written_in_the_python_of_old_images(name):
    ast.parse(PROGRAMS[name], feature_version=(3, 9))


def test_a_script_is_one_that_bash_understands():
    claim = make_claim_request("r-1-0", folder="gs://b/r")
    order = node_order(claim, project="lab", node_from="instance/name")
    run = RUN_AND_HEED.format(meanwhile="")
    manner = Manner(run=run, leave="true\n", programs=OF_GANGS)
    script = startup_script(order, agent_url="gs://b/agent.pyz", manner=manner)
    subprocess.run(["bash", "-n", "-c", script], check=True)
    assert json.dumps("gs://b/r") in script


@pytest.mark.parametrize(
    ("pool", "index", "nodes", "expected"),
    [
        ("workerpool0", 0, 3, "0 first"),
        ("workerpool1", 0, 3, "1 second"),
        ("workerpool1", 1, 3, "2 third"),
    ],
)
def test_replicas_count_through_the_pools(pool, index, nodes, expected):
    spec = {"cluster": CLUSTER, "task": {"type": pool, "index": index}}
    assert told(spec, nodes) == expected


def test_hosts_of_a_slice_that_the_cluster_does_not_list_have_numbers_of_their_own():
    spec = {"cluster": {"workerpool0": ["first:2222"]}, "task": {"type": "workerpool0", "index": 0}}
    more = {"TPU_WORKER_ID": "2", "TPU_WORKER_HOSTNAMES": "h0,h1,h2,h3"}
    assert told(spec, 4, **more) == "2 h2"


def told(spec, nodes: int, **more: str) -> str:
    """Which node a replica takes itself for, and under which name."""
    program = f"{PROGRAMS['machine of a training']}\nprint(node(ORDER), address(ORDER))"
    order = f"ORDER = {{'nodes': {nodes}}}\n"
    done = subprocess.run(
        [sys.executable, "-c", order + program],
        env={"CLUSTER_SPEC": json.dumps(spec), **more},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


NOW = 1000.0


@pytest.mark.parametrize(
    ("ends_in_s", "lasts_s", "node", "came_at", "expected"),
    [
        pytest.param(300, 9999, 0, None, 300, id="at a moment, however late it came"),
        pytest.param(9999, 200, 0, None, 200, id="so long after it came"),
        pytest.param(9999, 200, 0, NOW - 150, 50, id="not anew after a reboot"),
        pytest.param(-5, 200, 0, None, 0, id="at once when it came too late"),
        pytest.param(300, 9999, 1, None, 480, id="others later, should the first be dead"),
    ],
)
def test_a_deadman_strikes_when_the_time_is_over(
    tmp_path, ends_in_s, lasts_s, node, came_at, expected
):
    """Its machine's sleep is a clock's step, so that the test sees when it would have ended."""
    machine = f"""
import os, sys
class time:
    at = {NOW}
    def monotonic(): return time.at
    def sleep(seconds): time.at += seconds
def google_now(): return time.at
def order(): return {{}}
def node(order): return {node}
"""
    (tmp_path / "machine.py").write_text(machine)
    if came_at is not None:
        (tmp_path / "came_at").write_text(repr(came_at))
    (tmp_path / "expire.py").write_text(f"{programs.EXPIRE}\nprint(time.at)")
    command = [sys.executable, "expire.py", str(NOW + ends_in_s), str(lasts_s), "180"]
    done = subprocess.run(
        command, cwd=tmp_path, check=True, timeout=10, capture_output=True, text=True
    )
    assert expected <= float(done.stdout) - NOW < expected + 1.0
