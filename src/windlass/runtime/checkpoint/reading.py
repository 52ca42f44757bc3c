"""One restore: believe a checkpoint only after every byte of it was verified.

Must not change anything on the disk, nor give back a state in part.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, Tuple

from windlass.runtime.checkpoint import files, manifest, tensors, tree
from windlass.runtime.checkpoint.errors import Damage
from windlass.runtime.checkpoint.manifest import Manifest, Piece


def steps(root: Path) -> List[int]:
    """The steps that have a manifest, ascending; whether they are whole is another question."""
    try:
        names = [entry.name for entry in root.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    numbers = [int(name) for name in names if name.isascii() and name.isdigit()]
    return sorted(step for step in numbers if (root / str(step) / manifest.NAME).exists())


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a committed checkpoint.

    Raises:
        Damage: it is missing or not what was written.
        CheckpointRefused: it was written by a newer Windlass.
    """
    try:
        return manifest.decode((folder / manifest.NAME).read_bytes())
    except OSError as exc:
        raise Damage(f"the manifest cannot be read: {exc.strerror}") from exc


def looks_whole(folder: Path) -> bool:
    """Whether the manifest is sound and every file has its size: all but the checksums."""
    try:
        entries = read_manifest(folder).files
    except Damage:
        return False
    return all(files.has_size(folder / entry.name, entry.size) for entry in entries)


def verify(folder: Path) -> None:
    """Read everything, and keep nothing.

    Raises:
        Damage: a file is missing or has other bytes than were written.
        CheckpointRefused: it was written by a newer Windlass.
    """
    found = read_manifest(folder)
    for entry in found.files:
        files.read_verified(folder, entry, found.checksum)


def load(folder: Path, like: Any) -> Any:
    """The state of a committed checkpoint, shaped like `like` unless that is FREE.

    Raises:
        Damage: a file is missing or has other bytes than were written.
        CheckpointMismatch: it does not fit `like`.
        CheckpointRefused: it was written by a newer Windlass.
    """
    found = read_manifest(folder)

    def compare(number: int, wanted: Any, path: str) -> None:
        if wanted is not None:
            tensors.check(found.tensors[number], wanted, path)

    # Before gigabytes are read: does it fit at all?
    tree.rebuild(found.tree, like, compare)
    rooms = _load_rooms(folder, found)

    def take(number: int, wanted: Any, path: str) -> Any:
        return tensors.finish(found.tensors[number], rooms[number], wanted)

    return tree.rebuild(found.tree, like, take)


def _load_rooms(folder: Path, found: Manifest) -> List[Any]:
    """Every tensor's bytes; each file is read once, verified, and then copied from."""
    rooms = [tensors.empty(tensor) for tensor in found.tensors]
    by_file: Dict[str, List[Tuple[int, Piece]]] = {}
    for number, tensor in enumerate(found.tensors):
        for piece in tensor.pieces:
            by_file.setdefault(piece.file, []).append((number, piece))
    for entry in found.files:
        content = files.read_verified(folder, entry, found.checksum)
        for number, piece in by_file.get(entry.name, []):
            stretch = content[piece.offset : piece.offset + piece.nbytes]
            tensors.fill(rooms[number], piece.start, piece.shape, stretch)
    return rooms
