"""One suite over every registered engine; a test says which promise of the protocol it holds."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.engines import BENCHES
from conformance.google_bench import session_twin, stop_twin
from windlass.engines.base import Admits, Explains, Handle, Seen
from windlass.engines.registry import engine_names
from windlass.errors import EngineRejected


@pytest.fixture(scope="module", autouse=True)
def twin():
    """Engines that rent share one; it is there before any test, and gone after the last."""
    session_twin()
    yield
    stop_twin()


@pytest.fixture(params=engine_names())
def bench(request, tmp_path):
    assert request.param in BENCHES, f"engine {request.param} has no bench in engines.py"
    bench = BENCHES[request.param](tmp_path)
    yield bench
    bench.close()


def test_promise_1_limits_are_constant(bench):
    assert bench.engine.limits() == bench.engine.limits()
    assert bench.engine.limits().nodes_max >= 1


def test_promise_2_render_is_pure(bench):
    claim = bench.claim("r-1-0", "true")
    assert bench.engine.render(claim) == bench.engine.render(dataclasses.replace(claim))
    assert bench.engine.owned() == []


def test_promise_3_a_second_submit_returns_the_same_handle_and_starts_nothing(bench):
    claim = bench.claim("r-1-0", "echo started; sleep 60")
    handle = bench.submit(claim)
    assert bench.submit(claim) == handle
    bench.until(lambda: "started" in bench.output("r-1-0"))
    assert bench.submit(claim) == handle
    bench.engine.cancel(handle, now=True)
    bench.wait(handle, Seen.GONE)
    assert bench.output("r-1-0") == "started\n"


def test_promise_3_a_late_submit_of_a_claim_that_is_gone_starts_nothing(bench):
    claim = bench.claim("r-1-0", "echo started")
    handle = bench.submit(claim)
    bench.wait(handle, Seen.GONE)
    assert bench.submit(claim) == handle
    assert bench.look(handle).seen is Seen.GONE
    assert bench.output("r-1-0") == "started\n"


def test_promise_3_holds_over_a_new_controller(bench):
    claim = bench.claim("r-1-0", "echo started; sleep 60")
    handle = bench.submit(claim)
    bench.until(lambda: "started" in bench.output("r-1-0"))
    bench.restart()
    assert bench.submit(claim) == handle
    assert bench.look(handle).seen is Seen.RUNNING
    bench.engine.cancel(handle, now=True)
    bench.wait(handle, Seen.GONE)
    assert bench.output("r-1-0") == "started\n"


def test_promise_4_every_handle_is_answered_for(bench):
    live = bench.submit(bench.claim("r-1-0", "sleep 60"))
    unknown = Handle("never-1-0")
    seen = bench.engine.observe([live, unknown])
    assert set(seen) == {live, unknown}
    assert seen[unknown].seen is Seen.GONE
    assert bench.engine.observe([]) == {}


def test_promise_4_a_claim_that_ended_by_itself_is_gone(bench):
    handle = bench.submit(bench.claim("r-1-0", "echo one", nodes=2))
    bench.wait(handle, Seen.GONE)
    assert bench.exit("r-1-0", node=1)["outcome"] == "succeeded"


def test_promise_5_cancel_gives_ranks_their_notice(bench):
    command = "trap 'echo told; exit 0' TERM; echo up; while :; do sleep 0.05; done"
    handle = bench.submit(bench.claim("r-1-0", command))
    bench.until(lambda: "up" in bench.output("r-1-0"))
    bench.engine.cancel(handle)
    bench.engine.cancel(handle)
    bench.wait(handle, Seen.GONE)
    assert "told" in bench.output("r-1-0")


def test_promise_5_cancel_now_does_not_wait_for_anybody(bench):
    handle = bench.submit(bench.claim("r-1-0", "trap '' TERM; echo up; while :; do sleep 1; done"))
    bench.until(lambda: "up" in bench.output("r-1-0"))
    bench.engine.cancel(handle)
    assert bench.look(handle).seen is Seen.RUNNING
    bench.engine.cancel(handle, now=True)
    bench.wait(handle, Seen.GONE, timeout_s=10)


def test_promise_5_cancelling_what_is_not_there_does_nothing(bench):
    bench.engine.cancel(Handle("never-1-0"))
    bench.engine.cancel(Handle("never-1-0"), now=True)


def test_promise_5_cancel_at_once_after_submit_leaves_nothing(bench):
    handles = [bench.submit(bench.claim(f"r{n}-1-0", "sleep 60")) for n in range(4)]
    for handle in handles:
        bench.engine.cancel(handle, now=True)
    for handle in handles:
        bench.wait(handle, Seen.GONE)
    assert bench.engine.owned() == []


def test_promise_6_owned_finds_what_an_earlier_controller_started(bench):
    handle = bench.submit(bench.claim("r-1-0", "sleep 60"))
    bench.restart()
    (owned,) = bench.engine.owned()
    assert (owned.claim, owned.handle) == ("r-1-0", handle)
    bench.engine.cancel(handle, now=True)
    bench.wait(handle, Seen.GONE)
    assert bench.engine.owned() == []


def test_promise_7_what_is_admitted_can_be_submitted(bench):
    if not isinstance(bench.engine, Admits):
        pytest.skip("this engine cannot tell beforehand")
    bench.engine.admit(bench.claim("r-1-0", "true"))
    assert bench.engine.owned() == []
    with pytest.raises(EngineRejected):
        bench.engine.admit(bench.claim("r-1-0", "true", options={"nonsense": 1}))


def test_promise_8_an_inventory_is_in_plain_words(bench):
    if not isinstance(bench.engine, Explains):
        pytest.skip("this engine has nothing to tell")
    assert all(isinstance(text, str) and text for text in bench.engine.inventory().values())
