"""The headers of a tar archive, written so that equal files give equal bytes.

Must not read files. Written here and not by tarfile, whose import alone takes longer than packing
a small workdir, and whose bytes may change with the version of Python.
"""

from __future__ import annotations

from enum import Enum

_BLOCK = 512
_NAME_MAX = 100

# An archive ends with two empty blocks.
END = bytes(2 * _BLOCK)


class EntryKind(Enum):
    """What an entry is, by the letter tar uses for it."""

    FILE = "0"
    LINK = "2"
    FOLDER = "5"


def header(
    name: str, kind: EntryKind, *, size: int = 0, target: str = "", is_program: bool = False
) -> bytes:
    """Everything that stands before an entry's content. No owner, no time, one of two modes."""
    name = f"{name}/" if kind is EntryKind.FOLDER else name
    records = _extended(name, target)
    mode = 0o755 if is_program or kind is not EntryKind.FILE else 0o644
    main = _block(_short(name), kind.value, mode=mode, size=size, target=_short(target))
    if not records:
        return main
    lead = _block(b"././@PaxHeader", "x", mode=0o644, size=len(records), target=b"")
    return lead + records + padding(len(records)) + main


def padding(size: int) -> bytes:
    """What fills the last block of a content of that size."""
    return bytes(-size % _BLOCK)


def _short(text: str) -> bytes:
    """What fits the old fields; readers take the extended record where there is one."""
    return text.encode("ascii", "replace")[:_NAME_MAX]


def _extended(name: str, target: str) -> bytes:
    """Extended records for names that do not fit the old fields, empty when they do."""
    values = {
        key: text.encode("utf-8", "surrogateescape")
        for key, text in (("path", name), ("linkpath", target))
        if not text.isascii() or len(text) > _NAME_MAX
    }
    if any(not _is_utf8(value) for value in values.values()):
        # A file name that is not UTF-8: readers are told to take the bytes as they are.
        values = {"hdrcharset": b"BINARY", **values}
    return b"".join(_record(key, value) for key, value in values.items())


def _record(key: str, value: bytes) -> bytes:
    """`<length> <key>=<value>` and a newline, where the length counts its own digits."""
    rest = b" " + key.encode("ascii") + b"=" + value + b"\n"
    length = len(rest)
    while length != len(rest) + len(str(length)):
        length = len(rest) + len(str(length))
    return str(length).encode("ascii") + rest


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _block(name: bytes, letter: str, *, mode: int, size: int, target: bytes) -> bytes:
    before = name.ljust(100, b"\0") + b"%07o\0" % mode + b"0000000\0" * 2
    before += b"%011o\0" % size + b"%011o\0" % 0
    after = letter.encode("ascii") + target.ljust(100, b"\0") + b"ustar\x0000"
    after = after.ljust(_BLOCK - len(before) - 8, b"\0")
    checksum = sum(before) + sum(after) + 8 * ord(" ")
    return before + b"%06o\0 " % checksum + after
