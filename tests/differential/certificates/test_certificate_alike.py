"""Certificates that fold processes which are alike: whatever the checkers let them fold, all states say the same.

Programs have copies of a process, some of which were changed a little, and classes are claimed at random. The set is
the best that a forger could write: whatever the steps lead to, sorted. If a checker accepts it, the claim is true of
all states, by definition; and where the processes are alike indeed, it accepts it.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from memfence.certificates.checker.abridged import Ends, ends_of
from memfence.certificates.checker.criteria import check_persistent, check_race_free
from memfence.certificates.checker.native import NotForTheFastChecker
from memfence.certificates.checker.question import Question, question_of
from memfence.certificates.checker.refusal import Refused
from memfence.certificates.checker.robust import check_robust
from memfence.certificates.format.abridged import Abridgement, read_abridgement
from memfence.certificates.format.columns import Columns, row_of
from memfence.certificates.format.container import NotACertificate, read_chunks
from memfence.certificates.format.header import Claim
from memfence.certificates.format.sections import ROWS, SECTION
from memfence.certificates.writer.certify import certify
from memfence.certificates.writer.chunks import NoCertificate
from memfence.models.spec import PSO, SC, TSO, ModelSpec
from memfence.models.state import Failure, State
from memfence.models.steps import MemoryModel, evaluate_in, is_final, set_at, starts, successors
from memfence.passes.liveness import dead_registers
from memfence.program.expressions import Expr, walk
from memfence.program.facts.effects import op_expressions
from memfence.program.facts.observation import observed_by
from memfence.program.ir import Program
from memfence.tasks.limits import Limits
from support.certificates import beginning, blocks_of, container, judge
from support.generators.copies import LOCATIONS, REGISTERS, drawn_copies
from twins.reference_search import TooManyStates, breadth_first, explore

MOST_STATES = 1_500
SAMPLE, MANY = 60, 3_000
NOTHING = frozenset[int]()
MODELS = (SC, *(model.bounded(bound) for model in (TSO, PSO) for bound in (1, 2)))


def nothing_left_out(program: Program, *classes: tuple[int, ...]) -> Abridgement:
    dead = tuple(tuple(NOTHING for _ in process.locations) for process in program.processes)
    return Abridgement(tuple(NOTHING for _ in program.processes), dead, classes)


def accepted(
    program: Program, model: MemoryModel, left_out: Abridgement, seen: tuple[Expr, ...] = (), *, deadlock: bool = False
) -> Ends | None:
    try:
        return ends_of(program, model, left_out, seen, deadlock=deadlock)
    except Refused:
        return None


def kept(ends: Ends) -> set[State | Failure]:
    """What a set has to hold: the ends of initial states and of steps."""

    def follow(state: State | Failure) -> Iterator[State | Failure]:
        for step, after in () if isinstance(state, Failure) else successors(ends.program, ends.model, state):
            yield from (after,) if isinstance(after, Failure) else ends.of(after, step)

    first = [end for state in starts(ends.program, ends.model) for end in ends.of(state)]
    return set(breadth_first(first, follow, most=MOST_STATES))


def seen_of(random: Random, program: Program, process: int) -> str:
    """What a property may look at."""
    if random.random() < 0.5:
        return f"P{process}.r{random.randrange(REGISTERS)} == {random.randrange(3)}"
    return f"P{process}@#{random.randrange(LOCATIONS)}"


def with_more_left_out(random: Random, ends: Ends, seen: tuple[Expr, ...]) -> Ends:
    """Dead registers and passing locations as well, the same for all of a class as a rule."""
    program, left_out = ends.program, ends.left_out
    first = {p: members[0] for members in left_out.alike for p in members if random.random() < 0.8}
    dead = dead_registers(program, observed_by(program, seen))
    best = ends
    tried = replace(left_out, dead=tuple(dead[first.get(p, p)] for p, _ in enumerate(program.processes)))
    best = accepted(program, ends.model, tried, seen) or best
    for p, at in random.sample([(p, at) for p in range(len(program.processes)) for at in range(LOCATIONS)], 6):
        like = [q for q, _ in enumerate(program.processes) if first.get(q, q) == first.get(p, p)]
        passing = best.left_out.passing
        for q in like:
            passing = set_at(passing, q, passing[q] | {at})
        best = accepted(program, ends.model, replace(best.left_out, passing=passing), seen) or best
    return best


def views(program: Program, seen: tuple[Expr, ...], found: set[State | Failure]) -> set[object]:
    """What questions about `seen` and memory can tell of these states, and of the final ones among them."""
    told = set[object]()
    for state in found:
        if isinstance(state, Failure):
            told.add("failure")
            continue
        view = (state.memory, *(evaluate_in(program, state, 0, expr) for expr in seen))
        told |= {view, ("final", view)} if is_final(program, state) else {view}
    return told


def compare(seed: int) -> str:
    """What became of one draw: what a question can tell of the states that are kept, it can tell of all states."""
    random = Random(seed)
    program, copies = drawn_copies(random)
    model = random.choice(MODELS).definition
    others = [p for p, _ in enumerate(program.processes) if p not in copies or random.random() < 0.1]
    claim = Claim(model="sc", forbid=tuple(seen_of(random, program, random.choice(others)) for _ in others[:2]))
    seen = question_of(claim, program).looks_at
    ends = accepted(program, model, nothing_left_out(program, copies), seen)
    if ends is None:
        return "refused"
    everything = explore(program, model, most_states=MOST_STATES)
    if not everything.complete:
        return "large"
    if not everything.failures:
        assert kept(ends) == {end for state in everything.states for end in ends.of(state)}, f"seed {seed}"
    whole = views(program, seen, {*everything.states, *everything.failures})
    more = with_more_left_out(random, ends, seen)
    for one in (ends, more):
        part = views(program, seen, kept(one))
        assert ("failure" in part) == ("failure" in whole), f"seed {seed}"
        assert "failure" in whole or part == whole, f"seed {seed}"
    return "passing" if any(more.left_out.passing) else "alike"


def test_what_is_kept_says_what_all_states_say() -> None:
    results = Counter(compare(seed) for seed in range(4 * SAMPLE))
    assert results["passing"] > SAMPLE // 2 and results["alike"] > SAMPLE // 4 and results["refused"] > SAMPLE // 4


@pytest.mark.slow
def test_it_does_so_in_thousands_of_programs() -> None:
    results = Counter(compare(seed) for seed in range(4 * SAMPLE, 4 * MANY))
    assert results["passing"] > MANY // 2


# Whole certificates, for both checkers.


def drawn_claim(random: Random, program: Program, copies: tuple[int, ...], plain: bool) -> Claim:
    if plain:
        criterion = random.choice(["persistent", "robust", "drf"])
        return Claim(model=random.choice(["tso", "pso"]) if criterion == "robust" else "tso", criterion=criterion)
    bound = random.choice([None, 1, 2])
    model = "sc" if bound is None else random.choice(["tso", "pso"])
    if random.random() < 0.3:
        return Claim(model=model, bound=bound, deadlock=True)
    others = [p for p, _ in enumerate(program.processes) if p not in copies]
    looked_at = random.choice(others or copies) if random.random() < 0.6 else random.choice(copies)
    text = random.choice([f"{seen_of(random, program, looked_at)} && x0 == 1", "x0 == 2 && x1 == 2"])
    return Claim(model=model, bound=bound, forbid=(text,))


def forged(random: Random, program: Program, copies: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The copies, or whatever else somebody might say to be alike."""
    numbers = range(len(program.processes))
    if random.random() < 0.6:
        return (copies,)
    return (tuple(sorted(random.sample(numbers, random.randint(2, len(numbers))))),)


