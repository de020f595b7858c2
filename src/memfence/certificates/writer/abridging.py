"""What a search left out of its states, in the terms of the checker.

Dead registers, locations that are only passed, and all but one of the states that exchanging processes makes equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from memfence.certificates.checker.abridged import ends_of
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Refused
from memfence.certificates.format.abridged import WHOLE, Abridgement
from memfence.certificates.writer.rows import Visited
from memfence.engines.native.explicit import Explored
from memfence.models.spec import ModelSpec
from memfence.passes.initial_steps import skipped_steps
from memfence.passes.liveness import dead_registers_of
from memfence.passes.reductions import reduce
from memfence.passes.symmetry import symmetry_classes
from memfence.program.facts.effects import is_local, stored_variables
from memfence.program.facts.observation import observed_by
from memfence.program.ir import Fence, Lock, Process, Program, Transition

Abridged = tuple[Explored, Abridgement]
Search = Callable[[frozenset[str]], Explored]
CHECKABLE = frozenset({"dead", "fuse", "symmetry"})
"""The reductions whose states a checker can make do with."""


def abridged(question: Question, model: ModelSpec, search: Search, *, whole: bool = False) -> Abridged:
    """A search that is as far reduced as the checker can follow, and what its states leave out: nothing if `whole`."""
    for reductions in () if whole else _attempts(question):
        explored = search(reductions)
        left_out = abridgement(question, explored, model)
        if left_out is not None:
            return explored, left_out
    return search(frozenset()), WHOLE


def _attempts(question: Question) -> Iterator[frozenset[str]]:
    """What to try, the most first. Where nobody is alike, nothing is searched twice for it."""
    observed = observed_by(question.program, question.looks_at)
    is_folded = bool(symmetry_classes(question.program, observed))
    for names in (("dead",),) if question.deadlock else (("dead", "fuse"), ("dead",)):
        yield from (frozenset({*names, "symmetry"}),) if is_folded else ()
        yield frozenset(names)


def abridgement(question: Question, explored: Visited, model: ModelSpec) -> Abridgement | None:
    """What is missing from the states of a search that was made by `CHECKABLE` reductions.

    None where the checker would not put up with it.
    """
    program, exprs, alike = question.program, question.looks_at, explored.encoded.symmetric
    first = {p: members[0] for members in alike for p in members}
    like = [first.get(p, p) for p, _ in enumerate(program.processes)]  # what is true of it is true of the others
    pairs = list(zip(program.processes, explored.reduced.processes, strict=True))
    passing = {p: _passing(*pairs[p]) for p in dict.fromkeys(like)}
    starts = {(p, *(one.initial for one in pair)): pair for p, pair in zip(like, pairs, strict=True)}
    if not all(_is_covered(model, *pair, passing[p]) for (p, *_), pair in starts.items()):
        return None
    observed = observed_by(without_copies(program, alike), exprs)
    dead = {p: dead_registers_of(program.processes[p], p, observed) for p in passing}
    found = Abridgement(tuple(passing[p] for p in like), tuple(dead[p] for p in like), alike)
    try:
        ends_of(program, model.unbounded.definition, found, exprs, deadlock=question.deadlock)
    except Refused:
        return None
    return found


def passed_alone(question: Question, model: ModelSpec) -> Iterator[Abridgement]:
    """What a search over the places of single processes may leave out, the most first, whole places last."""
    program, observed = question.program, observed_by(question.program, question.looks_at)
    reduced = reduce(program, observed, CHECKABLE, model=model)
    passing = tuple(_passing(*pair) for pair in zip(program.processes, reduced.processes, strict=True))
    dead = tuple(dead_registers_of(process, p, observed) for p, process in enumerate(program.processes))
    nowhere = tuple(frozenset[int]() for _ in passing)
    yield from (Abridgement(passing, dead), Abridgement(nowhere, dead), WHOLE)


def without_copies(program: Program, alike: tuple[tuple[int, ...], ...]) -> Program:
    """`program` with one process of each class: the others do what it does."""
    copies = {p for members in alike for p in members[1:]}
    return replace(program, processes=tuple(p for n, p in enumerate(program.processes) if n not in copies))


def _passing(loaded: Process, searched: Process) -> frozenset[int]:
    """The locations that were fused away: only local steps leave them."""
    kept = {searched.initial, *(t.source for t in searched.transitions)}
    gone = (at for at in range(len(loaded.locations)) if at not in kept and any(loaded.leaving(at)))
    return frozenset(at for at in gone if all(_may_be_local(t) for _, t in loaded.leaving(at)))


def _may_be_local(transition: Transition) -> bool:
    return transition.sync is None and all(is_local(op) or isinstance(op, Fence) for op in transition.ops)


def _is_covered(model: ModelSpec, loaded: Process, searched: Process, passing: frozenset[int]) -> bool:
    """Whether the first steps that were skipped are passed, nobody is left out who holds the bus or a separator, and
    stores that no run comes to have left their buffers behind."""
    skipped = skipped_steps(loaded, searched.initial)
    arriving = (op for t in loaded.transitions if t.target in passing for op in t.ops)
    return (
        all(loaded.transitions[n].source in passing for n in skipped)
        and not any(
            isinstance(op, Lock) or (isinstance(op, Fence) and model.reorders_stores and op.kind != "mfence")
            for op in arriving
        )
        and (not model.has_buffers or stored_variables(loaded) == stored_variables(searched))
    )
