"""A user's YAML file as a bounded tree of nodes that know their place.

Must not know what the keys mean, nor build anything but plain nodes: no tag makes an object.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from yaml.reader import Reader

from windlass.errors import OptionRefused
from windlass.spec.problems import At, Problems
from windlass.spec.refused import quoted
from windlass.spec.tree import Node, Scalar, Table, compose

BYTES_MAX = 1024 * 1024
# Each costs libyaml a look at all the others, so many of them would take minutes.
DIRECTIVES_MAX = 8

_UTF16_OR_32 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
# What YAML 1.1 does not allow in a stream. The parser would refuse it too, without a place.
_NOT_TEXT = Reader.NON_PRINTABLE
_DIRECTIVE = "(?m)^%"

_SAVE_AS_TEXT = "Save the file as text in UTF-8."


START = At()


def read_bounded(path: Path) -> bytes:
    """The file's bytes, at most one more than allowed, so that a huge file is never read whole.

    Raises OptionRefused when there is no such file or it cannot be read.
    """
    if path.is_dir():
        raise OptionRefused(
            f"{path} is a folder, not a file",
            remedy=f"Name the file in it, such as {path / 'train.yaml'}.",
        )
    try:
        with path.open("rb") as file:
            return file.read(BYTES_MAX + 1)
    except FileNotFoundError as exc:
        raise OptionRefused(
            f"There is no file {path}",
            remedy="Check the path, or write a first file with `windlass init`.",
        ) from exc
    except (OSError, ValueError) as exc:
        raise OptionRefused(
            f"{path} cannot be read: {exc}", remedy="Check the path and its permissions."
        ) from exc


def read_table(data: bytes | str, problems: Problems) -> Table | None:
    """The mapping the file holds. None, with problems added, when it holds no such thing."""
    root = read_node(data, problems)
    if root is None or isinstance(root, Table):
        return root
    problems.add(
        "not-a-mapping",
        root,
        message="the file holds no `key: value` lines",
        remedy="Start it with `name:` and `run:`, each on a line of its own.",
    )
    return None


def read_node(data: bytes | str, problems: Problems, *, may_be_empty: bool = False) -> Node | None:
    """The one document in the file; None when there is none, or when problems were added."""
    if len(data) > BYTES_MAX:
        problems.add(
            "file-too-large",
            START,
            message=f"the file is larger than {BYTES_MAX // 1024} KiB",
            remedy="Name the spec itself; data and code do not belong in it.",
        )
        return None
    text = data if isinstance(data, str) else _decoded(data, problems)
    if text is None:
        return None
    problems.text = text
    if not _is_text(text, problems):
        return None
    root = compose(text, problems)
    if isinstance(root, Scalar) and root.is_plain and not root.text:
        root = None
    if root is None and not problems and not may_be_empty:
        problems.add(
            "empty-file",
            START,
            message="the file is empty",
            remedy="Write a first spec with `windlass init`.",
        )
    return root


def _decoded(data: bytes, problems: Problems) -> str | None:
    if data.startswith(_UTF16_OR_32):
        problems.add(
            "not-utf8", START, message="the file is UTF-16 or UTF-32", remedy=_SAVE_AS_TEXT
        )
        return None
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as exc:
        before = data[: exc.start].decode("utf-8")
        problems.text = data.decode("utf-8", errors="backslashreplace")
        problems.add(
            "not-utf8",
            problems.at(len(before)),
            message=f"byte 0x{data[exc.start]:02x} is not UTF-8 text",
            remedy=_SAVE_AS_TEXT,
        )
        return None


def _is_text(text: str, problems: Problems) -> bool:
    strange = _NOT_TEXT.search(text)
    if strange is not None:
        problems.add(
            "not-text",
            problems.at(strange.start()),
            message=f"{quoted(strange.group())} is not text: is this the right file?",
            remedy=_SAVE_AS_TEXT,
        )
        return False
    directives = list(re.finditer(_DIRECTIVE, text))
    if len(directives) > DIRECTIVES_MAX:
        problems.add(
            "too-many-directives",
            problems.at(directives[DIRECTIVES_MAX].start()),
            message=f"more than {DIRECTIVES_MAX} lines start with `%`",
            remedy="Remove the lines that start with `%`: a spec needs none.",
        )
        return False
    return True
