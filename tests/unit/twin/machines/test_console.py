"""A console keeps its end, in little room."""

from __future__ import annotations

from windlass.twin.machines import console


def test_what_is_written_is_read_from_any_byte(tmp_path):
    writer = console.Writer(tmp_path)
    writer.write(b"hello ")
    writer.write(b"world")
    assert console.read(tmp_path) == (0, b"hello world")
    assert console.read(tmp_path, 6) == (6, b"world")
    assert console.read(tmp_path, 11) == (11, b"")
    writer.close()


def test_a_later_writer_goes_on(tmp_path):
    for text in (b"one ", b"two"):
        writer = console.Writer(tmp_path)
        writer.write(text)
        writer.close()
    assert console.read(tmp_path) == (0, b"one two")


def test_a_flood_loses_its_beginning_and_keeps_its_end(tmp_path):
    writer = console.Writer(tmp_path)
    total = 0
    for number in range(60):
        line = f"{number:07d}\n".encode() * 12_500
        writer.write(line)
        total += len(line)
    writer.close()
    first, content = console.read(tmp_path)
    assert first + len(content) == total
    assert 1 << 20 <= len(content) <= console.SEGMENTS * console.SEGMENT_BYTES
    assert content.endswith(b"0000059\n")
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) == len(content)
    assert console.read(tmp_path, total - 8) == (total - 8, b"0000059\n")


def test_nothing_was_said_by_a_machine_that_never_was(tmp_path):
    assert console.read(tmp_path, 5) == (5, b"")
