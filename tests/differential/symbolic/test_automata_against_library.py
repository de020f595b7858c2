"""Union, inclusion, equality and minimality of buffer languages agree with `automata-lib`, for random automata."""

from __future__ import annotations

from random import Random

import pytest

from memfence import _core

fa = pytest.importorskip("automata.fa.dfa", reason="automata-lib is not installed")
nfa = pytest.importorskip("automata.fa.nfa")

SYMBOLS = "abc"
SEEDS = range(200)


def random_moves(random: Random) -> tuple[list[list[tuple[int, int]]], list[bool]]:
    size = random.randint(1, 5)
    moves = [
        [(1 + random.randrange(len(SYMBOLS)), random.randrange(size)) for _ in range(random.choice([0, 1, 2, 2, 3]))]
        for _ in range(size)
    ]
    return moves, [random.random() < 0.4 for _ in range(size)]


def library_dfa(moves: list[list[tuple[int, int]]], accepting: list[bool]):
    transitions: dict[int, dict[str, set[int]]] = {q: {} for q in range(len(accepting))}
    for q, row in enumerate(moves):
        for symbol, target in row:
            transitions[q].setdefault(SYMBOLS[symbol - 1], set()).add(target)
    machine = nfa.NFA(
        states=set(transitions) or {0},
        input_symbols=set(SYMBOLS),
        transitions=transitions or {0: {}},
        initial_state=0,
        final_states={q for q, accepts in enumerate(accepting) if accepts},
    )
    return fa.DFA.from_nfa(machine, minify=True)


@pytest.fixture
def languages() -> _core.Languages:
    native = _core.Languages(False, False)
    for number in range(len(SYMBOLS)):
        native.symbol(0, number)
    return native


def test_a_language_is_kept_as_its_smallest_automaton(languages: _core.Languages) -> None:
    for seed in SEEDS:
        moves, accepting = random_moves(Random(seed))
        ours = languages.dfa(languages.language(moves, accepting))
        theirs = library_dfa(moves, accepting)
        assert library_dfa(*ours) == theirs
        useful = theirs.to_partial(minify=True)  # no state that leads nowhere, as here
        assert len(ours[1]) == (0 if theirs.isempty() else len(useful.states))


def test_union_and_inclusion_agree(languages: _core.Languages) -> None:
    included = 0
    for seed in SEEDS:
        random = Random(seed)
        a, b = random_moves(random), random_moves(random)
        mine, other = languages.language(*a), languages.language(*b)
        assert library_dfa(*languages.dfa(languages.unite(mine, other))) == library_dfa(*a) | library_dfa(*b)
        assert languages.includes(mine, other) == (library_dfa(*b) <= library_dfa(*a))
        assert (mine == other) == (library_dfa(*a) == library_dfa(*b))
        included += languages.includes(mine, other)
    assert included > 10
