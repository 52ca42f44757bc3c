"""One save: write the data files, gather the parts of every writer, commit the manifest.

Must not touch anything that was committed. Until the manifest is there, nothing has happened.
"""

from __future__ import annotations

import functools
import math
import os
import time
from pathlib import Path
from typing import Callable, List, NamedTuple, Optional, Sequence, Tuple, TypeVar

from windlass.runtime.checkpoint import files, manifest, reading, tensors
from windlass.runtime.checkpoint.errors import CheckpointFailed, Damage
from windlass.runtime.checkpoint.files import DataWriter
from windlass.runtime.checkpoint.manifest import DataFile, Manifest, Part, Piece, Tensor
from windlass.runtime.checkpoint.tensors import Source
from windlass.runtime.checkpoint.tree import Node

POLL_S = 0.02
_Seen = TypeVar("_Seen")


class Order(NamedTuple):
    """What one writer is to do in one save."""

    step: int
    run: str
    attempt: int
    writer: int
    writers: int
    save: int
    """The how-manieth save of this attempt it is."""
    algorithm: str
    bytes_max: int
    wait_s: float
    damaged: Optional[bytes] = None
    """The manifest of this step's checkpoint where that was found damaged: it may be replaced."""


def write(folder: Path, order: Order, *, tree: Node, sources: Sequence[Source]) -> bool:
    """Save one step; True when this attempt's checkpoint was committed, False when another was.

    Raises:
        OSError: the disk did not take it. What was written is removed again.
        CheckpointFailed: another writer did not do its part in time.
    """
    files.make_folder(folder)
    draft = _Draft(folder, order)
    try:
        part = draft.store(sources)
        if order.writer != 0:
            draft.publish_part(part)
            return draft.await_commit()
        return draft.commit(tree, draft.gather(part))
    except BaseException:
        draft.take_back()
        raise


