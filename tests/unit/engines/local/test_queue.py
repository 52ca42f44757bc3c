"""Who may start on a machine, and who waits for what."""

from __future__ import annotations

from claims import make_gpus, make_local_request
from windlass.engines.local.queue import Capacity, Placement, Room, Started

GIB = 2**30


def machine(*gpus, cpus=8, memory_gib=64):
    return Capacity(cpus=cpus, memory_bytes=memory_gib * GIB, gpus=make_gpus(*gpus))


def offer(capacity, *waiting, started=()):
    """What each claim is told, in the order in which they came."""
    room = Room(capacity, started)
    return {request.claim: room.offer(request) for request in waiting}


def claims_started(answers):
    return [claim for claim, answer in answers.items() if isinstance(answer, Placement)]


def holding(request, *gpus):
    size = request.gpus_per_node
    nodes = tuple(tuple(gpus[n * size : (n + 1) * size]) for n in range(request.nodes))
    return Started(request=request, placement=Placement(claim=request.claim, gpus=nodes))


def test_every_node_has_gpus_of_its_own():
    answers = offer(
        machine(*["L4"] * 4),
        make_local_request("a-1-0", on="L4:1", nodes=2),
        make_local_request("b-1-0", on="L4:2"),
    )
    assert answers["a-1-0"].gpus == ((0,), (1,))
    assert answers["b-1-0"].gpus == ((2, 3),)


def test_gpus_that_are_held_are_not_given_again():
    held = holding(make_local_request("a-1-0", on="L4:2"), 0, 2)
    answers = offer(machine(*["L4"] * 4), make_local_request("b-1-0", on="L4:2"), started=[held])
    assert answers["b-1-0"].gpus == ((1, 3),)


def test_all_gpus_of_a_claim_are_of_one_model_the_first_that_has_enough():
    answers = offer(machine("L4", "T4", "T4"), make_local_request("a-1-0", on="L4:2,T4:2"))
    assert answers["a-1-0"].gpus == ((1, 2),)


def test_a_large_claim_is_not_starved_by_small_ones_behind_it():
    held = holding(make_local_request("a-1-0", on="L4:2"), 0, 1)
    answers = offer(
        machine(*["L4"] * 4),
        make_local_request("large-1-0", on="L4:4"),
        make_local_request("small-1-0", on="L4:1"),
        started=[held],
    )
    assert claims_started(answers) == []
    assert answers["large-1-0"] == ("4 GPUs are needed and 2 free, number 1 in the queue, behind a")
    assert answers["small-1-0"] == ("1 GPU is needed and 0 free, number 2 in the queue, behind a")


def test_gpus_that_a_claim_found_are_kept_while_it_waits_for_processors():
    busy = holding(make_local_request("a-1-0", cpus_per_node=8.0))
    answers = offer(
        machine("L4", cpus=9),
        make_local_request("first-1-0", on="L4:1", cpus_per_node=8.0),
        make_local_request("second-1-0", on="L4:1"),
        started=[busy],
    )
    assert claims_started(answers) == []


def test_a_claim_without_gpus_passes_one_that_waits_for_them():
    held = holding(make_local_request("a-1-0", on="L4:1"), 0)
    answers = offer(
        machine("L4"),
        make_local_request("gpu-1-0", on="L4:1"),
        make_local_request("cpu-1-0"),
        started=[held],
    )
    assert claims_started(answers) == ["cpu-1-0"]


def test_a_claim_for_another_model_passes_one_that_waits():
    held = holding(make_local_request("a-1-0", on="L4:1"), 0)
    answers = offer(
        machine("L4", "T4"),
        make_local_request("b-1-0", on="L4:1"),
        make_local_request("c-1-0", on="T4:1"),
        started=[held],
    )
    assert claims_started(answers) == ["c-1-0"]


def test_processors_are_not_given_past_a_claim_that_waits_for_them():
    held = holding(make_local_request("a-1-0", cpus_per_node=6.0))
    answers = offer(
        machine(),
        make_local_request("large-1-0", cpus_per_node=4.0),
        make_local_request("small-1-0", cpus_per_node=1.0),
        started=[held],
    )
    assert claims_started(answers) == []
    assert answers["large-1-0"].startswith("all 8 processors are in use")


def test_a_gang_larger_than_the_machine_has_it_alone():
    gang = make_local_request("gang-1-0", nodes=20)
    other = make_local_request("b-1-0")
    assert claims_started(offer(machine(), gang, other)) == ["gang-1-0"]
    assert claims_started(offer(machine(), gang, started=[holding(other)])) == []
    assert claims_started(offer(machine(), other, started=[holding(gang)])) == []


def test_a_gang_larger_than_the_machine_is_not_starved():
    gang = make_local_request("gang-1-0", nodes=20)
    held = holding(make_local_request("a-1-0"))
    answers = offer(machine(), gang, make_local_request("b-1-0"), started=[held])
    assert claims_started(answers) == []


def test_memory_that_is_promised_is_counted():
    half = {"memory_bytes_per_node": 40 * GIB}
    answers = offer(
        machine(), make_local_request("a-1-0", **half), make_local_request("b-1-0", **half)
    )
    assert claims_started(answers) == ["a-1-0"]
    assert answers["b-1-0"] == "not enough memory is free, number 1 in the queue, behind a"


def test_any_model_takes_what_there_is():
    answers = offer(machine("L4", "L4"), make_local_request("a-1-0", on="GPU:2"))
    assert answers["a-1-0"].gpus == ((0, 1),)


def test_only_the_first_of_many_holders_are_named():
    held = [holding(make_local_request(f"r{n}-1-0", cpus_per_node=2.0)) for n in range(4)]
    (answer,) = offer(machine(), make_local_request("w-1-0"), started=held).values()
    assert answer.endswith("behind r0, r1, r2 and 1 more")


def test_tenths_of_a_processor_add_up():
    tenths = [make_local_request(f"r{n}-1-0", cpus_per_node=0.1) for n in range(10)]
    assert len(claims_started(offer(machine(cpus=1), *tenths))) == 10
