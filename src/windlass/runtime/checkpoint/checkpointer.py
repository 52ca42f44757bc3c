"""The checkpointer: save, restore, and say when the next save is due.

Must not know how bytes are laid out (writing.py, reading.py) nor which steps stay (retention.py).
"""

from __future__ import annotations

import logging
import operator
import os
import time
from pathlib import Path
from typing import (
    Any,
    List,
    NamedTuple,
    NoReturn,
    Optional,
    Sequence,
    Set,
    SupportsIndex,
    Tuple,
    Union,
)

from windlass.runtime.checkpoint import manifest, reading, retention, tree, writing
from windlass.runtime.checkpoint.checksums import checksum
from windlass.runtime.checkpoint.errors import (
    CheckpointDamaged,
    CheckpointFailed,
    CheckpointRefused,
    Damage,
)
from windlass.runtime.checkpoint.interval import Pace
from windlass.runtime.checkpoint.location import folder_of, shelf_of
from windlass.runtime.checkpoint.places import Place, Shelf
from windlass.runtime.checkpoint.tensors import Source
from windlass.runtime.context import context
from windlass.runtime.notice import notice
from windlass.runtime.progress import event

log = logging.getLogger("windlass.runtime")


class Options(NamedTuple):
    """What hardly anybody needs to change."""

    checksum: str = "sha256"
    file_bytes_max: int = 64 * 1024 * 1024
    wait_s: float = 300.0
    """How long sharded writers wait for each other."""


class Restored(NamedTuple):
    """What a restore gives back."""

    step: int
    state: Any