class _Draft:
    """What a save has written so far, so that it can be taken back."""

    def __init__(self, folder: Path, order: Order) -> None:
        self.folder = folder
        self.order = order
        self._token = os.urandom(4).hex()
        self._is_out_of_hand = False
        """Whether another may refer to our files by now: then they must stay."""
        stem = f"a{order.attempt}-w{order.writer}-{self._token}"
        self._data = DataWriter(folder, stem, algorithm=order.algorithm, bytes_max=order.bytes_max)

    def store(self, sources: Sequence[Source]) -> Part:
        stored = tuple(self._store(source) for source in sources)
        self._data.finish()
        files.sync_folder(self.folder)
        return Part(self.order.save, tuple(self._data.files), stored)

    def _store(self, source: Source) -> Tensor:
        order, pieces = self.order, []
        for block in tensors.blocks(
            source, writer=order.writer, writers=order.writers, bytes_max=order.bytes_max
        ):
            file, offset = self._data.add(block.content)
            pieces.append(Piece(block.start, block.shape, file, offset, block.content.nbytes))
        return source.tensor._replace(pieces=tuple(pieces))

    def take_back(self) -> None:
        if self._is_out_of_hand:
            return  # A later attempt sweeps them, unless a manifest names them.
        self._data.discard()
        files.remove_folder_if_empty(self.folder)

    # ---- one of several writers ---------------------------------------------------------------

    def publish_part(self, part: Part) -> None:
        path = self._part_path(self.order.writer)
        files.remove(path)  # Of an earlier try of this attempt, if there is one.
        self._is_out_of_hand = True
        files.publish(path, self._staged("part"), manifest.encode_part(part))
        files.sync_folder(self.folder)

    def gather(self, own: Part) -> Part:
        """Our part and those of the other writers, as one."""
        parts = [own]
        for writer in range(1, self.order.writers):
            look = functools.partial(self._part, writer)
            parts.append(self._await(look, f"writer {writer}"))
        every_file: List[DataFile] = [file for part in parts for file in part.files]
        whole = _join_all([part.tensors for part in parts])
        if whole is None:
            raise CheckpointFailed(
                f"The writers of step {self.order.step} did not save the same state.",
                remedy="Call save() on every writer, with the same step and the same tree.",
            )
        return Part(own.save, tuple(every_file), whole)

    def await_commit(self) -> bool:
        """Wait for writer 0; True when the manifest names our files."""
        path = self.folder / manifest.NAME
        look = functools.partial(_other_than, path, self.order.damaged)
        committed = manifest.decode(self._await(look, "writer 0"))
        ours = {file.name for file in self._data.files}
        return committed.attempt == self.order.attempt and ours <= {
            file.name for file in committed.files
        }

    def _part(self, writer: int) -> Optional[Part]:
        try:
            part = manifest.decode_part(self._part_path(writer).read_bytes())
        except (FileNotFoundError, Damage):
            return None
        return part if part.save == self.order.save else None

    def _await(self, look: Callable[[], Optional[_Seen]], whom: str) -> _Seen:
        deadline = time.monotonic() + self.order.wait_s
        while True:
            seen = look()
            if seen is not None:
                return seen
            if time.monotonic() > deadline:
                raise CheckpointFailed(
                    f"Step {self.order.step} was not saved to {self.folder}: {whom} did not "
                    f"answer within {self.order.wait_s:.0f} s.",
                    remedy="Check that every writer calls save() for the same steps, and that "
                    "they share this folder.",
                )
            time.sleep(POLL_S)

    # ---- the commit ---------------------------------------------------------------------------

    def commit(self, tree: Node, part: Part) -> bool:
        order = self.order
        content = manifest.encode(
            Manifest(
                step=order.step,
                attempt=order.attempt,
                run=order.run,
                time=time.time(),
                checksum=order.algorithm,
                files=part.files,
                tree=tree,
                tensors=part.tensors,
            )
        )
        path = self.folder / manifest.NAME
        if order.damaged is not None and files.read_or_none(path) == order.damaged:
            files.remove(path)
        is_ours = self._is_still_here(part) and self._publish_manifest(path, content)
        files.sync_folder(self.folder)
        if not is_ours:
            self._yield_to_the_other()
        for writer in range(1, order.writers):
            files.remove(self._part_path(writer))
        return is_ours

    def _publish_manifest(self, path: Path, content: bytes) -> bool:
        try:
            self._is_out_of_hand = files.publish(path, self._staged("manifest"), content)
        except FileNotFoundError:
            return False  # Swept, as below.
        except OSError:
            # The reply may have been lost, not the link.
            self._is_out_of_hand = files.read_or_none(path) == content
            raise
        return self._is_out_of_hand

    def _is_still_here(self, part: Part) -> bool:
        """A later attempt sweeps what earlier ones leave: then this process is a left-over too."""
        return all(files.has_size(self.folder / file.name, file.size) for file in part.files)

    def _yield_to_the_other(self) -> None:
        self.take_back()
        if not reading.looks_whole(self.folder):
            raise CheckpointFailed(
                f"Step {self.order.step} was not saved: a later attempt is at work here, or a "
                "damaged checkpoint is in its place.",
                remedy=f"Look at {self.folder}, and remove it if no other process is using it.",
            )

    def _part_path(self, writer: int) -> Path:
        return self.folder / f"part-a{self.order.attempt}-w{writer}.json"

    def _staged(self, what: str) -> Path:
        return self.folder / f".{what}-a{self.order.attempt}-{self._token}"


def _other_than(path: Path, damaged: Optional[bytes]) -> Optional[bytes]:
    content = files.read_or_none(path)
    return None if content == damaged else content


def _join_all(parts: Sequence[Tuple[Tensor, ...]]) -> Optional[Tuple[Tensor, ...]]:
    """Every tensor from every writer's share; None when they do not fit together."""
    count = len(parts[0])
    if any(len(part) != count for part in parts):
        return None
    joined = [_join(tuple(part[number] for part in parts)) for number in range(count)]
    whole = tuple(tensor for tensor in joined if tensor is not None)
    return whole if len(whole) == count else None


def _join(pieces: Tuple[Tensor, ...]) -> Optional[Tensor]:
    """One tensor from every writer's share; None when they do not make a whole."""
    first = pieces[0]
    if any(other[:4] != first[:4] for other in pieces):
        return None
    joined = tuple(piece for tensor in pieces for piece in tensor.pieces)
    covered = sum(math.prod(piece.shape) for piece in joined)
    wanted = math.prod(first.shape) if first.itemsize else 0
    return first._replace(pieces=joined) if covered == wanted else None
