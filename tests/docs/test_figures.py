"""Figures that pages quote are the ones in the code."""

from __future__ import annotations

import re

import pytest

import tree
from windlass.agent import chunks, logs, mask, node
from windlass.controller import backoff, commands, decide, ending, loop, workers
from windlass.engines import rented
from windlass.engines.local import engine as local
from windlass.engines.local import nodes
from windlass.engines.tpu import sight as tpu_sight
from windlass.engines.vertex import sight as vertex_sight
from windlass.simulation import engine as simulated
from windlass.spec.model import Limits

RECOVERY = "docs/concepts/recovery.md"
CONTROLLER = "docs/design/controller.md"
FENCE = "docs/design/fence.md"
LOCAL = "docs/engines/local.md"
LOCAL_DESIGN = "docs/design/local-engine.md"
silent_s = node.LEASE_S + ending.LEASE_MARGIN_S

QUOTED = [
    (RECOVERY, f"heartbeat every {node.HEARTBEAT_S:g} s"),
    (RECOVERY, f"| {node.LEASE_WARNING_S:g} s | the agent sends its ranks SIGTERM"),
    (RECOVERY, f"| {node.LEASE_S:g} s | the lease has run out"),
    (RECOVERY, f"| {silent_s:g} s | the controller counts the node as lost"),
    (RECOVERY, f"margin of {ending.LEASE_MARGIN_S:g} s"),
    (RECOVERY, f"with status {node.EXIT_PREEMPTED} (`windlass.runtime.leave()`)"),
    (RECOVERY, f"`limits.restarts` ({Limits().restarts})"),
    (RECOVERY, f"wait {backoff.restart_delay_s(2):g} s, {backoff.restart_delay_s(3):g} s"),
    (RECOVERY, f"up to {backoff.RESTART_MAX_S:g} s. An attempt"),
    (RECOVERY, f"for {backoff.LONG_ENOUGH_S:g} s starts the count anew"),
    (RECOVERY, f"after {backoff.SUBMIT_FIRST_S:g} s, doubling up to {backoff.SUBMIT_MAX_S:g} s"),
    (RECOVERY, f"{local.NOTICE_S:g} s on the local engine"),
    (RECOVERY, f"{rented.NOTICE_S:g} s on Google's engines"),
    (RECOVERY, f"silent after {commands.SILENT_S:g} s"),
    (RECOVERY, f"after {tpu_sight.PATIENCE_S:g} s the next offer is asked for beside it"),
    (RECOVERY, f"Vertex AI is given {vertex_sight.PATIENCE_S / 60:g} minutes"),
    ("docs/engines/tpu.md", f"nothing is free for {tpu_sight.PATIENCE_S:g} s"),
    ("docs/engines/vertex.md", f"after {vertex_sight.PATIENCE_S / 60:g} minutes the next offer"),
    (FENCE, f"older than {silent_s:g} s. Older"),
    (FENCE, f"counts its {node.LEASE_S:g} s"),
    (FENCE, f"older than {node.LEASE_WARNING_S:g} s does not start"),
    (FENCE, f"give their ranks {node.GANG_GRACE_S:g} s"),
    (CONTROLLER, f"looked at after {loop.LOOK_FIRST_S * 1000:g} ms"),
    (CONTROLLER, f"up to {loop.LOOK_LAST_S:g} s, or {loop.LOOK_LAST_PENDING_S:g} s while"),
    (CONTROLLER, f"At most {loop.STEPS_MAX} steps"),
    (CONTROLLER, f"left alone for {loop.BUG_PAUSE_S:g} s"),
    (CONTROLLER, f"Every {loop.SWEEP_EVERY_S:g} s each engine"),
    (CONTROLLER, f"in the store, {loop.LEASE_TTL_S:g} s"),
    (CONTROLLER, f"ends {workers.IDLE_S:g} s after the last run"),
    ("docs/concepts/runs.md", f"ends {workers.IDLE_S:g} s after the last run"),
    (LOCAL, f"gives ranks {local.NOTICE_S:g} s between SIGTERM and SIGKILL"),
    (LOCAL, f"does not obey within {local.KILL_AFTER_S:g} s"),
    (LOCAL_DESIGN, f"lock after {nodes.SPAWN_TIMEOUT_S:g} s never will"),
    ("docs/concepts/run-folder.md", f"every {node.HEARTBEAT_S:g} s"),
    ("docs/concepts/run-folder.md", f"a chunk grows to {chunks.CHUNK_BYTES >> 20} MiB"),
    ("docs/concepts/run-folder.md", f"end at {logs.CAP_BYTES >> 20} MiB"),
    ("docs/concepts/secrets.md", f"fewer than {mask.SHORTEST} characters are not masked"),
    ("docs/concepts/secrets.md", f"fewer than {mask.SHORTEST_LINE} characters are left"),
    ("docs/concepts/simulation.md", f"up to {simulated.STALE_S:g} s ago"),
]


@pytest.mark.parametrize(("page", "words"), QUOTED)
def test_a_figure_on_a_page_is_the_one_in_the_code(page, words):
    assert words in re.sub(r"\s+", " ", tree.text(page).replace("**", ""))


def test_ranks_that_lost_a_peer_are_killed_within_the_seconds_that_the_pages_name():
    waits = [backoff.cancel_delay_s(tries) for tries in range(1, decide.LOST_GANG_TRIES + 1)]
    assert sum(waits) < local.NOTICE_S / 5
