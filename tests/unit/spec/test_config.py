"""The configuration file: all optional, and its problems reported like a spec's."""

from __future__ import annotations

import pytest

from windlass.errors import OptionRefused, SpecInvalid
from windlass.spec.config import Config, ConfigFile, load_config, parse_config

FULL = """\
engines: [local, slurm]
store: postgresql://db.internal/windlass
project: my-project-123
impersonate: ci@my-project-123.iam.gserviceaccount.com
run_folder: gs://bucket/runs
engine: {compute: {network: windlass}}
policy: policy.yaml
owner: Zoë
"""


def test_every_key_reaches_the_configuration():
    assert parse_config(FULL, path="config.yaml") == Config(
        engines=("local", "slurm"),
        store="postgresql://db.internal/windlass",
        project="my-project-123",
        impersonate="ci@my-project-123.iam.gserviceaccount.com",
        run_folder="gs://bucket/runs",
        engine={"compute": {"network": "windlass"}},
        policy="policy.yaml",
        owner="Zoë",
    )


def test_a_missing_file_means_the_defaults(tmp_path):
    assert load_config(tmp_path / "config.yaml") == Config()


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n", "{}\n"])
def test_an_empty_file_means_the_defaults(tmp_path, text):
    path = tmp_path / "config.yaml"
    path.write_text(text)
    assert load_config(path) == Config()


def test_a_folder_in_place_of_the_file_is_refused(tmp_path):
    with pytest.raises(OptionRefused):
        load_config(tmp_path)


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("engins: local", "unknown-key", "`engines`"),
        ("engine: {compute: 3}", "wrong-type", "compute"),
        ("impersonate: zoe@gmail.com", "bad-account", "email"),
        ("store: mysql://a/b", "bad-url", "sqlite:///path"),
        ("store: postgres://a/b", "bad-url", "`postgresql`"),
        ("store: runs.db", "bad-url", "sqlite:///path"),
        ("store: sqlite://runs.db", "bad-url", "sqlite:///runs.db"),
        ("store: 'sqlite:///'", "bad-url", "sqlite:///path"),
        ("project: My Project", "bad-project", "id"),
        ("run_folder: az://a", "bad-url", "gs://"),
        ("run_folder: 'gs://'", "bad-url", "gs://"),
        ("policy: ''", "bad-path", "policy"),
        ("owner: a;b", "bad-name", "letters"),
        ("engines: [Local]", "bad-name", "local"),
        ("- a", "not-a-mapping", "engines"),
        ("a: [", "yaml-syntax", ""),
    ],
)
def test_a_wrong_configuration_says_what_to_write(text, code, says):
    with pytest.raises(SpecInvalid) as caught:
        parse_config(text, path="config.yaml")
    problem = caught.value.problems[0]
    assert (problem.code, problem.path, problem.line) == (code, "config.yaml", 1)
    assert says in problem.remedy


def test_a_file_that_is_changed_is_read_again_and_one_that_says_the_same_is_the_same(tmp_path):
    path = tmp_path / "config.yaml"
    file = ConfigFile(path)
    first = file.current()
    assert first == Config() and file.current() is first
    path.write_text("project: my-project-123\n")
    second = file.current()
    assert second.project == "my-project-123"
    path.write_text("# a word\nproject: my-project-123\n")
    assert file.current() is second
    path.unlink()
    assert file.current() == Config()


def test_a_file_that_becomes_wrong_changes_nothing_but_one_that_was_never_right_is_told(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("project: my-project-123\n")
    file = ConfigFile(path)
    before = file.current()
    path.write_text("project: [\n")
    assert file.current() is before
    with pytest.raises(SpecInvalid):
        ConfigFile(path).current()
