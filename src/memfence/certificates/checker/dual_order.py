"""Which configurations stand for which: the order of the backward search.

A configuration stands for all with one control of each of its sets, with any value where it says nothing about memory,
with more messages between own ones, and with more processes of which there may be any number.
"""

from __future__ import annotations

from memfence.certificates.format.dual import Configuration, Controls, Facts, Fifo, Memory, Message

Part = tuple[object, Controls, tuple[Fifo, ...]]
"""Of one process: its kind and newest own messages, where it may be, and the words between these messages."""


class Above:
    """A set of configurations, and whether one is above some of them. The first `fixed` processes are there once."""

    def __init__(self, fixed: int) -> None:
        self._fixed = fixed
        self._known: dict[object, list[tuple[Memory, list[Part]]]] = {}

    def add(self, c: Configuration) -> None:
        key, parts = self._parts(c)
        self._known.setdefault(key, []).append((c.memory, parts))

    def covers(self, c: Configuration) -> bool:
        """Whether one of the configurations stands for all that `c` stands for."""
        key, parts = self._parts(c)
        return any(
            _is_more_general(memory, c.memory) and self._is_below(known, parts)
            for memory, known in self._known.get(key, ())
        )

    def _parts(self, c: Configuration) -> tuple[object, list[Part]]:
        parts = [_part(*one) for one in zip(c.kinds, c.controls, c.fifos, strict=True)]
        return tuple(same for same, *_ in parts[: self._fixed]), parts

    def _is_below(self, known: list[Part], parts: list[Part]) -> bool:
        count = self._fixed
        return all(map(_fits, known[:count], parts[:count])) and _embeds(known[count:], parts[count:])


def _is_more_general(known: Memory, memory: Memory) -> bool:
    return all(value in (None, other) for value, other in zip(known, memory, strict=True))


def _embeds(known: list[Part], parts: list[Part]) -> bool:
    """Whether each of the known ones fits one of the parts, no two the same."""
    if not known:
        return True
    return any(
        _fits(known[0], one) and _embeds(known[1:], [*parts[:n], *parts[n + 1 :]]) for n, one in enumerate(parts)
    )


def _fits(known: Part, part: Part) -> bool:
    return known[0] == part[0] and known[1] >= part[1] and all(map(_is_subword, known[2], part[2]))


def _part(kind: int, controls: Controls, fifo: Fifo) -> Part:
    owned, words, begin = list[Message](), list[Fifo](), 0
    for n, message in enumerate(fifo):
        if message.own and own_value(fifo[n + 1 :], message.facts[0][0]) is None:
            owned.append(message)
            words.append(fifo[begin:n])
            begin = n + 1
    return (kind, tuple(owned)), controls, (*words, fifo[begin:])


def newest_own(fifo: Fifo) -> Facts:
    """The newest own message about each variable, oldest first."""
    return tuple(m.facts[0] for n, m in enumerate(fifo) if m.own and own_value(fifo[n + 1 :], m.facts[0][0]) is None)


def _is_subword(word: Fifo, other: Fifo) -> bool:
    rest = iter(other)
    return all(message in rest for message in word)


def own_value(fifo: Fifo, variable: int) -> int | None:
    """The value of the newest own store to the variable."""
    return next((m.facts[0][1] for m in reversed(fifo) if m.own and m.facts[0][0] == variable), None)
