"""Where the figures behind a plan are from: this user's own runs, the spec, or a prior.

Must not compute a plan: it only says what one was made of.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from windlass.planner.ask import Ask
from windlass.planner.candidates import Candidate
from windlass.planner.history import NO_CHIP, History, MeasuredStep, Seen, hazard_per_node_h
from windlass.planner.priors import Prior, Priors
from windlass.planner.useful import Amount

OWN = "your own runs"
STEP = "step"


class Figure(NamedTuple):
    """A figure that plans use, and what has shown it."""

    key: str
    value: float
    unit: str
    source: str
    prior: Prior | None = None
    """What was believed before; None where nothing was."""
    seen: Seen | None = None
    """What has moved it; None when nothing of this user's has."""

    @property
    def is_own(self) -> bool:
        """Whether this user's own runs have shown it."""
        return self.source.startswith(OWN)


def assumptions(priors: Priors, history: History) -> tuple[Figure, ...]:
    """Every figure that plans use; those that history has moved as it makes them."""
    moved = {figure.key: figure for figure in _hazards(history, priors)}
    steps = (_own_step(step) for step in history.steps[:1])
    stated = {prior.key: _of_prior(prior) for prior in priors.entries.values()}
    return (*steps, *(stated | moved).values())


def learned(ask: Ask, candidates: Iterable[Candidate]) -> tuple[Figure, ...]:
    """What these candidates owe to history."""
    kinds = {(_chip(found), found.way.kind) for found in candidates}
    history = ask.circumstances.history
    known = History(seen={kind: history.seen[kind] for kind in kinds & history.seen.keys()})
    step = _step(ask.amount)
    steps = (step,) if step is not None and step.is_own else ()
    return (*steps, *_hazards(known, ask.priors))


def sources(ask: Ask, candidate: Candidate) -> tuple[Figure, ...]:
    """The figures behind one candidate's time; nothing when the spec names no work."""
    if ask.amount is None:
        return ()
    chip, kind = _chip(candidate), candidate.way.kind
    priors, history = ask.priors, ask.circumstances.history
    known = {key: seen for key, seen in history.seen.items() if key == (chip, kind)}
    hazards = _hazards(History(seen=known), priors)
    of_chip = candidate.offer.chip
    start = NO_CHIP if of_chip is None else "tpu" if of_chip.is_tpu else "gpu"
    return (
        _step(ask.amount) or _of_prior(priors.find("mfu", chip)),
        *(hazards or (_of_prior(priors.find("hazard", kind, chip)),)),
        _of_prior(priors.find("first_wait", kind)),
        _of_prior(priors.find("wait", kind)),
        _of_prior(priors.find("start", start)),
    )


def _hazards(history: History, priors: Priors) -> tuple[Figure, ...]:
    return tuple(_hazard(history, priors, chip=chip, buy=buy) for chip, buy in sorted(history.seen))


def _hazard(history: History, priors: Priors, *, chip: str, buy: str) -> Figure:
    prior, seen = priors.find("hazard", buy, chip), history.seen[chip, buy]
    return Figure(
        key=f"hazard/{buy}/{chip}",
        value=hazard_per_node_h(history, priors, chip=chip, buy=buy),
        unit=prior.unit,
        source=f"{OWN}: {seen}; the prior was {prior.value:g}",
        prior=prior,
        seen=seen,
    )


def _step(amount: Amount | None) -> Figure | None:
    """The step that times are scaled from, if there is one."""
    reference = amount.reference if amount is not None else None
    if reference is None:
        return None
    gang = reference.gang
    chip = gang.chip.name if gang.chip else NO_CHIP
    who = OWN if reference.source == "history" else "work.reference of the spec"
    on = f"{gang.nodes} x {chip}:{gang.chips_per_node}"
    return Figure(key=STEP, value=reference.step_s, unit="s", source=f"{who}: on {on}")


def _own_step(step: MeasuredStep) -> Figure:
    source = f"{OWN}: on {step.nodes} x {step.accelerators}"
    return Figure(key=STEP, value=step.step_s, unit="s", source=source)


def _of_prior(prior: Prior) -> Figure:
    return Figure(
        key=prior.key, value=prior.value, unit=prior.unit, source=prior.source, prior=prior
    )


def _chip(candidate: Candidate) -> str:
    return candidate.offer.chip.name if candidate.offer.chip else NO_CHIP
