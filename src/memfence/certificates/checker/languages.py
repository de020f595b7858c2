"""Sets of buffer contents: what steps make of the words of an automaton, and whether another automaton includes that.

A word is the content of the buffer of one process in the order in which its stores were issued, oldest first. Under PSO
one word stands for the queues of all variables at once: each queue has the stores to its variable, and every separator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from memfence.certificates.format.automata import ReadAutomaton
from memfence.models.state import SEPARATOR, Entry
from memfence.records import Record

Word = tuple[Entry, ...]
View = tuple[tuple[int, int], ...]
"""What a step sees of a word: nothing if it is empty, else `PENDING` and the newest store to each of some variables."""
PENDING = -1
"""Stands, in a view, for a variable that no step loads."""
SILENT: Literal["silent"] = "silent"
"""Labels a move that adds nothing to the word."""
Label = Entry | Literal["silent"]
NOTHING = ReadAutomaton(({},), frozenset())


class Words(Record):
    """The words that lead by `moves` from `start` to a node that `accepts`. Nodes are whatever is convenient."""

    start: Any
    moves: Callable[[Any], Iterable[tuple[Label, Any]]]
    accepts: Callable[[Any], bool]


def words_of(automaton: ReadAutomaton) -> Words:
    """The words that an automaton of a certificate accepts."""
    return Words(0, lambda node: automaton.moves[node].items(), lambda node: node in automaton.accepting)


def _seen(view: View, entry: Entry, variables: frozenset[int]) -> View:
    """What is seen of a word with one more entry, if `variables` are loaded."""
    newer = {} if entry is SEPARATOR or entry[0] not in variables else dict([entry])
    return tuple(sorted({**dict(view), PENDING: 0, **newer}.items()))


def views_of(automaton: ReadAutomaton, variables: frozenset[int]) -> list[View]:
    """Every view of a word that is accepted, in order."""
    places: list[tuple[int, View]] = [(0, ())]
    for node, view in places:  # grows while it is gone through
        after = {(target, _seen(view, entry, variables)) for entry, target in automaton.moves[node].items()}
        places += after.difference(places)
    return sorted({view for node, view in places if node in automaton.accepting})


def after_step(automaton: ReadAutomaton, variables: frozenset[int], view: View, stored: Word) -> Words:
    """The words with this view, each with what a step stores behind it. Nodes know how much of that they have."""

    def is_chosen(node: int, seen: View) -> bool:
        return seen == view and node in automaton.accepting

    def moves(place: tuple[int, View, int]) -> Iterator[tuple[Entry, tuple[int, View, int]]]:
        node, seen, added = place
        if added < len(stored) and is_chosen(node, seen):
            yield stored[added], (node, seen, added + 1)
        if added == 0:
            yield from (
                (entry, (after, _seen(seen, entry, variables), 0)) for entry, after in automaton.moves[node].items()
            )

    return Words((0, (), 0), moves, lambda place: place[2] == len(stored) and is_chosen(*place[:2]))


def after_commit(automaton: ReadAutomaton, store: tuple[int, int], *, overtakes: bool) -> Words:
    """What is left of words once this store has left them. Nodes know whether it has.

    It leaves from the head, or, if it `overtakes` others, from behind stores to other variables. Nothing leaves from
    behind a separator.
    """

    def moves(place: tuple[int, bool]) -> Iterator[tuple[Label, tuple[int, bool]]]:
        node, is_gone = place
        for entry, after in automaton.moves[node].items():
            if is_gone:
                yield entry, (after, True)
            elif entry == store:
                yield SILENT, (after, True)
            elif overtakes and entry is not SEPARATOR and entry[0] != store[0]:
                yield entry, (after, False)

    return Words((0, False), moves, lambda place: place[1] and place[0] in automaton.accepting)


def missing(automaton: ReadAutomaton, words: Words, *, normal: bool = False) -> Word | None:
    """One of the words, by the fewest moves, that the automaton does not accept; None if it includes them all.

    `normal`: words count without separators at their head, and with one separator in the place of several in a row.
    """
    waiting: list[tuple[Any, int | None, bool, Word]] = [(words.start, 0, normal, ())]
    seen = {waiting[0][:3]}
    for node, twin, is_separated, word in waiting:  # grows while it is gone through
        if words.accepts(node) and twin not in automaton.accepting:
            return word
        for entry, target in words.moves(node):
            if entry == SILENT or (entry is SEPARATOR and is_separated):
                place, longer = (target, twin, is_separated), word
            else:
                after = None if twin is None else automaton.moves[twin].get(entry)
                place, longer = (target, after, normal and entry is SEPARATOR), (*word, entry)
            if place not in seen:
                seen.add(place)
                waiting.append((*place, longer))
    return None
