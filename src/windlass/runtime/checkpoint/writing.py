"""One save: write the data files, gather the parts of every writer, commit the manifest.

Must not touch anything that was committed. Until the manifest is there, nothing has happened.
"""

from __future__ import annotations

import functools
import math
import os
import time
from typing import Callable, List, NamedTuple, Optional, Sequence, Tuple, TypeVar

from windlass.runtime.checkpoint import manifest, reading, tensors
from windlass.runtime.checkpoint.errors import CheckpointFailed, Damage
from windlass.runtime.checkpoint.files import DataWriter
from windlass.runtime.checkpoint.manifest import DataFile, Manifest, Part, Piece, Tensor
from windlass.runtime.checkpoint.places import Place
from windlass.runtime.checkpoint.tensors import Source
from windlass.runtime.checkpoint.tree import Node

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


def write(place: Place, order: Order, *, tree: Node, sources: Sequence[Source]) -> bool:
    """Save one step; True when this attempt's checkpoint was committed, False when another was.

    Raises:
        OSError: it was not taken. What was written is removed again.
        CheckpointFailed: another writer did not do its part in time.
    """
    place.prepare()
    draft = _Draft(place, order)
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

    def __init__(self, place: Place, order: Order) -> None:
        self.place = place
        self.order = order
        self._token = os.urandom(4).hex()
        self._is_out_of_hand = False
        """Whether another may refer to our files by now: then they must stay."""
        stem = f"a{order.attempt}-w{order.writer}-{self._token}"
        self._data = DataWriter(place, stem, algorithm=order.algorithm, bytes_max=order.bytes_max)

    def store(self, sources: Sequence[Source]) -> Part:
        stored = tuple(self._store(source) for source in sources)
        self._data.finish()
        self.place.settle()
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
        self.place.leave()

    # ---- one of several writers ---------------------------------------------------------------

    def publish_part(self, part: Part) -> None:
        name = self._part_name(self.order.writer)
        self.place.remove(name)  # Of an earlier try of this attempt, if there is one.
        self._is_out_of_hand = True
        self.place.publish(name, manifest.encode_part(part), staged=self._staged("part"))
        self.place.settle()

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
        look = functools.partial(_other_than, self.place, self.order.damaged)
        committed = manifest.decode(self._await(look, "writer 0"))
        ours = {file.name for file in self._data.files}
        return committed.attempt == self.order.attempt and ours <= {
            file.name for file in committed.files
        }

    def _part(self, writer: int) -> Optional[Part]:
        content = self.place.read(self._part_name(writer))
        try:
            part = None if content is None else manifest.decode_part(content)
        except Damage:
            return None
        return part if part is not None and part.save == self.order.save else None

    def _await(self, look: Callable[[], Optional[_Seen]], whom: str) -> _Seen:
        deadline = time.monotonic() + self.order.wait_s
        while True:
            seen = look()
            if seen is not None:
                return seen
            if time.monotonic() > deadline:
                raise CheckpointFailed(
                    f"Step {self.order.step} was not saved to {self.place}: {whom} did not "
                    f"answer within {self.order.wait_s:.0f} s.",
                    remedy="Check that every writer calls save() for the same steps, and that "
                    "they share this folder.",
                )
            time.sleep(self.place.pause_s)

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
        if order.damaged is not None and self.place.read(manifest.NAME) == order.damaged:
            self.place.remove(manifest.NAME)
        # A later attempt sweeps what earlier ones leave: then this process is a left-over too.
        is_ours = reading.has_all(self.place, part.files) and self._publish_manifest(content)
        self.place.settle()
        if not is_ours:
            self._yield_to_the_other()
        for writer in range(1, order.writers):
            self.place.remove(self._part_name(writer))
        return is_ours

    def _publish_manifest(self, content: bytes) -> bool:
        staged = self._staged("manifest")
        try:
            self._is_out_of_hand = self.place.publish(manifest.NAME, content, staged=staged)
        except FileNotFoundError:
            return False  # Swept, as above.
        except OSError:
            # The reply may have been lost, not the link.
            self._is_out_of_hand = self.place.may_hold(manifest.NAME, content)
            raise
        return self._is_out_of_hand

    def _yield_to_the_other(self) -> None:
        self.take_back()
        if not reading.looks_whole(self.place):
            raise CheckpointFailed(
                f"Step {self.order.step} was not saved: a later attempt is at work here, or a "
                "damaged checkpoint is in its place.",
                remedy=f"Look at {self.place}, and remove it if no other process is using it.",
            )

    def _part_name(self, writer: int) -> str:
        return f"part-a{self.order.attempt}-w{writer}.json"

    def _staged(self, what: str) -> str:
        return f".{what}-a{self.order.attempt}-{self._token}"


def _other_than(place: Place, damaged: Optional[bytes]) -> Optional[bytes]:
    content = place.read(manifest.NAME)
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
