"""What a machine sees of the host is chosen with care."""

from __future__ import annotations

import os
from pathlib import Path

from windlass.twin.machines import layout


def test_the_root_is_one_layer_for_the_privileged():
    seen = layout.View(hidden=("/a/b", "/c"), kept=("/c/d",))
    first, second = layout.layers(seen, is_privileged=True)
    assert (first.lower, first.target, first.hidden) == ("/", "/", ("a/b", "c"))
    assert (second.lower, second.target, second.hidden) == ("/c/d", "/c/d", ())
    assert layout.Layer.from_json(first.to_json()) == first


def test_without_privileges_no_layer_holds_a_mount_or_a_hidden_place():
    seen = layout.view([], [])
    first, *others = layout.layers(seen, is_privileged=False)
    assert (first.lower, first.target) == ("", "/")
    points = layout.mount_points()
    for layer in others:
        assert not any(point.startswith(f"{layer.lower}/") for point in points)
        assert layer.lower not in (*points, *seen.hidden, *layout.OWN)
    assert "/etc" in {layer.target for layer in others}


def test_a_home_is_hidden_and_a_program_in_it_kept(tmp_path):
    home = tmp_path / "home"
    (home / "python" / "secrets").mkdir(parents=True)
    seen = layout.view([home, home / "python" / "secrets"], [home / "python", Path("/usr")])
    assert os.path.realpath(home) in seen.hidden
    assert os.path.realpath(home / "python") in seen.kept
    assert "/usr" not in seen.kept
    layers = {layer.target: layer for layer in layout.layers(seen, is_privileged=True)}
    assert layers[os.path.realpath(home / "python")].hidden == ("secrets",)


def test_a_home_that_is_the_root_hides_nothing():
    seen = layout.view([Path("/"), Path("/usr")], [])
    assert "/" not in seen.hidden
    assert "/usr" not in seen.hidden
