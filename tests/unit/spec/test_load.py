"""A good spec becomes the values it says, with the defaults of the documentation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.errors import OptionRefused, SpecInvalid
from windlass.spec.load import load_spec, parse_spec
from windlass.spec.model import Accelerators, Checkpoint, Launch, Limits, Resources, Spec, Where

FULL = """\
name: llm-pretrain
kind: train
run: python train.py --config base.yaml
launch: torchrun
workdir: .
setup: pip install -r requirements.txt
image: europe-docker.pkg.dev/p/r/i:1
env: {LOG: info}
secrets: [HF_TOKEN]
resources:
  accelerators: [H100:8, a100-80gb:8, v5litepod-16]
  nodes: 2..64
  cpus: 12.5
  memory: 1.5TiB
  disk: 500GB
  machine: a3-highgpu-8g
where:
  engines: [compute, vertex]
  regions: [us-*, europe-west4]
  buy: [reservation/my-block, flex-start, spot, on-demand]
  race: 2
engine: {compute: {network: research}, slurm: {partition: h100, nice: 5, hold: yes, on: true}}
work: {steps: 2e4, reference: {accelerators: A100-80:8, step_seconds: 1.9}}
limits: {deadline: 72h, budget: 900 USD, restarts: 0, ttl: 4d}
checkpoint: {to: gs://bucket/ckpt, every: 10m, keep: 5}
data: {train: gs://bucket/shards/}
labels: {team: nlp, year: 2026}
"""


def parse(text: str, folder: Path | None = None) -> Spec:
    return parse_spec(text, path="spec.yaml", folder=folder)


def test_every_key_reaches_the_spec():
    spec = parse(FULL)
    a100 = Accelerators(name="A100-80", count=8, is_tpu=False)
    assert spec.name == "llm-pretrain"
    assert spec.launch is Launch.TORCHRUN
    assert spec.secrets == {"HF_TOKEN": "HF_TOKEN"}
    assert spec.resources == Resources(
        accelerators=(
            Accelerators(name="H100", count=8, is_tpu=False),
            a100,
            Accelerators(name="v5e", count=16, is_tpu=True),
        ),
        nodes_min=2,
        nodes_max=64,
        cpus=12.5,
        memory_bytes=1_649_267_441_664,
        disk_bytes=500_000_000_000,
        machine="a3-highgpu-8g",
    )
    assert spec.where == Where(
        engines=("compute", "vertex"),
        regions=("us-*", "europe-west4"),
        buy=("reservation/my-block", "flex-start", "spot", "on-demand"),
        race=2,
    )
    assert spec.engine["slurm"] == {"partition": "h100", "nice": 5, "hold": "yes", "on": True}
    assert spec.work is not None
    assert (spec.work.steps, spec.work.reference_nodes) == (20_000, 1)
    assert spec.work.reference_accelerators == a100
    assert spec.limits == Limits(deadline_s=259_200, budget_usd=900, restarts=0, ttl_s=345_600)
    assert spec.checkpoint == Checkpoint(to="gs://bucket/ckpt", every_s=600, keep=5)
    assert spec.data == {"train": "gs://bucket/shards/"}
    assert spec.labels == {"team": "nlp", "year": "2026"}


def test_a_spec_of_two_lines_takes_every_default():
    assert parse("name: a\nrun: b\n") == Spec(name="a", run="b")


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("0.10", "0.10"),
        ("yes", "yes"),
        ("true", "true"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("2026-01-01", "2026-01-01"),
        ("'null'", "null"),
        ('""', ""),
        ('"a\\tb"', "a\tb"),
        ("!!str 5", "5"),
        ("größe 大", "größe 大"),
        ("a=b c", "a=b c"),
    ],
)
def test_an_environment_value_is_the_text_as_written(written, text):
    assert parse(f"name: a\nrun: b\nenv: {{A: {written}}}\n").env == {"A": text}


def test_secrets_may_name_their_source():
    spec = parse("name: a\nrun: b\nsecrets: {TOKEN: projects/p/secrets/hf, KEY: KEY}\n")
    assert spec.secrets == {"TOKEN": "projects/p/secrets/hf", "KEY": "KEY"}


@pytest.mark.parametrize("name", ["Grüße aus 東京", "a b", "v1.2 (final)", "नमस्ते", "x" * 100])
def test_names_of_any_script_with_spaces_are_taken(name):
    assert parse(f'name: "{name}"\nrun: b\n').name == name


def test_one_value_stands_for_a_list_of_one():
    spec = parse("name: a\nrun: b\nresources: {accelerators: L4}\nwhere: {engines: slurm}\n")
    assert [str(wanted) for wanted in spec.resources.accelerators] == ["L4:1"]
    assert spec.where.engines == ("slurm",)


def test_automatic_checkpoints_have_no_fixed_interval():
    assert parse("name: a\nrun: b\ncheckpoint: {every: auto}\n").checkpoint == Checkpoint()
    assert parse("name: a\nrun: b\ncheckpoint: {}\n").checkpoint == Checkpoint()


def test_an_alias_stands_for_its_value():
    spec = parse("name: a\nrun: &r python x.py\nsetup: *r\n")
    assert spec.setup == spec.run == "python x.py"


def test_a_command_of_several_lines_is_kept():
    assert parse("name: a\nrun: |\n  cd x\n  python y.py\n").run == "cd x\npython y.py\n"


@pytest.mark.parametrize("start", ["\ufeff", "%YAML 1.2\n---\n", "# a comment\n\n"])
def test_what_editors_put_before_a_spec_is_accepted(start):
    assert parse_spec(f"{start}name: a\nrun: b\n".encode(), path="s", folder=None).name == "a"


def test_a_file_is_read_with_its_folder_as_the_start_of_workdir(tmp_path):
    folder = tmp_path / "größe mit spaces"
    (folder / "code").mkdir(parents=True)
    (folder / "code" / "train.py").write_text("import jax\n")
    path = folder / "träin.yaml"
    path.write_text("name: a\nrun: python train.py\nworkdir: code\n")
    assert load_spec(path).launch is Launch.JAX


def test_a_workdir_that_is_not_there_is_a_problem(tmp_path):
    path = tmp_path / "train.yaml"
    path.write_text("name: a\nrun: b\nworkdir: nowhere\n")
    with pytest.raises(SpecInvalid) as caught:
        load_spec(path)
    problem = caught.value.problems[0]
    assert (problem.code, problem.line, problem.column) == ("workdir-missing", 3, 10)
    assert (problem.path, problem.source) == (str(path), "workdir: nowhere")


@pytest.mark.parametrize("name", ["missing.yaml", ".", "a\0b"])
def test_a_path_that_is_no_file_is_refused_with_a_remedy(tmp_path, name):
    with pytest.raises(OptionRefused) as caught:
        load_spec(tmp_path / name)
    assert caught.value.remedy
    assert caught.value.exit_status == 2


def test_loading_a_good_spec_imports_nothing_it_does_not_need():
    program = (
        "import sys; from windlass.spec.load import parse_spec;"
        "parse_spec('name: a\\nrun: b\\nresources: {accelerators: L4}', path='s', folder=None);"
        "slow = {'difflib', 'jsonschema', 'unicodedata', 'pathspec', 'json', 'tarfile',"
        "'decimal', 'asyncio', 'windlass.spec.schema', 'windlass.ports.world'};"
        "print(sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def is_spec_or_problems(text: str | bytes) -> bool:
    try:
        return isinstance(parse_spec(text, path="s", folder=None), Spec)
    except SpecInvalid as error:
        return all(problem.line >= 1 and problem.column >= 1 for problem in error.problems)


@given(st.binary(max_size=300) | st.text(max_size=300))
def test_no_junk_breaks_the_loader(junk):
    assert is_spec_or_problems(junk)


@given(
    st.integers(0, len(FULL)),
    st.integers(0, 40),
    st.text("ab: -[]{}'\"&*!|>#%@,\n\t0.5~<", max_size=6),
)
def test_no_slip_in_a_good_spec_breaks_the_loader(start, length, typed):
    assert is_spec_or_problems(FULL[:start] + typed + FULL[start + length :])


@given(st.text("ab: -[]{}'\"&*!|>#%@,\n0~<", max_size=80))
def test_no_yaml_breaks_the_loader(text):
    assert is_spec_or_problems(text)
