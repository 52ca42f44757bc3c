"""Rehearsals, really carried out: what preemptions cost, what races gain, what Ctrl-C leaves."""

from __future__ import annotations

import shlex
import shutil
import signal
import subprocess
from pathlib import Path
from statistics import median

import pytest

from counts import REHEARSALS
from rehearsals import command, environment, real_machines, rehearsed

pytestmark = pytest.mark.usefixtures("real_machines")
__all__ = ["real_machines"]
ZONES = ("us-central1-a", "us-central1-b", "us-central1-c", "us-east1-b", "us-east1-c")
STORM = {
    "api": [{"method": "storage.objects.*", "error": 503, "share": "1%"}],
    "faults": [{"at": "0s", "stockout": "L4", "zone": "us-central1-a", "for": "1h"}],
}
SCARCE = {
    # On-demand machines come only after a while, so that spot is taken meanwhile.
    "quotas": [{"metric": "NVIDIA_L4_GPUS", "where": "us-central1", "limit": 0}],
    "capacity": [
        {"zone": "us-east1", "what": "L4", "model": "on-demand", "room": 0, "until": "60s"}
    ],
}
LATE = {
    # Every ask takes a while, and five zones have nothing: what is made first tells of it so late.
    "delays": {"operation": "1s"},
    "faults": [{"at": "0s", "stockout": "L4", "zone": zone, "for": "1h"} for zone in ZONES],
}


@pytest.mark.soak
def test_from_notice_to_training_again(
    tmp_path: Path, record_property: pytest.RecordProperty
) -> None:
    found = []
    for number in range(REHEARSALS):
        story, _ = rehearsed(
            tmp_path / str(number), STORM, "--preempt-at", "30", "--seed", str(number)
        )
        assert story["phase"] == "succeeded" and story["left_behind"] == []
        assert [one["offer"][:13] for one in story["refusals"]] == ["us-central1-a"]
        (one,) = story["interruptions"]
        assert one["outcome"] == "preempted"
        assert one["detect_s"] <= 2.0
        assert one["steps_lost"] == 0 and one["resumed_step"] == one["saved_step"]
        assert one["offer"].partition("/")[0] != one["next_offer"].partition("/")[0]
        found.append((one["again_s"], one["detect_s"]))
    again = sorted(each for each, _ in found)
    record_property("rehearsals", len(found))
    record_property("s from notice to training again, median", round(median(again), 2))
    record_property("s from notice to training again, longest", round(again[-1], 2))
    record_property("s until the notice was seen, longest", round(max(d for _, d in found), 3))


@pytest.mark.soak
@pytest.mark.skipif(REHEARSALS < 2, reason="tests/simulation does it in a moment: for `make soak`")
def test_three_racers_find_machines_sooner_where_five_zones_have_none(
    tmp_path: Path, record_property: pytest.RecordProperty
) -> None:
    where = {"regions": ["us-central1", "us-east1"], "buy": ["spot"]}
    took = {}
    for race in (1, 3):
        _, said = rehearsed(
            tmp_path / str(race),
            LATE,
            steps=1,
            where={**where, "race": race},
            resources={"nodes": 2, "machine": "g2-standard-4"},
        )
        at = {one["code"]: one["at"] for one in said if one["type"] == "event"}
        took[race] = _seconds(at["running"]) - _seconds(at["starting"])
    record_property("s to running nodes, one at a time", round(took[1], 2))
    record_property("s to running nodes, three at once", round(took[3], 2))
    assert took[3] <= took[1] / 2


@pytest.mark.soak
@pytest.mark.skipif(REHEARSALS < 2, reason="it takes a while until machines come: for `make soak`")
def test_spot_that_works_is_left_for_on_demand_in_time_for_the_deadline(
    tmp_path: Path, record_property: pytest.RecordProperty
) -> None:
    steps = 500
    story, said = rehearsed(
        tmp_path,
        SCARCE,
        "--speed",
        "5",
        steps=steps,
        where={"regions": ["us-central1", "us-east1"], "buy": ["spot", "on-demand"]},
        work={"steps": steps, "reference": {"accelerators": "L4", "step_seconds": 0.25}},
        limits={"deadline": "40m", "restarts": 0},
    )
    assert (story["phase"], story["left_behind"], story["steps"]) == ("succeeded", [], steps)
    (one,) = story["interruptions"]
    assert one["outcome"] == "moved"
    assert one["offer"].endswith("/spot") and one["next_offer"].endswith("/on-demand")
    assert one["resumed_step"] == one["saved_step"] > 0 and one["steps_lost"] == 0
    events = [each for each in said if each["type"] == "event"]
    assert [each["code"] for each in events][-5:] == [
        "moving",
        "moved",
        "starting",
        "running",
        "succeeded",
    ]
    record_property("twin's s from notice to training again", round(one["again_s"], 1))


def test_ctrl_c_ends_a_rehearsal_and_leaves_nothing(tmp_path: Path) -> None:
    words = command(tmp_path, {}, steps=2000)
    with subprocess.Popen(
        words,
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as started:
        assert started.stdout is not None
        for line in started.stdout:
            if "is running" in line:
                break
        started.send_signal(signal.SIGINT)
        said, _ = started.communicate(timeout=60)
    assert started.returncode == 130, said
    assert "leaves nothing behind" in said and "Traceback" not in said
    assert list((tmp_path / "t").iterdir()) == []


def _seconds(text: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed")
def test_without_namespaces_it_refuses_with_the_reason(tmp_path: Path) -> None:
    words = shlex.join(command(tmp_path, {}, steps=1))
    forbid = "echo 0 > /proc/sys/user/max_user_namespaces"
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", f"{forbid} && {words}"],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 3, done.stderr
    assert "error[namespaces-missing]" in done.stderr
    assert list((tmp_path / "t").iterdir()) == []
