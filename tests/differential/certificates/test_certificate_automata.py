"""Certificates of the symbolic search: valid where it ends, and never valid for something that is not true."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memfence.certificates.checker.automata import AutomataCheck
from memfence.certificates.checker.criteria import without_buffers
from memfence.certificates.checker.languages import (
    NOTHING,
    Word,
    Words,
    after_commit,
    after_step,
    missing,
    views_of,
    words_of,
)
from memfence.certificates.checker.question import question_of
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.checker.verify import verify
from memfence.certificates.format.automata import NUMBER, ReadAutomaton, SymbolicRows, read_automata
from memfence.certificates.format.columns import planes
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.header import Claim
from memfence.certificates.format.sections import OBJECT, ROWS, SECTION
from memfence.certificates.writer.automata import automata_chunks
from memfence.certificates.writer.chunks import NoCertificate
from memfence.models.state import Commit, Failure, State
from memfence.models.steps import starts, successors
from memfence.pipeline import load_text
from memfence.program.expressions import BufferEmpty, Const
from memfence.program.ir import Assert, Assume, Final, Forbidden, Lock, Process, Program, Transition, Unlock
from memfence.source import SourceText
from memfence.tasks.limits import Limits
from support.certificates import beginning, blocks_of, container, judge, row_of
from support.generators.cyclic_programs import cyclic_program
from support.models import spec
from twins.reference_search import explore
from twins.words import ALPHABET, LONGEST, accepts, committed, language, normal, short, view


@st.composite
def automata(draw: st.DrawFn) -> ReadAutomaton:
    """Small deterministic automata."""
    count = draw(st.integers(1, 3))
    target = st.none() | st.integers(0, count - 1)
    moves = tuple({entry: to for entry in ALPHABET if (to := draw(target)) is not None} for _ in range(count))
    return ReadAutomaton(moves, frozenset(draw(st.sets(st.integers(0, count - 1)))))


EVERYTHING = ReadAutomaton((dict.fromkeys(ALPHABET, 0),), frozenset({0}))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(automaton=automata(), other=automata())
def test_sets_of_words_are_what_the_words_say(automaton: ReadAutomaton, other: ReadAutomaton) -> None:
    words, added = words_of(automaton), ALPHABET[:2]
    known = language(words)
    for variables in (frozenset[int](), frozenset({0}), frozenset({0, 1})):
        views = views_of(automaton, variables)
        assert {view(word, variables) for word in known} <= set(views)
        assert all(missing(NOTHING, after_step(automaton, variables, one, ())) is not None for one in views)
        for one in views:
            chosen = {word for word in known if view(word, variables) == one}
            assert language(after_step(automaton, variables, one, ())) == chosen
            longer = {(*word, *added) for word in chosen}
            assert language(after_step(automaton, variables, one, added)) == {w for w in longer if len(w) <= LONGEST}
    for store in (entry for entry in ALPHABET if entry is not None):
        for overtakes in (False, True):
            left = set[Word]().union(*(committed(word, store, overtakes=overtakes) for word in known))
            found = language(after_commit(automaton, store, overtakes=overtakes))
            assert left <= found and short(left) == short(found)
    check_inclusion(words, other)


def check_inclusion(words: Words, other: ReadAutomaton) -> None:
    """Of the words, as they are and in normal form: what is missing is, and is as short as it can be."""
    for is_normal in (False, True):
        seen = {normal(word) if is_normal else word for word in language(words)}
        absent = seen - language(words_of(other))
        found = missing(other, words, normal=is_normal)
        if found is None:
            assert not absent
        else:
            assert not accepts(words_of(other), found)
            assert not is_normal or found == normal(found)
            assert len(found) > LONGEST or is_normal or found in absent
            assert is_normal or not absent or len(found) <= min(map(len, absent))
    assert missing(EVERYTHING, words) is None


def proof(program: Program, claim: Claim, *, most_states: int = 400) -> list[tuple[bytes, bytes]] | None:
    question = question_of(claim, program)
    try:
        return [*beginning(program, claim), *automata_chunks(question, Limits(most_states=most_states))]
    except NoCertificate:
        return None


def verified(program: Program, chunks: list[tuple[bytes, bytes]]) -> int:
    """The number of states, by both checkers; else what the Python one says, and the fast one says the same."""
    fast = judge(container(chunks), program, fast=True).condition
    try:
        states = verify(io.BytesIO(container(chunks)), program).states
    except (Refused, NotACertificate) as reason:
        assert fast == (reason.condition if isinstance(reason, Refused) else "not a certificate")
        raise
    assert fast is None
    return states


@pytest.mark.parametrize("model", ["tso", "pso"])
def test_what_the_symbolic_search_ends_with_is_a_proof(model: str) -> None:
    ended = 0
    for seed in range(60):
        program = cyclic_program(seed, ordered=seed % 2 == 1)
        chunks = proof(program, Claim(model=model, invariant=("true",)))
        if chunks is not None:
            assert verified(program, chunks) > 0
            ended += 1
    assert ended > 20


def short_words(automaton: ReadAutomaton) -> list[Word]:
    """The words of up to three entries."""
    found: list[tuple[Word, int]] = [((), 0)]
    for word, node in found:  # grows while it is gone through
        found += [((*word, entry), after) for entry, after in automaton.moves[node].items() if len(word) < 3]
    return [word for word, node in found if node in automaton.accepting]


@pytest.mark.parametrize("model", ["tso", "pso"])
def test_the_steps_of_each_word_are_among_those_of_its_set(model: str) -> None:
    """Where the model steps to with words in the buffers, a step of the sets leads to, with all words after it."""
    tried = 0
    for seed in range(30):
        random, program = Random(seed), cyclic_program(seed, ordered=seed % 2 == 1)
        chunks, question = proof(program, Claim(model=model)), question_of(Claim(model=model), program)
        if chunks is None:
            continue
        rows, automata = SymbolicRows(program), read_automata(content for kind, content in chunks if kind == OBJECT)
        listed = [state for kind, content in chunks if kind == ROWS for state in rows.states(content)]
        check = AutomataCheck(question, automata, listed)
        for control, numbers in random.sample(listed, min(8, len(listed))):
            known = list(check.steps(control, numbers))
            if model == "tso":
                known += check.commits(control, numbers)
            choices = list(product(*(short_words(automata[n]) for n in numbers)))
            for words in random.sample(choices, min(20, len(choices))):
                state = replace(control, buffers=tuple((word,) for word in words))
                for step, after in successors(program, check.issuing, state):
                    if isinstance(after, State) and (model == "tso" or not isinstance(step, Commit)):
                        assert any(step == other and leads_to(after, where, made) for other, where, made in known)
                        tried += 1
    assert tried > 500


def leads_to(after: State, where: State | Failure, made: list[Words]) -> bool:
    """Whether that control part, and those words, are among what a step of symbolic states leads to."""
    is_there = isinstance(where, State) and without_buffers(where) == without_buffers(after)
    return is_there and all(accepts(words, buffer) for words, (buffer,) in zip(made, after.buffers, strict=True))


def without_rows(program: Program, chunks: list[tuple[bytes, bytes]], locations: tuple[int, ...]) -> list[bytes]:
    """The rows but for those with these locations."""
    rows = SymbolicRows(program)
    kept = [row for kind, content in chunks if kind == ROWS for row in planes(content, rows.width)]
    return [row for row in kept if rows.control.state(row[: rows.control.width]).locations != locations]


@pytest.mark.parametrize("model", ["tso", "pso"])
def test_no_certificate_proves_that_a_reachable_place_is_out_of_reach(model: str) -> None:
    """Whoever leaves out what is bad, and everything else that one might think of, does not get away with it."""
    tried = 0
    for seed in range(25):
        program = cyclic_program(seed)
        chunks = proof(program, Claim(model=model, invariant=("true",)), most_states=150)
        if chunks is None:
            continue
        states = explore(program, spec(model, 2).definition, most_states=60).states
        for locations in sorted({state.locations for state in states})[:6]:
            bad = " && ".join(f"P{p}@#{at}" for p, at in enumerate(locations))
            forged = beginning(program, Claim(model=model, forbid=(bad,)))
            rest = [(kind, content) for kind, content in chunks[3:] if kind != ROWS]
            rows = without_rows(program, chunks, locations)
            with pytest.raises((Refused, NotACertificate)):
                verified(program, [*forged, *rest, *((ROWS, block) for block in blocks_of(rows))])
            tried += 1
    assert tried > 40


@pytest.mark.parametrize("model", ["tso", "pso"])
def test_memory_that_never_changes_is_noticed(model: str) -> None:
    """Without what commits lead to, the states are closed under the steps of the program."""
    tried = 0
    for seed in range(25):
        program = cyclic_program(seed)
        chunks = proof(program, Claim(model=model, invariant=("true",)), most_states=150)
        if chunks is None:
            continue
        rows = SymbolicRows(program)
        whole = [row for kind, content in chunks if kind == ROWS for row in planes(content, rows.width)]
        kept = [row for row in whole if not any(rows.control.state(row[: rows.control.width]).memory)]
        if len(kept) < len(whole):
            rest = [(kind, content) for kind, content in chunks if kind != ROWS]
            with pytest.raises(Refused):
                verified(program, [*rest, *((ROWS, block) for block in blocks_of(kept))])
            tried += 1
    assert tried > 5


@pytest.mark.parametrize("model", ["tso", "pso"])
def test_an_automaton_that_was_cut_is_noticed(model: str) -> None:
    """Each automaton of a proof is needed: with a word less, some step leads out, or a start is missing."""
    program = cyclic_program(next(seed for seed in range(60) if proof(cyclic_program(seed), Claim(model=model))))
    chunks = proof(program, Claim(model=model))
    assert chunks is not None
    place = next(n for n, (kind, _) in enumerate(chunks) if kind == OBJECT)
    automata = json.loads(chunks[place][1])["automata"]
    refused = 0
    for number, (moves, accepting) in enumerate(automata):
        for dropped in accepting:
            cut = [*automata[:number], [moves, [n for n in accepting if n != dropped]], *automata[number + 1 :]]
            changed = [*chunks[:place], (OBJECT, json.dumps({"automata": cut}).encode()), *chunks[place + 1 :]]
            with pytest.raises(Refused) as caught:
                verified(program, changed)
            assert caught.value.condition in (Condition.CLOSED, Condition.INITIAL)
            refused += 1
    assert refused > 0


def test_initially_nothing_is_pending_of_any_process() -> None:
    """The words of one process are left out of all initial symbolic states."""
    program = load_text(SourceText("t.pml", STUCK))
    chunks = proof(program, Claim(model="tso"))
    assert chunks is not None
    ((place, listed),) = [(n, json.loads(content)) for n, (kind, content) in enumerate(chunks) if kind == OBJECT]
    rows, number = SymbolicRows(program), len(listed["automata"])
    listed["automata"].append([[[]], []])
    (first,) = {replace(state, buffers=((), ())) for state in starts(program, spec("tso", 1).definition)}
    whole = [row for kind, content in chunks if kind == ROWS for row in planes(content, rows.width)]
    changed = [
        row[:-NUMBER] + number.to_bytes(NUMBER) if rows.control.state(row[: rows.control.width]) == first else row
        for row in whole
    ]
    assert changed != whole
    written = (OBJECT, json.dumps(listed).encode())
    rest = [written if n == place else chunk for n, chunk in enumerate(chunks) if chunk[0] != ROWS]
    with pytest.raises(Refused) as caught:
        verified(program, [*rest, *((ROWS, block) for block in blocks_of(changed))])
    assert caught.value.condition is Condition.INITIAL


def test_words_of_those_who_do_not_move_are_compared_without_idle_separators() -> None:
    """A word of Q has a separator at its head, and the same word without it is missing: both checkers say so."""
    program = load_text(
        SourceText("t.pml", "byte x; active proctype P() { do :: x > 7 od } active proctype Q() { x = 1 }")
    )
    first, second = program.processes
    idle = replace(
        first, transitions=tuple(replace(t, source=0, target=0, ops=()) for t in first.transitions), initial=0
    )
    still = replace(second, transitions=tuple(replace(t, ops=(*t.ops, Assume(Const(0)))) for t in second.transitions))
    program = replace(program, processes=(idle, still))
    rows, (state,) = SymbolicRows(program), starts(program, spec("pso").definition)
    row = row_of(rows.control, without_buffers(state)) + (0).to_bytes(NUMBER) + (1).to_bytes(NUMBER)
    for head, condition in [(None, Condition.CLOSED), ([0, 0], Condition.CLOSED)]:
        automata = [[[[]], [0]], [[[[head, 1]], [[[0, 1], 2]], []], [0, 2]]]
        chunks = [
            (SECTION, b'{"kind": "automata"}'),
            (OBJECT, json.dumps({"automata": automata}).encode()),
            (ROWS, row),
        ]
        content = container([*beginning(program, Claim(model="pso")), *chunks])
        assert judge(content, program).condition is judge(content, program, fast=True).condition is condition


@pytest.mark.parametrize(
    "automata", [None, [], [3], [[[], []]], [[[[[1, 2]]], []]], [[[[]], [7]]], [[[[[None, 9]]], []]], [[[[]], [True]]]]
)
def test_what_is_no_automaton_is_not_read(automata: object) -> None:
    program = cyclic_program(0)
    chunks = next(c for seed in range(60) if (c := proof(program := cyclic_program(seed), Claim(model="tso"))))
    changed = [
        (kind, json.dumps({"automata": automata}).encode() if kind == OBJECT else content) for kind, content in chunks
    ]
    with pytest.raises((NotACertificate, Refused)):
        verified(program, changed)


def test_automata_say_nothing_about_bounds() -> None:
    program = cyclic_program(0)
    chunks = next(c for seed in range(60) if (c := proof(program := cyclic_program(seed), Claim(model="tso"))))
    bounded = [*beginning(program, replace(Claim(model="tso"), bound=1)), *chunks[3:]]
    with pytest.raises(Refused):
        verified(program, bounded)


STUCK = "byte x, y; active proctype P() { x = 1; x = 2; y == 1; skip } active proctype Q() { x = 3; assert(x < 9) }"
"""P waits for ever; nothing else is wrong."""


def asked_otherwise(claim: Claim, program: Program) -> Condition | str | None:
    """What the checkers say to a closed set of symbolic states if the claim, or the program, is this one."""
    chunks = proof(load_text(SourceText("t.pml", STUCK)), Claim(model=claim.model))
    assert chunks is not None
    content = container([*beginning(program, claim), *chunks[3:]])
    assert judge(content, program) == judge(content, program, fast=True)
    return judge(content, program).condition


@pytest.mark.parametrize("model", ["tso", "pso"])
def test_every_state_of_the_set_is_looked_at(model: str) -> None:
    program = load_text(SourceText("t.pml", STUCK))
    assert asked_otherwise(Claim(model=model, forbid=("x == 4",)), program) is None
    assert asked_otherwise(Claim(model=model, forbid=("x == 2",)), program) is Condition.BAD
    assert asked_otherwise(Claim(model=model, deadlock=True), program) is Condition.DEADLOCK
    ended = replace(program, processes=tuple(map(may_stay_anywhere, program.processes)))
    assert asked_otherwise(Claim(model=model, deadlock=True), ended) is None
    assert asked_otherwise(Claim(model=model), failing(program)) is Condition.FAILURE


def may_stay_anywhere(process: Process) -> Process:
    return replace(process, locations=tuple(replace(location, may_end=True) for location in process.locations))


def failing(program: Program) -> Program:
    """The program whose assertion is wrong."""

    def changed(transition: Transition) -> Transition:
        ops = (replace(op, condition=Const(0)) if isinstance(op, Assert) else op for op in transition.ops)
        return replace(transition, ops=tuple(ops))

    return with_transitions(program, changed)


def with_transitions(program: Program, change: Callable[[Transition], Transition]) -> Program:
    processes = (replace(p, transitions=tuple(map(change, p.transitions))) for p in program.processes)
    return replace(program, processes=tuple(processes))


@pytest.mark.parametrize("model", ["tso", "pso"])
def test_a_rendezvous_leads_somewhere(model: str) -> None:
    """P and Q meet: without the states behind the meeting, the set is not closed."""
    text = """byte x; channel c;
