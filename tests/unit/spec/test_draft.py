"""A drafted spec loads without problems, whatever lies in the folder."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.spec.draft import draft_spec
from windlass.spec.load import parse_spec
from windlass.spec.model import Launch, Spec

MAIN = "if __name__ == '__main__':\n    pass\n"

# Folders: what lies in them, and what the draft should say: run, launch, setup.
FOLDERS = {
    "empty": ({}, "python train.py", Launch.PLAIN, None),
    "train.py": ({"train.py": "", "util.py": MAIN}, "python train.py", Launch.PLAIN, None),
    "main.py": ({"main.py": "import jax\n"}, "python main.py", Launch.JAX, None),
    "in src": ({"src/train.py": "import torch.distributed\n"}, "python src/train.py",
               Launch.TORCHRUN, None),
    "only program": ({"a.py": "", "b.py": MAIN}, "python b.py", Launch.PLAIN, None),
    "two programs": ({"a.py": MAIN, "b.py": MAIN}, "python train.py", Launch.PLAIN, None),
    "one trains": ({"eval.py": MAIN, "my_training.py": MAIN}, "python my_training.py",
                   Launch.PLAIN, None),
    "spaces": ({"my train.py": MAIN}, "python 'my train.py'", Launch.PLAIN, None),
    "quotes": ({"it's \"x\".py": MAIN}, None, Launch.PLAIN, None),
    "unicode": ({"größe 大.py": MAIN}, "python 'größe 大.py'", Launch.PLAIN, None),
    "colon": ({"a: b #c.py": MAIN}, "python 'a: b #c.py'", Launch.PLAIN, None),
    "backslash": ({"a\\b.py": MAIN}, "python 'a\\b.py'", Launch.PLAIN, None),
    "an option": ({"-c.py": MAIN}, "python ./-c.py", Launch.PLAIN, None),
    "control": ({"a\nb.py": MAIN}, "python train.py", Launch.PLAIN, None),
    "requirements": ({"requirements.txt": "jax"}, None, Launch.PLAIN,
                     "pip install -r requirements.txt"),
    "pyproject": ({"pyproject.toml": "[project]\n"}, None, Launch.PLAIN, "pip install ."),
    "only tools": ({"pyproject.toml": "[tool.ruff]\n"}, None, Launch.PLAIN, None),
    "conda": ({"environment.yml": ""}, None, Launch.PLAIN,
              "conda env update --file environment.yml"),
    "tensorflow": ({"train.py": "MultiWorkerMirroredStrategy"}, None, Launch.TENSORFLOW, None),
    "binary": ({"train.py": "\0\x01"}, "python train.py", Launch.PLAIN, None),
}  # fmt: skip


def loaded(folder) -> Spec:
    return parse_spec(draft_spec(folder), path="train.yaml", folder=folder)


@pytest.mark.parametrize("case", FOLDERS.values(), ids=FOLDERS.keys())
def test_a_draft_loads_and_says_what_was_found(tmp_path, case):
    files, run, launch, setup = case
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    spec = loaded(tmp_path)
    assert spec.launch is launch
    assert spec.setup == setup
    if run is not None:
        assert spec.run == run
    entry = shlex.split(spec.run)[1]
    assert "No entry point" in draft_spec(tmp_path) or (tmp_path / entry).is_file()


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("my-model", "my-model"),
        ("Größe 大", "Größe 大"),
        ("on", "on"),
        ("2026", "2026"),
        ("1e5", "1e5"),
        ("a: b", "a-b"),
        ("it's $HOME", "it-s-home"),
        (".hidden", "hidden"),
        ("x" * 200, "x" * 40),
        ("con", "run-con"),
    ],
)
def test_the_name_comes_from_the_folder(tmp_path, folder, name):
    path = tmp_path / folder
    path.mkdir()
    assert loaded(path).name == name


@given(st.text(min_size=1, max_size=40))
def test_no_folder_name_makes_a_draft_that_does_not_load(tmp_path_factory, name):
    path = tmp_path_factory.mktemp("draft") / name.replace("/", "-").replace("\0", "-")
    try:
        path.mkdir()
    except (OSError, UnicodeError):
        return
    assert loaded(path).run
