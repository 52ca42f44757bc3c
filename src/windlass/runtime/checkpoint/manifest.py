"""The manifest: what a checkpoint consists of, as values and as sealed JSON.

Must not touch files. A manifest is only believed when its seal, the SHA-256 of its content, fits.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from windlass.runtime.checkpoint.errors import CheckpointRefused, Damage

NAME = "manifest.json"
FORMAT = 1
_DATA_NAME = re.compile(r"a\d+-w\d+-[0-9a-f]+-\d+\.bin")


class DataFile(NamedTuple):
    """A file of the checkpoint, and what it must look like to be believed."""

    name: str
    size: int
    checksum: str


class Piece(NamedTuple):
    """A block of a tensor: where it belongs in the tensor, and where its bytes are."""

    start: Tuple[int, ...]
    shape: Tuple[int, ...]
    file: str
    offset: int
    nbytes: int


class Tensor(NamedTuple):
    """One array. Pieces do not overlap and cover it; each is stored in C order."""

    kind: str
    """Whose array it was: `numpy`, `jax` or `torch`."""
    dtype: str
    itemsize: int
    shape: Tuple[int, ...]
    pieces: Tuple[Piece, ...] = ()


class Part(NamedTuple):
    """What one writer wrote of a sharded checkpoint."""

    save: int
    """The how-manieth save of its attempt this is: a part of an earlier try does not count."""
    files: Tuple[DataFile, ...]
    tensors: Tuple[Tensor, ...]


class Manifest(NamedTuple):
    """A committed checkpoint."""

    step: int
    attempt: int
    run: str
    time: float
    checksum: str
    files: Tuple[DataFile, ...]
    tree: Any
    tensors: Tuple[Tensor, ...]


def encode(manifest: Manifest) -> bytes:
    """The content of `manifest.json`."""
    return _seal({"format": FORMAT, **_plain(manifest)})


def decode(data: bytes) -> Manifest:
    """The manifest that was written.

    Raises:
        Damage: these are not the bytes that were written.
        CheckpointRefused: they are, but by a newer Windlass.
    """
    body = _unseal(data)
    if body.get("format") != FORMAT:
        raise CheckpointRefused(
            f"The checkpoint has format {body.get('format')}; this Windlass reads {FORMAT}.",
            remedy="Use the version of Windlass that wrote it, or a newer one.",
        )
    return Manifest(
        step=body["step"],
        attempt=body["attempt"],
        run=body["run"],
        time=body["time"],
        checksum=body["checksum"],
        files=_files(body["files"]),
        tree=body["tree"],
        tensors=_tensors(body["tensors"]),
    )


def encode_part(part: Part) -> bytes:
    """The content of one writer's part."""
    return _seal(_plain(part))


def decode_part(data: bytes) -> Part:
    """The part that was written.

    Raises:
        Damage: these are not the bytes that were written.
    """
    body = _unseal(data)
    return Part(save=body["save"], files=_files(body["files"]), tensors=_tensors(body["tensors"]))


def _seal(body: Dict[str, Any]) -> bytes:
    text = _canonical(body)
    seal = hashlib.sha256(text.encode("ascii")).hexdigest()
    return f'{{"seal":"{seal}",\n"body":{text}}}\n'.encode("ascii")


def _unseal(data: bytes) -> Dict[str, Any]:
    try:
        sealed = json.loads(data)
        body, seal = sealed["body"], sealed["seal"]
        text = _canonical(body)
    except (ValueError, KeyError, TypeError, RecursionError) as exc:
        raise Damage("the manifest is not whole") from exc
    if not isinstance(body, dict) or hashlib.sha256(text.encode("ascii")).hexdigest() != seal:
        raise Damage("the manifest was altered")
    return body


def _canonical(body: object) -> str:
    return json.dumps(body, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return {name: _plain(item) for name, item in value._asdict().items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _files(entries: Sequence[Dict[str, Any]]) -> Tuple[DataFile, ...]:
    files = tuple(DataFile(**entry) for entry in entries)
    for file in files:
        if not _DATA_NAME.fullmatch(file.name):
            raise Damage(f"the manifest names a file that is none of ours: {file.name!r}")
    return files


def _tensors(entries: Sequence[Dict[str, Any]]) -> Tuple[Tensor, ...]:
    return tuple(_tensor(entry) for entry in entries)


def _tensor(entry: Dict[str, Any]) -> Tensor:
    pieces: List[Piece] = [
        Piece(**{**piece, "start": tuple(piece["start"]), "shape": tuple(piece["shape"])})
        for piece in entry["pieces"]
    ]
    return Tensor(**{**entry, "shape": tuple(entry["shape"]), "pieces": tuple(pieces)})