def section_of(kind: str, question: Question, model: ModelSpec, left_out: Abridgement) -> list[tuple[bytes, bytes]]:
    """The least set that is closed, whether or not that is a proof."""
    capacity = (model.bound or 0) if model.has_buffers else 0
    columns = Columns(question.program, model.buffering, capacity)
    ends = Ends(question.program, model.definition, left_out, (NOTHING,) * 9, (NOTHING,) * 9)
    try:
        rows = sorted({row_of(columns, state) for state in kept(ends) if isinstance(state, State)})
    except (IndexError, OverflowError, ValueError, TooManyStates):  # exchanging them leads to what are no states
        states = explore(question.program, model.definition).states
        rows = sorted({row_of(columns, state) for state in states})
    details = {"kind": kind, "capacity": capacity} | left_out.as_lists()
    return [(SECTION, json.dumps(details).encode()), *((ROWS, block) for block in blocks_of(rows))]


def is_true(question: Question, claim: Claim, states: set[State], has_failed: bool) -> bool:
    """The definition, on all reachable states."""
    judges: dict[str, Callable[[], None]] = {
        "persistent": lambda: check_persistent(question.program, states),
        "robust": lambda: check_robust(question.program, question.model.unbounded.definition, states),
        "drf": lambda: check_race_free(question.program, states),
    }
    if claim.criterion in judges:
        try:
            judges[claim.criterion]()
        except Refused:
            return False
        return True
    model = question.model.definition
    has_steps = ((state, any(True for _ in successors(question.program, model, state))) for state in states)
    return not has_failed and not any(
        question.is_bad(state) or question.is_stuck(state, has_step=has_step) for state, has_step in has_steps
    )


