"""Every operation on buffer languages agrees with its definition on all short words, for random automata."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from memfence import _core
from twins import automata as twin
from twins.automata import SEPARATOR, Automaton, Symbol, Word

VARIABLES, VALUES, LONGEST = 2, 2, 4
STORES: tuple[tuple[int, int], ...] = tuple((x, v) for x in range(VARIABLES) for v in range(VALUES))
SEEDS = range(60)


class Pair:
    """One set of native languages, and how to see them as automata of the twin."""

    def __init__(self, *, partial: bool, settles: bool = True) -> None:
        self.partial = partial
        self.native = _core.Languages(partial, settles)
        self.numbers: dict[Symbol, int] = {SEPARATOR: 0} if partial else {}
        for x, v in STORES:
            self.numbers[x, v] = self.native.symbol(x, v)
        self.symbols = {number: symbol for symbol, number in self.numbers.items()}

    def random_language(self, random: Random) -> int:
        size = random.randint(1, 4)
        moves = [
            [
                (random.choice(list(self.symbols)), random.randrange(size))
                for _ in range(random.choice([0, 1, 1, 2, 2, 3]))
            ]
            for _ in range(size)
        ]
        return self.native.language(moves, [random.random() < 0.5 for _ in range(size)])

    def automaton(self, language: int) -> Automaton:
        moves, accepting = self.native.dfa(language)
        return Automaton(
            frozenset((q, self.symbols[s], t) for q, row in enumerate(moves) for s, t in row),
            frozenset(q for q, accepts in enumerate(accepting) if accepts),
        )

    def agrees(self, language: int, contains: Callable[[Word], bool]) -> bool:
        result = self.automaton(language)
        return all(result.accepts(w) == contains(w) for w in twin.words(frozenset(self.numbers), LONGEST))


@pytest.fixture(params=["tso", "pso"])
def pair(request: pytest.FixtureRequest) -> Pair:
    return Pair(partial=request.param == "pso")


def test_close_adds_exactly_the_coalesced_words(pair: Pair) -> None:
    for seed in SEEDS:
        language = pair.random_language(Random(seed))
        automaton = pair.automaton(language)
        assert pair.agrees(pair.native.close(language), lambda w, a=automaton: twin.in_closure(a, pair.partial, w))


def test_append_is_concatenation_with_one_symbol_closed(pair: Pair) -> None:
    for seed in SEEDS:
        random = Random(seed)
        language = pair.random_language(random)
        symbol = random.choice(list(pair.numbers))
        whole = _appended(pair.automaton(language), symbol)
        result = pair.native.append(language, pair.numbers[symbol])
        assert pair.agrees(result, lambda w, a=whole: twin.in_closure(a, pair.partial, w))


def test_concatenate_and_iterate_are_closed_concatenations(pair: Pair) -> None:
    for seed in SEEDS:
        random = Random(seed)
        left, right = (pair.native.close(pair.random_language(random)) for _ in range(2))
        a, b = pair.automaton(left), pair.automaton(right)
        concatenated, iterated = _joined(a, b, repeat=False), _joined(a, b, repeat=True)
        for w in twin.words(frozenset(pair.numbers), 3):  # the textbook automata do what the definitions say
            assert concatenated.accepts(w) == twin.in_concatenation(a, b, w)
            assert iterated.accepts(w) == twin.in_iteration(a, b, w)
        result = pair.native.concatenate(left, right)
        assert pair.agrees(result, lambda w, a=concatenated: twin.in_closure(a, pair.partial, w))
        result = pair.native.iterate(left, right)
        assert pair.agrees(result, lambda w, a=iterated: twin.in_closure(a, pair.partial, w))


def test_loads_split_a_language_by_the_newest_own_value(pair: Pair) -> None:
    for seed in SEEDS:
        language = pair.random_language(Random(seed))
        automaton = pair.automaton(language)
        for x in range(VARIABLES):
            own, none = pair.native.loads(language, x)
            assert pair.agrees(none, lambda w, a=automaton, x=x: a.accepts(w) and twin.newest(w, x) is None)
            found = dict(own)
            for v in range(VALUES):
                for with_none in (False, True):
                    result = pair.native.restricted(language, x, v, with_none)
                    assert pair.agrees(
                        result,
                        lambda w, a=automaton, x=x, v=v, n=with_none: twin.in_restricted(a, x, v, n, w),
                    )
                    assert with_none or result == found.get(v, 0)


def test_commits_take_out_exactly_the_stores_that_may_go_first() -> None:
    for partial in (False, True):
        pair = Pair(partial=partial, settles=False)
        for seed in SEEDS:
            language = pair.random_language(Random(seed))
            automaton = pair.automaton(language)
            rests = dict(pair.native.commits(language))
            for store in STORES:
                rest = rests.get(pair.numbers[store], 0)
                assert pair.agrees(rest, lambda w, a=automaton, s=store, p=partial: twin.in_committed(a, s, p, w))


def test_settle_lets_separators_at_the_head_go() -> None:
    pair = Pair(partial=True)
    for seed in SEEDS:
        language = pair.native.close(pair.random_language(Random(seed)))
        automaton = pair.automaton(language)
        assert pair.agrees(pair.native.settle(language), lambda w, a=automaton: twin.in_settled(a, w))
        without = pair.native.without_separator(language)
        assert pair.agrees(without, lambda w, a=automaton: a.accepts((SEPARATOR, *w)))


def test_inclusion_is_that_of_words(pair: Pair) -> None:
    answers = set()
    for seed in SEEDS:
        random = Random(seed)
        small, other = pair.random_language(random), pair.random_language(random)
        large = random.choice([other, pair.native.unite(small, other)])
        a, b = pair.automaton(large), pair.automaton(small)
        # Automata of at most 9 and 4 states: a difference shows within 36 symbols; random ones show it much sooner.
        expected = all(a.accepts(w) for w in twin.words(frozenset(pair.numbers), LONGEST + 1) if b.accepts(w))
        assert pair.native.includes(large, small) == expected
        answers.add(expected)
    assert answers == {True, False}


def test_equal_languages_have_equal_numbers_through_any_sequence_of_operations(pair: Pair) -> None:
    for seed in SEEDS:
        random = Random(seed)
        languages = [pair.native.close(pair.random_language(random)) for _ in range(2)]
        for _ in range(6):
            languages.append(_random_operation(pair, random, languages))
        for a in languages:
            for b in languages:
                same = pair.native.includes(a, b) and pair.native.includes(b, a)
                assert (a == b) == same
                assert pair.native.close(a) == a or not pair.native.dfa(a)[1]


def _random_operation(pair: Pair, random: Random, languages: list[int]) -> int:
    native, a, b = pair.native, random.choice(languages), random.choice(languages)
    match random.randrange(7):
        case 0:
            return native.append(a, random.choice(list(pair.symbols)))
        case 1:
            return native.unite(a, b)
        case 2:
            return native.restricted(a, random.randrange(VARIABLES), random.randrange(VALUES), random.random() < 0.5)
        case 3:
            commits = native.commits(a)
            return random.choice(commits)[1] if commits else a
        case 4 if len(native.dfa(a)[1]) + len(native.dfa(b)[1]) < 12:
            return native.iterate(a, b)
        case 5 if len(native.dfa(a)[1]) + len(native.dfa(b)[1]) < 12:
            return native.concatenate(a, b)
        case _:
            return native.settle(a)


def _appended(a: Automaton, symbol: Symbol) -> Automaton:
    end = 1 + max((max(s, t) for s, _, t in a.moves), default=0) + len(a.accepting)
    return Automaton(a.moves | {(q, symbol, end) for q in a.accepting}, frozenset({end}))


def _joined(a: Automaton, b: Automaton, *, repeat: bool) -> Automaton:
    """a.b, or a.b*: wherever the first part may end, the moves of b's initial state are open as well."""
    shift = 1 + max([0, *a.accepting, *(q for s, _, t in a.moves for q in (s, t))])
    moved = {(s + shift, x, t + shift) for s, x, t in b.moves}
    ends = {q + shift for q in b.accepting}
    starts = set(a.accepting) | (ends if repeat else set())
    moves = a.moves | moved | {(q, x, t + shift) for q in starts for s, x, t in b.moves if s == 0}
    ends |= a.accepting if repeat or 0 in b.accepting else set()
    return Automaton(frozenset(moves), frozenset(ends))
