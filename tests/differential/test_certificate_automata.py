"""Certificates of the symbolic search: valid where it ends, and never valid for something that is not true."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise, product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memfence.certificates.checker.languages import (
    Word,
    Words,
    append,
    by_newest,
    includes,
    merged,
    not_empty,
    overtaken,
    settled,
    without_first,
)
from memfence.certificates.checker.question import question_of
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.checker.verify import verify
from memfence.certificates.format.automata import SymbolicRows
from memfence.certificates.format.columns import planes
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.header import Claim
from memfence.certificates.format.sections import OBJECT, ROWS
from memfence.certificates.writer.automata import automata_chunks
from memfence.certificates.writer.chunks import NoCertificate
from memfence.models.reference_search import explore
from memfence.models.state import SEPARATOR
from memfence.program.ir import Program
from memfence.tasks.limits import Limits
from support.certificates import beginning, blocks_of, container, judge
from support.cyclic_programs import cyclic_program
from support.models import spec

ALPHABET = ((0, 1), (0, 2), (1, 1), SEPARATOR)
LONGEST = 4
WORDS = [word for length in range(LONGEST + 1) for word in product(ALPHABET, repeat=length)]


@st.composite
def automata(draw: st.DrawFn) -> Words:
    """Small deterministic automata."""
    count = draw(st.integers(1, 3))
    target = st.none() | st.integers(0, count - 1)
    moves = {
        node: tuple((entry, to) for entry in ALPHABET if (to := draw(target)) is not None) for node in range(count)
    }
    return Words(frozenset({0}), moves, frozenset(draw(st.sets(st.integers(0, count - 1)))))


def accepts(words: Words, word: Word) -> bool:
    here = set(words.starts)
    for entry in word:
        here = {target for node in here for one, target in words.leaving(node) if one == entry}
    return bool(here & words.accepting)


def language(words: Words) -> set[Word]:
    return {word for word in WORDS if accepts(words, word)}


def short(words: Iterable[Word]) -> set[Word]:
    return {word for word in words if len(word) <= LONGEST}


def newest(word: Word, variable: int) -> int | None:
    return next((entry[1] for entry in reversed(word) if entry is not None and entry[0] == variable), None)


def committed(word: Word, entry: tuple[int, int]) -> set[Word]:
    """PSO: the first entry of its queue, none of whose separators stands before it."""
    for at, one in enumerate(word):
        if one is SEPARATOR or (one[0] == entry[0] and one != entry):
            return set()
        if one == entry:
            return {word[:at] + word[at + 1 :]}
    return set()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(words=automata(), other=automata())
def test_sets_of_words_are_what_the_words_say(words: Words, other: Words) -> None:
    known = language(words)
    assert language(not_empty(words)) == known - {()}
    assert language(append(words, ALPHABET[:2])) == short((*word, *ALPHABET[:2]) for word in known)
    parts = dict(by_newest(words, 0))
    for value in (None, 1, 2):
        wanted = {word for word in known if newest(word, 0) == value}
        assert (language(parts[value]) if value in parts else set()) == wanted
    for entry in ALPHABET[:3]:
        assert entry is not None
        longer = {word[1:] for word in known if word[:1] == (entry,)}
        assert longer <= language(without_first(words, entry))
        assert all(accepts(words, (entry, *word)) for word in language(without_first(words, entry)))
        left = set[Word]().union(*(committed(word, entry) for word in known))
        assert left <= language(overtaken(words, entry))
        assert {w for w in language(overtaken(words, entry)) if len(w) < LONGEST} == {
            w for w in left if len(w) < LONGEST
        }
    heads = set[Word]()
    for word in known:
        while word and word[0] is SEPARATOR:
            word = word[1:]
        heads.add(word)
    assert heads <= language(settled(words))
    single = {tuple(e for n, e in enumerate(w) if e is not SEPARATOR or w[n - 1 : n] != (SEPARATOR,)) for w in known}
    assert single <= language(merged(words))
    assert not any(pair == (SEPARATOR, SEPARATOR) for w in language(merged(words)) for pair in pairwise(w))
    assert not any(word and word[0] is SEPARATOR for word in language(settled(words)))
    if includes(other, words):
        assert known <= language(other)
    elif known <= language(other):  # a longer word makes the difference
        assert words.shortest() is not None
    assert includes(words, words)
    shortest = words.shortest()
    assert (shortest is None) == (not known) or shortest == min(known, key=len)


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
