"""Criteria: every state of SC, or for state-robustness of the model itself, for the checker to look at one by one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from memfence.certificates.checker.criteria import require_shared_memory, require_single_stores
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Refused
from memfence.certificates.format.abridged import Abridgement
from memfence.certificates.format.columns import ROWS_IN_A_BLOCK, Columns
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.sections import ROWS, SECTION
from memfence.certificates.writer.abridging import abridged, abridgement, without_copies
from memfence.certificates.writer.chunks import Chunks, NoCertificate
from memfence.certificates.writer.invariant import safety_of
from memfence.certificates.writer.rows import Visited, blocks_of
from memfence.engines.iterative_deepening import deepening
from memfence.engines.native.explicit import Explored, explore
from memfence.engines.native.sc_states import ScExploration
from memfence.models.spec import SC, ModelSpec
from memfence.program.ir import Program
from memfence.tasks.limits import Limits, Stop


class StepFails(NoCertificate):
    """The search for all states has met a step that fails, and is over."""


def criterion_chunks(
    criterion: str,
    question: Question,
    limits: Limits,
    *,
    implied_by: str | None = None,
    whole: bool = False,
    visited: object = None,
) -> Chunks:
    """A section that proves the criterion. `whole`: nothing is left out of its states.

    `implied_by`: the stronger criterion that the answer rests on. `visited`: what the engine that gave it went through,
    which may be what has to be written down.
    """
    if criterion == "state-robust" and implied_by in ("persistent", "robust"):
        criterion = implied_by
    question = replace(question, bad=None, finals=())  # a criterion is asked alone: no register is looked at
    if criterion in ("persistent", "robust") and isinstance(visited, ScExploration) and not whole:
        known = _visited_chunks(criterion, question, visited)
        if known is not None:
            return known
    match criterion:
        case "persistent" | "robust" | "state-robust" if not question.model.has_buffers:
            return iter([(SECTION, json.dumps({"kind": "sc-itself"}).encode())])
        case "state-robust":  # that SC reaches the same states is asked of all of them
            return _states("state-robust", question, question.model, limits, whole=True)
        case "drf":
            return sc_chunks("race-free", question, limits, whole=whole)
        case "persistent":
            return sc_chunks("persistent", question, limits, whole=whole)
        case "trf":
            return triangular_chunks(question.program, limits)
        case "robust":
            return sc_chunks("robust", question, limits, whole=whole)
        case _:
            raise NoCertificate(f"there are no certificates for `{criterion}`")


def sc_chunks(kind: str, question: Question, limits: Limits, *, whole: bool = False) -> Chunks:
    """A section with every state of SC, for programs that the checker knows the criterion of."""
    if kind != "race-free":
        _require(require_single_stores, question.program)
    _require(partial(require_shared_memory, regions=kind != "implied"), question.program)
    try:
        yield from _states(kind, question, SC, limits, whole)
    except StepFails:
        if kind == "implied":
            raise
        yield from _states_beside_failures(kind, question, limits)


def _states_beside_failures(kind: str, question: Question, limits: Limits) -> Chunks:
    """Every state of SC of a program with steps that fail, where the engine's search ends."""
    from memfence.certificates.checker.native import NotForTheFastChecker
    from memfence.certificates.checker.native_criteria import reachable_under_sc

    try:
        blocks = list(reachable_under_sc(question, most_bytes=limits.memory_bytes))
    except (NotACertificate, NotForTheFastChecker) as reason:
        raise NoCertificate(str(reason)) from None
    except MemoryError:
        raise NoCertificate("there are too many states for this kind of certificate") from None
    yield SECTION, json.dumps({"kind": kind, "capacity": 0}).encode()
    yield from ((ROWS, block) for block in blocks)


def _visited_chunks(kind: str, question: Question, visited: ScExploration) -> Chunks | None:
    """The states of an engine that looked for attacks; None where they are not those that the checker wants.

    The engine does not mind steps that fail, the checker does.
    """
    program = question.program
    is_same = visited.program.processes == program.processes and visited.program.variables == program.variables
    if not is_same or visited.native.stats.failures or not question.model.has_buffers:
        return None
    left_out = abridgement(question, visited, SC)
    return None if left_out is None else _checked(kind, question, visited, left_out)


def _checked(kind: str, question: Question, visited: ScExploration, left_out: Abridgement) -> Chunks:
    _require(require_single_stores, without_copies(question.program, left_out.alike))
    yield from _section(kind, question, SC, visited, left_out)


def _require(condition: Callable[[Program], None], program: Program) -> None:
    try:
        condition(program)
    except Refused as reason:
        raise NoCertificate(reason.detail) from None


def triangular_chunks(program: Program, limits: Limits) -> Chunks:
    """A section with every state of SC and the newest unfenced store of each process."""
    from memfence.certificates.checker.native import NotForTheFastChecker
    from memfence.certificates.checker.native_criteria import NativeTriangular

    try:
        rows = NativeTriangular(program).reachable(most_bytes=limits.memory_bytes)
    except (Refused, NotACertificate, NotForTheFastChecker) as reason:
        raise NoCertificate(reason.detail if isinstance(reason, Refused) else str(reason)) from None
    except MemoryError:
        raise NoCertificate("there are too many states for this kind of certificate") from None
    yield SECTION, json.dumps({"kind": "triangular"}).encode()
    for at in range(0, len(rows), ROWS_IN_A_BLOCK):
        yield ROWS, _planes(rows[at : at + ROWS_IN_A_BLOCK])


def _planes(rows: Sequence[bytes]) -> bytes:
    return b"".join(bytes(plane) for plane in zip(*rows, strict=True))


def _states(kind: str, question: Question, asked: ModelSpec, limits: Limits, whole: bool) -> Chunks:
    search = partial(_explored, question, asked, limits)
    yield from _section(kind, question, asked, *abridged(question, asked, search, whole=whole))


def _section(kind: str, question: Question, asked: ModelSpec, explored: Visited, left_out: Abridgement) -> Chunks:
    capacity = explored.model.bound or 0
    try:
        columns = Columns(question.program, asked.buffering, capacity)
    except NotACertificate as too_wide:
        raise NoCertificate(str(too_wide)) from None
    yield SECTION, json.dumps({"kind": kind, "capacity": capacity} | left_out.as_lists()).encode()
    for block in blocks_of(explored, columns, left_out):
        yield ROWS, block


def _explored(question: Question, asked: ModelSpec, limits: Limits, reductions: frozenset[str]) -> Explored:
    for model in deepening(asked):
        explored = explore(question.program, model, safety_of(question), limits=limits, reductions=reductions)
        if explored.stop is not Stop.NOTHING_LEFT or explored.refused == 0:
            break
    if explored.finding is not None:
        raise StepFails("a step of the program fails, and such programs are not covered")
    if explored.stop is not Stop.NOTHING_LEFT or explored.refused:
        raise NoCertificate("the search did not come to its end")
    return explored
