"""One restore: believe a checkpoint only after every byte of it was verified.

Must not change anything there, nor give back a state in part.
"""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple

from windlass.runtime.checkpoint import files, manifest, tensors, tree
from windlass.runtime.checkpoint.errors import Damage
from windlass.runtime.checkpoint.manifest import DataFile, Manifest, Piece
from windlass.runtime.checkpoint.places import Place


def read_manifest(place: Place) -> Manifest:
    """The manifest of a committed checkpoint.

    Raises:
        Damage: it is missing or not what was written.
        CheckpointRefused: it was written by a newer Windlass.
    """
    try:
        content = place.read(manifest.NAME)
    except OSError as exc:
        raise Damage(f"the manifest cannot be read: {exc.strerror}") from exc
    if content is None:
        raise Damage("the manifest is missing")
    return manifest.decode(content)


def looks_whole(place: Place) -> bool:
    """Whether the manifest is sound and every file has its size: all but the checksums."""
    try:
        entries = read_manifest(place).files
    except Damage:
        return False
    return has_all(place, entries)


def has_all(place: Place, entries: Sequence[DataFile]) -> bool:
    """Whether every file is there and as long as it should be."""
    found = place.files()
    return all(entry.name in found and found[entry.name].size == entry.size for entry in entries)


def verify(place: Place) -> None:
    """Read everything, and keep nothing.

    Raises:
        Damage: a file is missing or has other bytes than were written.
        CheckpointRefused: it was written by a newer Windlass.
    """
    found = read_manifest(place)
    for entry in found.files:
        files.read_verified(place, entry, found.checksum)


def load(place: Place, like: Any) -> Any:
    """The state of a committed checkpoint, shaped like `like` unless that is FREE.

    Raises:
        Damage: a file is missing or has other bytes than were written.
        CheckpointMismatch: it does not fit `like`.
        CheckpointRefused: it was written by a newer Windlass.
    """
    found = read_manifest(place)

    def compare(number: int, wanted: Any, path: str) -> None:
        if wanted is not None:
            tensors.check(found.tensors[number], wanted, path)

    # Before gigabytes are read: does it fit at all?
    tree.rebuild(found.tree, like, compare)
    rooms = _load_rooms(place, found)

    def take(number: int, wanted: Any, path: str) -> Any:
        return tensors.finish(found.tensors[number], rooms[number], wanted)

    return tree.rebuild(found.tree, like, take)


def _load_rooms(place: Place, found: Manifest) -> List[Any]:
    """Every tensor's bytes; each file is read once, verified, and then copied from."""
    rooms = [tensors.empty(tensor) for tensor in found.tensors]
    by_file: Dict[str, List[Tuple[int, Piece]]] = {}
    for number, tensor in enumerate(found.tensors):
        for piece in tensor.pieces:
            by_file.setdefault(piece.file, []).append((number, piece))
    for entry in found.files:
        content = files.read_verified(place, entry, found.checksum)
        for number, piece in by_file.get(entry.name, []):
            stretch = content[piece.offset : piece.offset + piece.nbytes]
            tensors.fill(rooms[number], piece.start, piece.shape, stretch)
    return rooms