process P { state p0, p1, p2; init p0; trans p0 -> p1 { effect x = 1; }, p1 -> p2 { sync c!x; }; }
process Q { byte b; state q0, q1, q2; init q0; trans q0 -> q1 { sync c?b; }, q1 -> q2 { effect x = 2; }; }
system async;
"""
    program = load_text(SourceText("t.dve", text))
    chunks = proof(program, Claim(model=model, invariant=("true",)))
    assert chunks is not None and verified(program, chunks) > 0
    rows, first = SymbolicRows(program), program.processes[1].initial
    whole = [row for kind, content in chunks if kind == ROWS for row in planes(content, rows.width)]
    kept = [row for row in whole if rows.control.state(row[: rows.control.width]).locations[1] == first]
    assert 0 < len(kept) < len(whole)
    rest = [(kind, content) for kind, content in chunks if kind != ROWS]
    with pytest.raises(Refused) as caught:
        verified(program, [*rest, *((ROWS, block) for block in blocks_of(kept))])
    assert caught.value.condition is Condition.CLOSED


def test_what_the_theorem_is_not_about_is_refused() -> None:
    """Steps and questions that look at buffers, steps that hold the bus, lists of final states, bounds, and SC."""
    program = load_text(SourceText("t.pml", STUCK))
    looks = with_transitions(program, lambda t: replace(t, ops=(Assume(BufferEmpty(0)), *t.ops)))
    locks = with_transitions(program, lambda t: replace(t, ops=(Lock(), *t.ops, Unlock())))
    asks = replace(program, properties=(Forbidden(BufferEmpty(0), "drawn"),))
    lists = replace(program, properties=(Final("exists", Const(0), "drawn", (("x", Const(1)),)),))
    cases = [(one, Claim(model="tso")) for one in (looks, locks, asks, lists)]
    cases += [(program, Claim(model="tso", bound=1)), (program, Claim(model="sc"))]
    for changed, claim in cases:
        content = container([*beginning(changed, claim), (SECTION, b'{"kind": "automata"}')])
        assert judge(content, changed).condition is Condition.KIND
        assert judge(content, changed, fast=True).condition is Condition.KIND
