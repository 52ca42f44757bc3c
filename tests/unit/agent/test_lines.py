"""Output becomes lines: times, secrets, progress bars, broken characters, endless lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.agent.lines import LINE_BYTES, Lines, Raw
from windlass.agent.mask import Mask

PLAIN = {
    "one line": ([b"hello\n"], b"T hello\n"),
    "several lines": ([b"a\nb\n\nc\n"], b"T a\nT b\nT \nT c\n"),
    "a line in two reads": ([b"hel", b"lo\n"], b"T hello\n"),
    "no newline at the end": ([b"a\nb"], b"T a\nT b\n"),
    "windows line ends": ([b"a\r\nb\r\n"], b"T a\nT b\n"),
    "windows line end in two reads": ([b"a\r", b"\nb\n"], b"T a\nT b\n"),
    "progress bar": ([b"\r 1%", b"\r 2%", b"\r100%\n"], b"T 100%\n"),
    "progress bar, other style": ([b" 1%\r", b" 2%\r", b"100%\n"], b"T 100%\n"),
    "progress bar after a line": ([b"a\n\r1%\r2%\nb\n"], b"T a\nT 2%\nT b\n"),
    "not utf-8": ([b"a\xffb\n"], "T a\ufffdb\n".encode()),
    "a character in two reads": (["é".encode()[:1], "é\n".encode()[1:]], "T é\n".encode()),
    "empty": ([], b""),
    "only a newline": ([b"\n"], b"T \n"),
}


@pytest.mark.parametrize("case", PLAIN)
def test_lines_carry_the_time(case: str) -> None:
    reads, expected = PLAIN[case]
    lines = Lines(Mask([]))
    out = b"".join(lines.take(data, b"T ") for data in reads)
    assert out + lines.rest(b"T ", is_last=True) == expected


PARTIAL = {
    "waits, then goes on": ([b"loading... "], [b"done\n"], b"T loading... ", b"done\n"),
    "a new state of a bar": ([b"\r10%"], [b"\r20%", b"\r30%"], b"T 10%", b"\nU 30%\n"),
    "a bar, other style": ([b"10%\r"], [b"20%\r30%\r"], b"T 10%", b"\nU 30%\n"),
    "a bar that ends": ([b"\r10%"], [b"\r20%\nend\n"], b"T 10%", b"\nU 20%\nU end\n"),
    "half a character": ([b"a\xc3"], [b"\xa9\n"], b"T a", "é\n".encode()),
    "half a secret": ([b"it is hun"], [b"ter2!\n"], b"T it is ", b"***!\n"),
    "nothing more": ([b"abc"], [], b"T abc", b"\n"),
}


@pytest.mark.parametrize("case", PARTIAL)
def test_an_unfinished_line_is_shown_after_a_while(case: str) -> None:
    before, after, shown, then = PARTIAL[case]
    lines = Lines(Mask(["hunter2"]))
    assert b"".join(lines.take(data, b"T ") for data in before) == b""
    assert lines.rest(b"T ", is_last=False) == shown
    out = b"".join(lines.take(data, b"U ") for data in after)
    assert out + lines.rest(b"U ", is_last=True) == then


def test_a_long_line_is_cut_into_pieces_between_characters() -> None:
    line = "é" * LINE_BYTES
    out = Lines(Mask([])).take(f"x{line}\nend\n".encode(), b"T ").decode()
    pieces = out.splitlines()
    assert all(piece.startswith("T ") and len(piece.encode()) <= LINE_BYTES + 2 for piece in pieces)
    assert "".join(piece[2:] for piece in pieces) == f"x{line}end"


def test_a_line_without_end_does_not_grow_in_memory() -> None:
    lines = Lines(Mask([]))
    out = b"".join(lines.take(b"y" * 10_000, b"T ") for _ in range(100))
    out += lines.rest(b"T ", is_last=True)
    assert out.count(b"y") == 1_000_000
    assert max(len(line) for line in out.splitlines()) <= LINE_BYTES + 10_002


SECRETS = ["hunter2", "hunter22", "s3cr3t token", "-----BEGIN KEY-----\nMIIabcdef0123\n-----END"]


@given(
    words=st.lists(st.sampled_from([*SECRETS, "hunt", "er2", "\n", "\r", "é", "plain "])),
    cuts=st.lists(st.integers(1, 12)),
    pauses=st.booleans(),
)
def test_no_secret_appears_however_the_output_is_split(
    words: list[str], cuts: list[int], pauses: bool
) -> None:
    data = "".join(words).encode()
    for text in (Lines(Mask(SECRETS)), Raw(Mask(SECRETS))):
        out, left = b"", data
        for cut in cuts:
            out += text.take(left[:cut], b"")
            left = left[cut:]
            if pauses:
                out += text.rest(b"", is_last=False)
        out += text.take(left, b"") + text.rest(b"", is_last=True)
        for value in (b"hunter2", b"s3cr3t token", b"MIIabcdef0123"):
            assert value not in out.replace(b"\n", b"")


@given(data=st.binary(), cuts=st.lists(st.integers(1, 5)))
def test_what_is_not_secret_passes_raw_as_it_is(data: bytes, cuts: list[int]) -> None:
    raw, out, left = Raw(Mask(SECRETS)), b"", data
    for cut in cuts:
        out += raw.take(left[:cut], b"")
        left = left[cut:]
    assert out + raw.take(left, b"") + raw.rest(b"", is_last=True) == data


def test_short_values_are_not_masked() -> None:
    assert Mask(["abc", "", "  "]).apply(b"abc is fine") == b"abc is fine"
