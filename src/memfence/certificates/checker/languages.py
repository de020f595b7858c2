"""Sets of buffer contents: finite automata over pending stores, and what steps make of them.

A word is the content of the buffer of one process in the order in which its stores were issued, oldest first. Under PSO
one word stands for the queues of all variables at once: each queue has the stores to its variable, and every separator.
Nothing here is clever: automata are nondeterministic, and only the larger side of an inclusion is deterministic.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping

from memfence.models.state import SEPARATOR, Entry
from memfence.records import Record

Node = Hashable
Word = tuple[Entry, ...]
Moves = Mapping[Node, tuple[tuple[Entry, Node], ...]]


class Words(Record):
    """The words that lead from one of `starts` to one of `accepting`; a node without moves is not in `moves`."""

    starts: frozenset[Node]
    moves: Moves
    accepting: frozenset[Node]

    def leaving(self, node: Node) -> tuple[tuple[Entry, Node], ...]:
        return self.moves.get(node, ())

    def nodes(self) -> Iterator[Node]:
        """Every node that some word leads to."""
        seen = set(self.starts)
        waiting = list(seen)
        while waiting:
            node = waiting.pop()
            yield node
            for _, target in self.leaving(node):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)

    @property
    def has_empty(self) -> bool:
        return bool(self.starts & self.accepting)

    def shortest(self) -> Word | None:
        """A shortest word; None where there is none."""
        level: dict[Node, Word] = dict.fromkeys(self.starts, ())
        seen = set(level)
        while level:
            for node, word in level.items():
                if node in self.accepting:
                    return word
            after: dict[Node, Word] = {}
            for node, word in level.items():
                for entry, target in self.leaving(node):
                    if target not in seen:
                        seen.add(target)
                        after[target] = (*word, entry)
            level = after
        return None


def word_alone(word: Word) -> Words:
    """Nothing but one word."""
    moves: Moves = {n: ((entry, n + 1),) for n, entry in enumerate(word)}
    return Words(frozenset({0}), moves, frozenset({len(word)}))


def not_empty(words: Words) -> Words:
    """All but the empty word."""
    moves: dict[Node, tuple[tuple[Entry, Node], ...]] = {}
    for node in words.nodes():
        moves[node, True] = moves[node, False] = tuple((e, (target, True)) for e, target in words.leaving(node))
    return Words(
        frozenset((s, False) for s in words.starts), moves, frozenset((node, True) for node in words.accepting)
    )


def by_newest(words: Words, variable: int) -> Iterator[tuple[int | None, Words]]:
    """The words by what a load of `variable` finds in them: the newest value, or None where there is no store to it."""
    moves: dict[Node, tuple[tuple[Entry, Node], ...]] = {}
    waiting: list[tuple[Node, int | None]] = [(node, None) for node in words.starts]
    starts = frozenset[Node](waiting)
    ends: dict[int | None, set[Node]] = {}
    while waiting:
        node, newest = place = waiting.pop()
        if place in moves:
            continue
        if node in words.accepting:
            ends.setdefault(newest, set()).add(place)
        targets = [
            (entry, (target, newest if entry is None or entry[0] != variable else entry[1]))
            for entry, target in words.leaving(node)
        ]
        moves[place] = tuple(targets)
        waiting += [target for _, target in targets]
    for value in sorted(ends, key=lambda end: (end is not None, end or 0)):
        yield value, Words(starts, moves, frozenset(ends[value]))


def append(words: Words, word: Word) -> Words:
    """Each word with `word` behind it."""
    if not word:
        return words
    moves: dict[Node, tuple[tuple[Entry, Node], ...]] = {node: words.leaving(node) for node in words.nodes()}
    for node in words.accepting:
        moves[node] = (*moves.get(node, ()), (word[0], ("added", 1)))
    for n in range(1, len(word)):
        moves["added", n] = ((word[n], ("added", n + 1)),)
    return Words(words.starts, moves, frozenset({("added", len(word))}))


def without_first(words: Words, entry: Entry) -> Words:
    """What is left of the words that `entry` heads."""
    targets = (target for node in words.starts for one, target in words.leaving(node) if one == entry)
    return Words(frozenset(targets), words.moves, words.accepting)


def overtaken(words: Words, entry: tuple[int, int]) -> Words:
    """What is left once the first store to a variable, if it is `entry`, leaves from behind stores to other variables.

    It does not leave from behind a separator.
    """
    moves: dict[Node, tuple[tuple[Entry, Node], ...]] = {}

    def ways(target: Node) -> Iterator[Node]:
        """Before the store was taken out, and right after it was."""
        yield "before", target
        yield from (("after", after) for one, after in words.leaving(target) if one == entry)

    for node in words.nodes():
        moves["after", node] = tuple((one, ("after", target)) for one, target in words.leaving(node))
        moves["before", node] = tuple(
            (one, way)
            for one, target in words.leaving(node)
            if one is not SEPARATOR and one[0] != entry[0]
            for way in ways(target)
        )
    starts = frozenset(way for node in words.starts for way in ways(node))
    return Words(starts, moves, frozenset(("after", node) for node in words.accepting))


def merged(words: Words) -> Words:
    """The words with one separator in the place of several in a row."""
    moves: dict[Node, tuple[tuple[Entry, Node], ...]] = {}
    for node in words.nodes():
        stores = tuple((entry, (target, False)) for entry, target in words.leaving(node) if entry is not SEPARATOR)
        moves[node, True] = stores
        moves[node, False] = stores + tuple((SEPARATOR, (after, True)) for after in _behind_separators(words, {node}))
    accepting = frozenset((node, flag) for node in words.accepting for flag in (False, True))
    return Words(frozenset((node, False) for node in words.starts), moves, accepting)


def _behind_separators(words: Words, nodes: Iterable[Node]) -> set[Node]:
    """Where one or more separators lead."""
    found, waiting = set[Node](), list(nodes)
    while waiting:
        for entry, target in words.leaving(waiting.pop()):
            if entry is SEPARATOR and target not in found:
                found.add(target)
                waiting.append(target)
    return found


def settled(words: Words) -> Words:
    """The words without the separators that head them."""
    closed = words.starts | _behind_separators(words, words.starts)
    moves: dict[Node, tuple[tuple[Entry, Node], ...]] = {node: words.leaving(node) for node in words.nodes()}
    first: Node = "settled"
    moves[first] = tuple((e, target) for node in closed for e, target in words.leaving(node) if e is not SEPARATOR)
    accepting = words.accepting | {first} if closed & words.accepting else words.accepting
    return Words(frozenset({first}), moves, accepting)


def includes(larger: Words, smaller: Words) -> bool:
    """Whether every word of `smaller` is one of `larger`, which must be deterministic: one start, one target a move."""
    (start,) = larger.starts
    first = [(node, start, True) for node in smaller.starts]
    seen, waiting = set(first), first
    while waiting:
        node, twin, is_alive = waiting.pop()
        if node in smaller.accepting and not (is_alive and twin in larger.accepting):
            return False
        targets = dict(larger.leaving(twin)) if is_alive else {}
        for entry, target in smaller.leaving(node):
            place = (target, targets.get(entry, start), entry in targets)
            if place not in seen:
                seen.add(place)
                waiting.append(place)
    return True
