"""The start-up script and its programs: they run on a machine that has only Python and bash."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import pytest

from claims import make_claim_request
from windlass.engines import bootstrap_programs as programs
from windlass.engines.bootstrap import RUN_AND_HEED, Manner, node_order, startup_script
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
    manner = Manner(run=RUN_AND_HEED.format(meanwhile=""), leave="true\n", is_gang=True)
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


def test_a_deadman_strikes_when_the_time_is_over(tmp_path):
    machine = "import time\ndef google_now(): return time.time()\ndef order(): return {}\n"
    (tmp_path / "machine.py").write_text(f"{machine}def node(order): return 0\n")
    (tmp_path / "expire.py").write_text(programs.EXPIRE)
    command = "import time, runpy, sys; sys.argv = ['x', str(time.time() + 0.2), '60']; "
    command += "runpy.run_path('expire.py')"
    subprocess.run([sys.executable, "-c", command], cwd=tmp_path, check=True, timeout=10)
