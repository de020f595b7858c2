"""Sets of words of pending stores, one word at a time: the twin of `certificates/checker/languages.py`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

from memfence.certificates.checker.languages import PENDING, SILENT, View, Word, Words
from memfence.models.state import SEPARATOR

ALPHABET = ((0, 1), (0, 2), (1, 1), SEPARATOR)
LONGEST = 4
WORDS = [word for length in range(LONGEST + 1) for word in product(ALPHABET, repeat=length)]


def accepts(words: Words, word: Word) -> bool:
    here = silently({words.start}, words)
    for entry in word:
        here = silently({after for node in here for one, after in words.moves(node) if one == entry}, words)
    return any(map(words.accepts, here))


def silently(nodes: set[Any], words: Words) -> set[Any]:
    """The nodes, and those that moves which add nothing lead to."""
    waiting = list(nodes)
    for node in waiting:  # grows while it is gone through
        waiting += [after for one, after in words.moves(node) if one == SILENT and after not in waiting]
    return set(waiting)


def language(words: Words) -> set[Word]:
    return {word for word in WORDS if accepts(words, word)}


def short(words: Iterable[Word]) -> set[Word]:
    return {word for word in words if len(word) < LONGEST}


def view(word: Word, variables: frozenset[int]) -> View:
    """What loads of these variables see of a word."""
    found = {PENDING: 0} if word else {}
    return tuple(sorted((found | dict(e for e in word if e is not None and e[0] in variables)).items()))


def committed(word: Word, store: tuple[int, int], *, overtakes: bool) -> set[Word]:
    """It is the first entry of its queue, behind no separator; without overtaking, it heads the word."""
    for at, one in enumerate(word):
        if one == store:
            return {word[:at] + word[at + 1 :]}
        if one is SEPARATOR or one[0] == store[0] or not overtakes:
            return set()
    return set()


def normal(word: Word) -> Word:
    """Without separators at the head; one in the place of several."""
    return tuple(e for n, e in enumerate(word) if e is not SEPARATOR or (n > 0 and word[n - 1] is not SEPARATOR))
