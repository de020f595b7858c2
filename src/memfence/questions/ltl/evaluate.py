"""The slow twins: a formula, and an automaton, evaluated on one ultimately periodic word.

A word is a tuple of valuations (bit masks over atoms): first `prefix` once, then `loop` for ever.
"""

from __future__ import annotations

from typing import assert_never

from memfence.digraph import components
from memfence.questions.ltl.automaton import Automaton
from memfence.questions.ltl.formula import And, Atom, Formula, Next, Not, Or, Release, Truth, Until
from memfence.records import Record


class Lasso(Record):
    """`prefix` once, then `loop`, which is not empty, for ever."""

    prefix: tuple[int, ...]
    loop: tuple[int, ...]

    @property
    def word(self) -> tuple[int, ...]:
        return self.prefix + self.loop

    def after(self, position: int) -> int:
        """The position that follows."""
        return position + 1 if position + 1 < len(self.prefix) + len(self.loop) else len(self.prefix)


def holds(formula: Formula, lasso: Lasso) -> bool:
    """Whether the word satisfies `formula`, straight from the definition of LTL."""
    return _everywhere(formula, lasso)[0]


def _everywhere(formula: Formula, lasso: Lasso) -> list[bool]:
    """The truth of `formula` at every position."""
    word = lasso.word
    positions = range(len(word))
    match formula:
        case Truth(value):
            return [value for _ in positions]
        case Atom(number):
            return [bool(letter >> number & 1) for letter in word]
        case Not(operand):
            return [not value for value in _everywhere(operand, lasso)]
        case And(parts):
            return [all(values) for values in zip(*(_everywhere(part, lasso) for part in parts), strict=True)]
        case Or(parts):
            return [any(values) for values in zip(*(_everywhere(part, lasso) for part in parts), strict=True)]
        case Next(operand):
            inner = _everywhere(operand, lasso)
            return [inner[lasso.after(i)] for i in positions]
        case Until(left, right) | Release(left, right):
            return _fixpoint(isinstance(formula, Until), _everywhere(left, lasso), _everywhere(right, lasso), lasso)
        case _:
            assert_never(formula)


def _fixpoint(is_until: bool, left: list[bool], right: list[bool], lasso: Lasso) -> list[bool]:
    """The least solution of u = r || (l && X u), or the greatest one of u = r && (l || X u).

    Backwards, so that two rounds are enough for a word of any length, and a third sees that nothing changes.
    """
    truth = [not is_until for _ in lasso.word]
    changed = True
    while changed:
        changed = False
        for i in reversed(range(len(truth))):
            later = truth[lasso.after(i)]
            new = right[i] or (left[i] and later) if is_until else right[i] and (left[i] or later)
            changed |= new != truth[i]
            truth[i] = new
    return truth


def accepts(automaton: Automaton, lasso: Lasso) -> bool:
    """Whether some run of the automaton over the word sees every mark again and again."""
    word = lasso.word
    length = len(word)

    def steps(node: int) -> list[tuple[int, int]]:
        state, position = divmod(node, length)
        return [
            (edge.target * length + lasso.after(position), edge.marks)
            for edge in automaton.edges[state]
            if edge.allows(word[position])
        ]

    start = automaton.initial * length
    reached = {start}
    waiting = [start]
    while waiting:
        for target, _ in steps(waiting.pop()):
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    component = components(automaton.states * length, lambda node: (target for target, _ in steps(node)))
    marks: dict[int, int] = {}
    for node in reached:
        for target, mark in steps(node):
            if component[node] == component[target]:
                marks[component[node]] = marks.get(component[node], 0) | mark
    return any(seen == automaton.all_marks for seen in marks.values())