def both_judge(content: bytes, program: Program) -> bool:
    """Whether the checkers accept it: both or none."""
    is_accepted = judge(content, program).condition is None
    with suppress(NotForTheFastChecker):
        assert (judge(content, program, fast=True).condition is None) == is_accepted
    return is_accepted


def is_alike(program: Program, question: Question, members: tuple[int, ...]) -> bool:
    """Whether nothing tells the processes apart: a slow and obvious twin of the checker's condition."""
    steps = [t for process in program.processes for t in process.transitions]
    exprs = [e for t in steps for op in t.ops for e in op_expressions(op)] + list(question.looks_at)
    exprs += [e for t in steps if t.sync for e in t.sync.values]
    looks = {getattr(node, "process", None) for e in exprs for node in walk(e)}
    first, *rest = (program.processes[p] for p in members)
    return looks.isdisjoint(members) and all(
        one.transitions == first.transitions
        and [r.domain for r in one.registers] == [r.domain for r in first.registers]
        and [at.may_end for at in one.locations] == [at.may_end for at in first.locations]
        for one in rest
    )


def judged(seed: int) -> str:
    random = Random(seed)
    plain = random.random() < 0.4
    program, copies = drawn_copies(random, plain=plain)
    claim = drawn_claim(random, program, copies, plain)
    question = question_of(claim, program)
    model = SC if plain else question.model
    everything = explore(question.program, model.definition, most_states=MOST_STATES)
    if not everything.complete:
        return "large"
    classes = forged(random, program, copies)
    left_out = nothing_left_out(program, *classes)
    kind = {"drf": "race-free", "safety": "invariant"}.get(claim.criterion, claim.criterion)
    content = container([*beginning(program, claim), *section_of(kind, question, model, left_out)])
    is_accepted = both_judge(content, program)
    truth = is_true(question, claim, everything.states, bool(everything.failures))
    assert truth or not is_accepted, f"seed {seed}: a wrong proof is accepted"
    assert is_accepted == (truth and is_alike(program, question, classes[0])), f"seed {seed}"
    return f"{'plain' if plain else 'any'} {'accepted' if is_accepted else 'not alike' if truth else 'false'}"


def test_no_forged_class_proves_what_is_false() -> None:
    results = Counter(judged(seed) for seed in range(3 * SAMPLE))
    for kind in ("plain", "any"):
        assert all(results[f"{kind} {what}"] > 3 for what in ("accepted", "not alike", "false")), results


@pytest.mark.slow
def test_no_forged_class_of_thousands_does() -> None:
    results = Counter(judged(seed) for seed in range(3 * SAMPLE, 3 * MANY))
    assert all(results[f"plain {what}"] > MANY // 20 for what in ("accepted", "not alike", "false")), results


# What the writer writes.


def written(seed: int, folder: Path) -> str:
    """A certificate of ours about a program with copies: both checkers accept it, if the claim is true."""
    random = Random(seed)
    plain = random.random() < 0.5
    program, copies = drawn_copies(random, plain=plain)
    claim = drawn_claim(random, program, copies, plain)
    place = folder / "proof.mfc"
    try:
        certify(program, claim, place, Limits())
    except NoCertificate:
        return "none"
    content = place.read_bytes()
    details = [json.loads(one.content) for one in read_chunks(io.BytesIO(content)) if one.kind == SECTION]
    is_accepted = both_judge(content, program)
    question = question_of(claim, program)
    everything = explore(question.program, (SC if plain else question.model).definition)
    assert is_accepted == is_true(question, claim, everything.states, bool(everything.failures)), f"seed {seed}"
    return "alike" if any("alike" in one for one in details) else "whole"


def test_certificates_of_ours_fold_processes_and_are_accepted(tmp_path: Path) -> None:
    results = Counter(written(seed, tmp_path) for seed in range(2 * SAMPLE))
    assert results["alike"] > SAMPLE // 4, results


@pytest.mark.slow
def test_thousands_of_ours_are_accepted(tmp_path: Path) -> None:
    results = Counter(written(seed, tmp_path) for seed in range(2 * SAMPLE, MANY))
    assert results["alike"] > MANY // 10, results


@pytest.mark.parametrize(
    "alike", [0, [0], [[0, 9]], [[-1, 0]], [[0, 0]], [[0, 1], [1, 2]], [["0", 1]], [[0, True]], None]
)
def test_classes_that_are_none_are_no_certificate(alike: object) -> None:
    program, _ = drawn_copies(Random(3))
    program = replace(program, processes=(program.processes[0],) * 3)
    details = nothing_left_out(program).as_lists() | {"alike": alike}
    with pytest.raises(NotACertificate):
        read_abridgement(program, details)
