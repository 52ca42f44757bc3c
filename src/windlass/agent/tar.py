"""Reads the members of a tar archive: as much of the format as source archives use.

Must not judge names (source.py does) nor write files. Read here and not by tarfile, whose import
takes as long as everything else between a won fence and the first rank; and what is not read
cannot be abused: a kind that is not known, such as a sparse file, is refused.
"""

from __future__ import annotations

from typing import Dict, Iterator, NamedTuple, Tuple

_BLOCK = 512
_KINDS = {b"0": "file", b"\0": "file", b"1": "same", b"2": "link", b"5": "folder"}
_EXTENDED = b"x"


class NotTar(Exception):
    """The bytes are not an archive, or one of a kind that is not read here."""


class Member(NamedTuple):
    """One member. A `same` is a hard link: its target is a member before it."""

    name: str
    kind: str
    """"file", "same", "link" or "folder"."""
    mode: int
    size: int
    target: str
    begin: int
    """Where its content begins."""


def members(data: bytes) -> Iterator[Member]:
    """Every member in order; NotTar as soon as something is wrong."""
    at = 0
    told: Dict[str, str] = {}
    while True:
        block = data[at : at + _BLOCK]
        if len(block) < _BLOCK:
            raise NotTar("it is cut short")
        if not any(block):
            return
        _check_sum(block)
        size, letter = _number(block[124:136]), block[156:157]
        begin, at = at + _BLOCK, at + _BLOCK + _padded(size)
        if at > len(data):
            raise NotTar("a member is larger than the archive")
        if letter == _EXTENDED:
            told = _records(data[begin : begin + size])
            continue
        if letter not in _KINDS:
            raise NotTar(f"a member is of the kind {letter!r}")
        name = told.get("path", _name_of(block))
        target = told.get("linkpath", _text(block[157:257]))
        kind = _KINDS[letter]
        yield Member(name, kind, _number(block[100:108]), size, target, begin)
        told = {}


def _padded(size: int) -> int:
    return size + -size % _BLOCK


def _check_sum(block: bytes) -> None:
    """The sum of all bytes, with the sum's own place taken for spaces."""
    if _number(block[148:156]) != sum(block) - sum(block[148:156]) + 8 * ord(" "):
        raise NotTar("a header is damaged")


def _number(field: bytes) -> int:
    text = field.strip(b" \0")
    if not all(sign in b"01234567" for sign in text):
        raise NotTar(f"{field!r} is no octal number")
    return int(text or b"0", 8)


def _name_of(block: bytes) -> str:
    name, prefix = _text(block[:100]), _text(block[345:500])
    return f"{prefix}/{name}" if prefix and block[257:263] == b"ustar\0" else name


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _records(data: bytes) -> Dict[str, str]:
    """`<length> <key>=<value>` and a newline, again and again."""
    found: Dict[str, str] = {}
    while data:
        key, value, data = _record(data)
        if key == "size" or key.startswith("GNU.sparse"):
            raise NotTar(f"it has an extended record {key!r}")
        found[key] = value
    return found


def _record(data: bytes) -> Tuple[str, str, bytes]:
    """The first record, and what follows it."""
    digits = data[:20].split(b" ", 1)[0]
    length = int(digits) if digits.isdigit() else 0
    record = data[len(digits) + 1 : length]
    key, mark, value = record.partition(b"=")
    if not mark or length > len(data) or not value.endswith(b"\n"):
        raise NotTar("an extended record is damaged")
    text = value[:-1].decode("utf-8", "surrogateescape")
    return key.decode("utf-8", "replace"), text, data[length:]