class Checkpointer:
    """Checkpoints of one run in one folder.

    `to`, `every_s` and `keep` default to what the spec says (`checkpoint:`). By default rank 0
    writes and `save` does nothing elsewhere; with `writer=(index, count)` every one of `count`
    processes writes what it holds, and all of them must save the same steps.
    """

    def __init__(
        self,
        to: Union[str, os.PathLike[str], None] = None,
        *,
        every_s: Optional[float] = None,
        keep: Optional[int] = None,
        writer: Optional[Tuple[int, int]] = None,
        options: Options = Options(),  # noqa: B008 - an immutable value
    ) -> None:
        here = context()
        self.folder: Union[Path, str] = folder_of(here.checkpoint_to if to is None else to)
        self._shelf: Shelf = shelf_of(self.folder)
        self.keep = here.checkpoint_keep if keep is None else keep
        self.options = options
        self._here = here
        self._writer = writer if writer is not None else ((0, 1) if here.rank == 0 else None)
        self._check()
        every_s = here.checkpoint_every_s if every_s is None else every_s
        self._pace = Pace(every_s, mtbf_s=here.mtbf_s, now=time.monotonic())
        self._saves = 0
        self._whole: Set[int] = set()
        self._damaged: Set[int] = set()
        self._answered_deadline: Optional[float] = None

    def save(self, step: SupportsIndex, state: object) -> bool:
        """Write a checkpoint; when this returns, it is committed and would survive a power cut.

        True when a checkpoint was written; False when there was nothing to do: this rank does not
        write, or a whole checkpoint of this step stands already. One that is damaged is replaced.

        Raises:
            CheckpointFailed: nothing was saved, and nothing that was committed before was touched.
            CheckpointRefused: the state has something in it that cannot be saved.
        """
        number = operator.index(step)
        if number < 0:
            raise CheckpointRefused(
                f"A checkpoint cannot have the step {number}.", remedy="Count steps from 0."
            )
        self._saves += 1
        began = time.monotonic()
        is_written = False
        try:
            is_written = self._writer is not None and self._save(number, state, self._writer)
        finally:
            self._pace.restart(time.monotonic())
        if is_written:
            self._after_commit(number, time.monotonic() - began)
        pending = notice()
        self._answered_deadline = pending.deadline if pending is not None else None
        return is_written

    def restore(self, like: Any = None) -> Optional[Restored]:
        """The newest checkpoint that is whole, or None when there is none at all.

        Every size and checksum is verified first. A damaged checkpoint is reported, left where it
        is, and the one before it is used. With `like`, the state comes back in the same containers
        and kinds of arrays, placed as those are; without, in dicts, lists and tuples with NumPy
        arrays (torch tensors as torch tensors, on the CPU).

        Raises:
            CheckpointDamaged: there are checkpoints, and not one is whole.
            CheckpointMismatch: the checkpoint does not fit `like`.
        """
        found = self._shelf.steps()
        for step in reversed(found):
            try:
                state = reading.load(self._shelf.at(step), tree.FREE if like is None else like)
            except Damage as exc:
                self._report(step, exc)
                continue
            self._whole.add(step)
            self._pace.restart(time.monotonic())
            event("restored", step)
            return Restored(step, state)
        self._refuse_to_begin_again(found)
        return None

    def latest(self) -> Optional[int]:
        """The step that `restore` would give back: reads and verifies, and loads nothing."""
        found = self._shelf.steps()
        for step in reversed(found):
            try:
                reading.verify(self._shelf.at(step))
            except Damage as exc:
                self._report(step, exc)
                continue
            self._whole.add(step)
            return step
        self._refuse_to_begin_again(found)
        return None

    def steps(self) -> List[int]:
        """The committed steps, oldest first; they are not verified."""
        return self._shelf.steps()

    def due(self, step: SupportsIndex) -> bool:
        """Whether to save now: the interval has passed, or the machine will be taken away.

        Ranks decide by their own clocks: where all of them must take part in a save, let one
        decide and tell the others.
        """
        del step  # Time decides; the step is taken so that a program need not change if that does.
        pending = notice()
        if pending is not None and pending.deadline != self._answered_deadline:
            return True
        return self._pace.is_due(time.monotonic())

    # ---- how a save goes ----------------------------------------------------------------------

    def _save(self, step: int, state: object, writer: Tuple[int, int]) -> bool:
        place = self._shelf.at(step)
        damaged = self._manifest(place)
        if damaged is not None and (step in self._whole or not self._is_damaged(step)):
            return False
        shape, sources = tree.encode(state)
        order = writing.Order(
            step=step,
            run=self._here.run,
            attempt=self._here.attempt,
            writer=writer[0],
            writers=writer[1],
            save=self._saves,
            algorithm=self.options.checksum,
            bytes_max=self.options.file_bytes_max,
            wait_s=self.options.wait_s,
            damaged=damaged,
        )
        try:
            is_written = writing.write(place, order, tree=shape, sources=sources)
        except OSError as exc:
            self._fail(step, sources, exc)
        self._whole.add(step)
        self._damaged.discard(step)
        return is_written

    @staticmethod
    def _manifest(place: Place) -> Optional[bytes]:
        try:
            return place.read(manifest.NAME)
        except OSError:
            return None  # What is in the way is met when the new one is published.

    def _is_damaged(self, step: int) -> bool:
        if step not in self._damaged:
            try:
                reading.verify(self._shelf.at(step))
                self._whole.add(step)
            except Damage as exc:
                self._report(step, exc)
        return step in self._damaged

    def _after_commit(self, step: int, seconds: float) -> None:
        self._pace.saved(time.monotonic(), seconds)
        if self._writer is None or self._writer[0] != 0:
            return
        event("saved", step, seconds=round(seconds, 6))
        scope = retention.Scope(
            step=step, attempt=self._here.attempt, keep=self.keep, damaged=self._damaged
        )
        retention.tidy(self._shelf, scope)

    # ---- what goes wrong ----------------------------------------------------------------------

    def _check(self) -> None:
        checksum(self.options.checksum)
        index, count = self._writer if self._writer is not None else (0, 1)
        if self.keep < 1 or not 0 <= index < count or self.options.file_bytes_max < 1:
            raise CheckpointRefused(
                f"keep={self.keep}, writer={self._writer} and a file size of "
                f"{self.options.file_bytes_max} do not make a checkpointer.",
                remedy="Keep at least one; writer is (index, count) with index below count.",
            )

    def _report(self, step: int, damage: Damage) -> None:
        self._damaged.add(step)
        self._whole.discard(step)
        log.warning(
            "the checkpoint of step %d in %s is damaged and was passed over: %s",
            step,
            self.folder,
            damage,
        )
        event("damaged", step, reason=str(damage))

    def _refuse_to_begin_again(self, found: Sequence[int]) -> None:
        if found:
            raise CheckpointDamaged(
                f"Not one of the {len(found)} checkpoints in {self.folder} is whole.",
                remedy="Bring the files back from a copy, or remove the folder to begin again; "
                "nothing was deleted.",
            )

    def _fail(self, step: int, sources: Sequence[Source], exc: OSError) -> NoReturn:
        needed = sum(_size(source) for source in sources)
        room = self._shelf.room()
        raise CheckpointFailed(
            f"Step {step} was not saved to {self.folder}: {exc.strerror or exc}. It needs "
            f"{needed} bytes{room and '; '}{room}. Earlier checkpoints stand.",
            remedy=self._shelf.remedy,
        ) from exc


def _size(source: Source) -> int:
    size = source.tensor.itemsize
    for length in source.tensor.shape:
        size *= length
    return size
