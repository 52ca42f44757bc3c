"""Ignore files are read the way Git reads them, with ours before Git's."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.controller.source import pack
from windlass.errors import SourceRefused

# A tree, and ignore files at several levels of it.
FILES = [
    *("a.py", "a.log", "keep.log", "build/x.o", "src/build/y.o", "src/a.log", "src/keep.log"),
    *("data/raw/1.bin", "data/raw/2.bin", "data/README", "docs/a.txt", "docs/b/a.txt"),
    *("mit leer.txt", "größe.bin", "tmp/x", "src/tmp/x", "x/y/z/deep.py", "#hash", "a[1].py"),
]
RULES = {
    "nothing": {},
    "patterns": {".gitignore": "*.log\n!keep.log\nbuild/\n"},
    "anchored": {".gitignore": "/tmp\n/data/raw\n/a.*\n"},
    "nested": {".gitignore": "*.log\n", "src/.gitignore": "!a.log\nbuild\n"},
    "parent wins over what is inside it": {".gitignore": "data/\n!data/README\n"},
    "all but one": {".gitignore": "data/*\n!data/README\n"},
    "stars": {".gitignore": "**/tmp\nx/**/deep.py\ndocs/**\n"},
    "odd lines": {".gitignore": "# comment\n\n\\#hash\nmit\\ leer.txt  \n!\na\\\n  \n"},
    "windows lines": {".gitignore": "*.bin\r\n*.log\r\n"},
    "classes": {".gitignore": "a[[]1].py\n[!a-z]*\n"},
    "everything": {".gitignore": "*\n"},
    "everything but folders": {".gitignore": "*\n!*/\n!*.py\n"},
    "more classes": {".gitignore": "[[:upper:]]*\n*[0-9].bin\na[]1[]*\n[z-a]*\nsrc/[^a]*\n[ab\n"},
    "deep": {".gitignore": "**/build/**\n/**/raw/*\nx/**\n!x/y\n**b\nd**a/\n***.txt\n"},
    "questions": {".gitignore": "?.log\nsrc?a.log\ntm?/\nx/?/z\n"},
    "escapes": {".gitignore": "\\a.log\na\\[1].py\n\\!x\nmit leer.txt\\ \n"},
    "with a mark before it": {".gitignore": "\ufeff*.log\n"},
    "many stars": {".gitignore": "*a*a*a*a*a*a*a*a*b\n*.*.*\nm*t*l*r*.t*t\nd*a/r*w\n"},
    "unicode": {".gitignore": "größe.*\n"},
    "turned round inside": {"src/.gitignore": "*\n!.gitignore\n"},
}


@pytest.fixture
def repository(tmp_path):
    path = tmp_path / "repo"
    path.mkdir()
    git(path, "init", "--quiet")
    for name in FILES:
        write(path, name, "1")
    return path


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True)
    return done.stdout.decode()


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text.encode())


def shipped(workdir: Path) -> set[str]:
    with tarfile.open(pack(workdir, workdir.parent / "target").path) as archive:
        return {member.name for member in archive if member.isreg()}


def git_would_ship(folder: Path) -> set[str]:
    return set(git(folder, "ls-files", "-z", "--others", "--exclude-standard").split("\0")) - {""}


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES.keys())
def test_the_same_files_are_shipped_as_git_would_add(repository, rules):
    for name, text in rules.items():
        write(repository, name, text)
    assert shipped(repository) == git_would_ship(repository)


@pytest.mark.parametrize("name", sorted(RULES.keys() - {"everything"}))
def test_a_workdir_inside_a_repository_keeps_the_rules_above_it(repository, name):
    for file, text in RULES[name].items():
        write(repository, file, text)
    assert shipped(repository / "src") == git_would_ship(repository / "src")


SMALL = ["a", "ab", "b/a", "b/b", "a.b/ab", "a b", "-", "b/a.b/b", "[a]", "!a", "^", "]"]
globs = st.text("ab.*?[]!/\\-^ ", min_size=1, max_size=8)


@pytest.fixture(scope="module")
def small_repository(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "repo"
    path.mkdir()
    git(path, "init", "--quiet")
    for name in SMALL:
        write(path, f"x/{name}", "1")
        write(path, f"x{name}", "1")
    return path


@given(st.lists(globs, min_size=1, max_size=4))
def test_any_pattern_means_what_it_means_to_git(small_repository, lines):
    write(small_repository, ".gitignore", "\n".join(lines))
    assert shipped(small_repository) == git_would_ship(small_repository)


def test_a_workdir_that_git_ignores_as_a_whole_is_shipped(repository):
    write(repository, ".gitignore", "/build\n/x\n")
    assert shipped(repository / "build") == {"x.o"}
    assert shipped(repository / "x" / "y") == {"z/deep.py"}


def test_rules_above_a_repository_do_not_hold(tmp_path, repository):
    write(tmp_path, ".gitignore", "*\n")
    assert "a.py" in shipped(repository)


def test_rules_hold_without_git(tmp_path):
    write(tmp_path, "w/.gitignore", "*.log\n")
    write(tmp_path, "w/a.log", "")
    assert shipped(tmp_path / "w") == {".gitignore"}


def test_windlassignore_has_the_last_word(repository):
    write(repository, ".gitignore", "*.bin\n")
    write(repository, "src/.gitignore", "*.log\n")
    write(repository, ".windlassignore", "!*.bin\ndocs/\n!keep.log\n")
    found = shipped(repository)
    assert {"größe.bin", "data/raw/1.bin", "src/keep.log"} <= found
    assert not {"docs/a.txt", "src/a.log"} & found


def test_an_ignore_file_that_is_a_folder_or_a_link_is_passed_over(repository, tmp_path):
    write(tmp_path, "rules", "*\n")
    (repository / ".gitignore").mkdir()
    (repository / ".windlassignore").symlink_to(tmp_path / "rules")
    assert "a.py" in shipped(repository)


def test_junk_in_an_ignore_file_is_no_trouble(repository):
    (repository / ".gitignore").write_bytes(b"\xff\xfe\0\n*.log\n")
    assert "a.log" not in shipped(repository)


def test_an_ignore_file_that_cannot_be_read_is_named(repository):
    write(repository, ".gitignore", "*.log\n")
    (repository / ".gitignore").chmod(0)
    try:
        (repository / ".gitignore").read_bytes()
    except PermissionError:
        with pytest.raises(SourceRefused, match="gitignore"):
            shipped(repository)
