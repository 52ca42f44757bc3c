"""Clock and chance."""

from __future__ import annotations

import time

from windlass.agent.folder import folder_url
from windlass.ports.entropy import ALPHABET, SeededEntropy, seeded
from windlass.ports.world import system_world


def test_the_clock_is_the_machines():
    clock = system_world().clock
    assert abs(clock.now() - time.time()) < 5.0
    assert clock.monotonic() <= clock.monotonic()


def test_the_same_seed_gives_the_same_names():
    assert [SeededEntropy(7).id() for _ in range(3)] == [SeededEntropy(7).id() for _ in range(3)]
    assert seeded(7).random() == seeded(7).random()


def test_names_are_safe_to_read_aloud_and_to_type():
    name = SeededEntropy().id(200)
    assert len(name) == 200
    assert set(name) <= set(ALPHABET)
    assert not set(ALPHABET) & set("aeiou01l")


def test_names_hardly_ever_meet():
    entropy = SeededEntropy()
    assert len({entropy.id() for _ in range(1000)}) > 990


def test_jitter_is_around_its_base():
    entropy = SeededEntropy(3)
    tries = [entropy.jitter(10.0) for _ in range(200)]
    assert 5.0 <= min(tries) < 7.0 < 13.0 < max(tries) <= 15.0


def test_folders_are_opened_by_their_address(tmp_path):
    folder = system_world().open_folder(folder_url(tmp_path / "a b"))
    folder.write("x", b"1")
    assert (tmp_path / "a b" / "x").read_bytes() == b"1"
