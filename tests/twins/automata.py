"""Buffer languages, slowly: for every operation, which words are in the result, straight from its definition.

The twin of core/symbolic/languages.cpp. A language is any automaton, with no care for size; every answer is a walk over
one word. A symbol is (variable, value), or the separator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

Symbol = tuple[int, int] | None
SEPARATOR: Symbol = None
Word = tuple[Symbol, ...]


@dataclass(frozen=True)
class Automaton:
    """Nondeterministic; state 0 is initial. `moves` are (source, symbol, target)."""

    moves: frozenset[tuple[int, Symbol, int]]
    accepting: frozenset[int]

    def after(self, states: frozenset[int], symbol: Symbol) -> frozenset[int]:
        return frozenset(t for s, a, t in self.moves if s in states and a == symbol)

    def accepts(self, word: Word) -> bool:
        states = frozenset({0})
        for symbol in word:
            states = self.after(states, symbol)
        return bool(states & self.accepting)

    @property
    def symbols(self) -> frozenset[Symbol]:
        return frozenset(a for _, a, _ in self.moves)


def words(symbols: frozenset[Symbol], longest: int) -> Iterator[Word]:
    """Every word over `symbols`, shortest first."""
    ordered = sorted(symbols, key=repr)
    for length in range(longest + 1):
        yield from product(ordered, repeat=length)


def newest(word: Word, variable: int) -> int | None:
    """What a load of the variable finds in the buffer."""
    values = [symbol[1] for symbol in word if symbol is not None and symbol[0] == variable]
    return values[-1] if values else None


def in_restricted(a: Automaton, variable: int, value: int, with_none: bool, word: Word) -> bool:
    found = newest(word, variable)
    return a.accepts(word) and (found == value or (with_none and found is None))


def in_committed(a: Automaton, symbol: tuple[int, int], overtaking: bool, word: Word) -> bool:
    """Whether `word` is left when the store `symbol` commits; under PSO it may overtake other variables' stores."""
    for place in range(len(word) + 1):
        if a.accepts((*word[:place], symbol, *word[place:])):
            return True
        if place < len(word) and not (overtaking and word[place] is not None and word[place][0] != symbol[0]):
            return False
    return False


def in_settled(a: Automaton, word: Word) -> bool:
    """A separator at the head leaves at once."""
    starts_with_separator = bool(word) and word[0] is SEPARATOR
    return not starts_with_separator and (a.accepts(word) or a.accepts((SEPARATOR, *word)))


def in_concatenation(a: Automaton, b: Automaton, word: Word) -> bool:
    return any(a.accepts(word[:place]) and b.accepts(word[place:]) for place in range(len(word) + 1))


def in_iteration(a: Automaton, b: Automaton, word: Word) -> bool:
    """Whether `word` is one of a, followed by any number of words of b."""
    if a.accepts(word):
        return True
    return any(b.accepts(word[place:]) and in_iteration(a, b, word[:place]) for place in range(len(word)))


def in_closure(a: Automaton, overtaking: bool, word: Word) -> bool:
    """Whether `word` is a word of `a` from which coalesced stores were left out.

    Under TSO a store may be missing right before one to the same variable; under PSO before a later one of its segment.
    Separators in a row are one (PSO).
    """
    if overtaking and any(word[i] is SEPARATOR and word[i + 1] is SEPARATOR for i in range(len(word) - 1)):
        return False
    states = frozenset({0})
    for place, symbol in enumerate(word):
        missing = _may_be_missing_before(word, place, overtaking)
        states = a.after(_with_missing(a, states, missing), symbol)
        if overtaking and symbol is SEPARATOR:
            states = _closed_under(a, states, frozenset({SEPARATOR}))
    return bool(states & a.accepting)


def _may_be_missing_before(word: Word, place: int, overtaking: bool) -> frozenset[int]:
    if not overtaking:
        return frozenset() if word[place] is SEPARATOR else frozenset({word[place][0]})
    segment = []
    for symbol in word[place:]:
        if symbol is SEPARATOR:
            break
        segment.append(symbol[0])
    return frozenset(segment)


def _with_missing(a: Automaton, states: frozenset[int], variables: frozenset[int]) -> frozenset[int]:
    return _closed_under(a, states, frozenset(s for s in a.symbols if s is not SEPARATOR and s[0] in variables))


def _closed_under(a: Automaton, states: frozenset[int], symbols: frozenset[Symbol]) -> frozenset[int]:
    while True:
        more = states.union(*(a.after(states, symbol) for symbol in symbols))
        if more == states:
            return states
        states = more
