"""The fast checker of backward searches, in C++: the same conditions as in `dual`. And a search for what it accepts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from memfence import _core
from memfence.certificates.checker.dual import shown
from memfence.certificates.checker.native import _CONDITIONS, NotForTheFastChecker
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.abridged import WHOLE, Abridgement
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.dual import Configuration, Configurations, Control, Controls, Message
from memfence.program.parameterised import fixed_processes, instances_of, named_instances
from memfence.program.text.canonical import canonical_text, expression_text

Listed = tuple[list[int], list[int | None], list[list[tuple[list[tuple[int, int]], bool]]], list[int]]
Made = TypeVar("Made")
STEPS_AT_ONCE = 200
"""Of the search, between two looks at the clock."""


def check_dual_fast(question: Question, found: Configurations, left_out: Abridgement = WHOLE) -> int:
    """Return if the set proves what is asked; else Refused. `question` and `left_out` are as `prepared` has them."""
    check = DualChecking(question, left_out)
    try:
        for number, c in enumerate(found.all):
            if not check.native.add(check.listed(c), list(found.hints(number))):
                raise _foreign()
        wrong = check.native.check()
    except (RuntimeError, TypeError, ValueError) as problem:
        raise _reason(problem) from None
    if wrong is not None:
        condition, one, sets = wrong
        raise Refused(_CONDITIONS[condition], shown(_configuration(one, sets)))
    return len(found.all)


class DualChecking:
    """The checker in C++, and how configurations are written for it."""

    def __init__(self, question: Question, left_out: Abridgement = WHOLE) -> None:
        self.native = _made(_core.DualChecker, question, left_out)
        self._numbers: dict[Controls, int] = {}

    def listed(self, c: Configuration) -> Listed:
        for controls in c.controls:
            if controls not in self._numbers:
                given = [[control.location, *control.registers] for control in controls]
                self._numbers[controls] = self.native.add_set(given)
        fifos = [[(list(message.facts), message.own) for message in fifo] for fifo in c.fifos]
        return [self._numbers[one] for one in c.controls], list(c.memory), fifos, list(c.kinds)

    def before(self, c: Configuration) -> Iterator[Configuration]:
        """What `DualRules.before` says, by the rules in C++: for comparisons."""
        found = self.native.before(self.listed(c))
        if found is None:
            raise _foreign()
        configurations, sets = found
        return (_configuration(one, sets) for one in configurations)


class DualSearch:
    """The search for the least configurations that lead to something bad: nobody has to believe it."""

    def __init__(self, question: Question, left_out: Abridgement = WHOLE) -> None:
        self._native = _made(_core.DualSearch, question, left_out)

    def run(self, is_over: Callable[[int], bool]) -> bool | None:
        """Whether something bad can be reached; None if it was over before, with so many configurations."""
        try:
            while (result := self._native.run(STEPS_AT_ONCE)) == 0:
                if is_over(self._native.size):
                    return None
        except ValueError as problem:
            raise _reason(problem) from None
        return bool(result == 2)

    def found(self) -> Configurations:
        configurations, below, sets = self._native.found()
        read = [_controls(one) for one in sets]
        return Configurations(
            tuple(_configuration(one, sets, read) for one in configurations), tuple(map(tuple, below))
        )


def _made(maker: Callable[..., Made], question: Question, left_out: Abridgement) -> Made:
    program = question.program
    bad = [] if question.bad is None else [question.bad]
    needed = named_instances(program, bad)
    instances = [list(instances_of(program, template)) for template in program.any_number]
    named = [n for template in program.any_number for n in instances_of(program, template)[: needed[template]]]
    text = "" if question.bad is None else expression_text(question.bad)
    locked = not question.model.has_buffers
    try:
        asked = canonical_text(program), text, list(fixed_processes(program)), instances, named, locked
        return maker(*asked, list(map(list, left_out.passing)), [list(map(list, process)) for process in left_out.dead])
    except (RuntimeError, TypeError, ValueError) as problem:
        raise _reason(problem) from None


def _foreign() -> NotACertificate:
    return NotACertificate("a configuration has other processes than it may have")


def _reason(problem: Exception) -> Exception:
    """What is too large for the one is so for the other; what has no 64 bits is left to the Python checker."""
    text = str(problem)
    return Refused(Condition.KIND, text) if isinstance(problem, ValueError) else NotForTheFastChecker(text)


def _configuration(one: Listed, sets: list[list[list[int]]], read: list[Controls] | None = None) -> Configuration:
    numbers, memory, fifos, kinds = one
    return Configuration(
        tuple(read[n] if read is not None else _controls(sets[n]) for n in numbers),
        tuple(memory),
        tuple(tuple(Message(tuple(facts), own) for facts, own in fifo) for fifo in fifos),
        tuple(kinds),
    )


def _controls(controls: list[list[int]]) -> Controls:
    return frozenset(Control(location, tuple(registers)) for location, *registers in controls)
