"""A spec that names a container goes where containers are run, or is refused with its line."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from windlass.engines.base import Limits
from windlass.errors import SpecInvalid
from windlass.governance.containers import check_image
from windlass.spec.load import load_spec

TEXT = "name: llm\nrun: python train.py\nimage: python:3.12-slim\n"


def engine(**facts):
    limits = Limits(nodes_max=8, start_timeout_s=1.0, stale_s=1.0, notice_s=1.0, **facts)
    return SimpleNamespace(name="somewhere", limits=lambda: limits)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "train.yaml"
    file.write_text(TEXT)
    return file


def test_a_container_is_refused_where_none_is_run(path):
    with pytest.raises(SpecInvalid) as caught:
        check_image(load_spec(path), engine(is_rented=True), path=path)
    (problem,) = caught.value.problems
    assert (problem.code, problem.line, problem.column) == ("no-containers", 3, 1)
    assert (problem.path, problem.source) == (str(path), "image: python:3.12-slim")
    assert "somewhere runs no containers" in problem.message and "setup" in problem.remedy


def test_a_container_is_welcome_where_it_is_run_and_ignored_where_nothing_is_rented(path):
    check_image(load_spec(path), engine(is_rented=True, runs_containers=True), path=path)
    check_image(load_spec(path), engine(), path=path)


def test_a_spec_without_one_may_go_anywhere(path):
    path.write_text("name: llm\nrun: python train.py\n")
    check_image(load_spec(path), engine(is_rented=True), path=path)
