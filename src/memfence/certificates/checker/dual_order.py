"""Which configurations stand for which: the order of the backward search.

A configuration stands for all with one control of each of its sets, with any value where it says nothing about memory,
with more messages between own ones, and with more processes of which there may be any number.
"""

from __future__ import annotations

from memfence.certificates.format.dual import Configuration, Controls, Facts, Fifo

Part = tuple[int, Controls, Fifo]
"""Of one process: its kind, where it may be, and what it has still to read."""


def is_above(c: Configuration, known: Configuration) -> bool:
    """Whether `known` stands for all that `c` stands for."""
    says_less = all(value in (None, other) for value, other in zip(known.memory, c.memory, strict=True))
    return says_less and _embeds(_parts(known), _parts(c))


def _parts(c: Configuration) -> list[Part]:
    return list(zip(c.kinds, c.controls, c.fifos, strict=True))


def _embeds(known: list[Part], parts: list[Part]) -> bool:
    """Whether each of the known ones stands for one of the parts, no two for the same; one may make room."""
    taken: dict[int, Part] = {}

    def has_place(one: Part, tried: set[int]) -> bool:
        for n in sorted(range(len(parts)), key=taken.__contains__):  # first those that are free
            if n not in tried and _fits(one, parts[n]):
                tried.add(n)
                if n not in taken or has_place(taken[n], tried):
                    taken[n] = one
                    return True
        return False

    return all(has_place(one, set()) for one in known)


def _fits(known: Part, part: Part) -> bool:
    (kind, controls, fifo), (other_kind, other_controls, longer) = known, part
    return kind == other_kind and controls >= other_controls and is_thinner(fifo, longer)


def is_thinner(fifo: Fifo, longer: Fifo) -> bool:
    """Whether they are the same but for messages of `longer` between the newest own ones."""
    rest = iter(_marked(longer))
    return newest_own(fifo) == newest_own(longer) and all(message in rest for message in _marked(fifo))


def _marked(fifo: Fifo) -> list[tuple[Facts, bool, bool]]:
    """Each message, and whether it is the newest own one about its variable."""
    return [(m.facts, m.own, m.own and own_value(fifo[n + 1 :], m.facts[0][0]) is None) for n, m in enumerate(fifo)]


def newest_own(fifo: Fifo) -> Facts:
    """The newest own message about each variable, oldest first."""
    return tuple(facts[0] for facts, _, is_newest in _marked(fifo) if is_newest)


def own_value(fifo: Fifo, variable: int) -> int | None:
    """The value of the newest own store to the variable."""
    return next((m.facts[0][1] for m in reversed(fifo) if m.own and m.facts[0][0] == variable), None)
