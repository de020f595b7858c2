"""Automata: a set of symbolic states that holds the initial states and includes whatever a step makes of it.

A symbolic state is a control part (locations, registers, memory) and one set of words for each process. It stands for
all choices of one word from each set. Theorem 3 of `docs/theory/certificates.md`: if the conditions below are met,
every reachable state is one of these, but for separators that make no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from memfence.certificates.checker.languages import (
    Moves,
    Word,
    Words,
    append,
    by_newest,
    includes,
    merged,
    not_empty,
    overtaken,
    settled,
    without_first,
    word_alone,
)
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.checker.symbolic_steps import Way, ways_of
from memfence.certificates.format.automata import ReadAutomaton
from memfence.certificates.format.container import NotACertificate
from memfence.models.state import Buffer, Commit, Failure, State, Step
from memfence.models.steps import set_at, starts, successors
from memfence.program.expressions import BufferEmpty, Expr, walk
from memfence.program.facts.effects import op_expressions, stored_variables
from memfence.program.ir import Lock, Program

Numbers = tuple[int, ...]
"""Of the automaton of each process."""


class AutomataCheck:
    """A set of symbolic states, and the sets of words in it, by number."""

    def __init__(
        self, question: Question, automata: list[ReadAutomaton], rows: Iterable[tuple[State, Numbers]]
    ) -> None:
        refuse_what_is_not_covered(question)
        self.question, self.program = question, question.program
        self.model = question.model.definition
        self.words = [words_of(automaton) for automaton in automata]
        self.groups: dict[State, list[Numbers]] = {}
        for control, numbers in rows:
            if any(number >= len(self.words) for number in numbers):
                raise NotACertificate("a state has an automaton that is not there")
            self.groups.setdefault(self._bare(control), []).append(numbers)
        # What a step makes of a set is asked again and again: remembered by number and by what the step did.
        self.newest = cache(self._newest)
        self.made = cache(self._made)
        self.committed = cache(self._committed)
        self.is_made_included = cache(lambda n, *how: includes(self.words[n], self.made(*how)))
        self.is_committed_included = cache(lambda n, *how: includes(self.words[n], self.committed(*how)))
        self.is_included = cache(lambda n, m: includes(self.words[n], self.words[m]))

    def check(self) -> int:
        """The number of symbolic states, if they prove what is asked."""
        for state in starts(self.program, self.model):  # Condition 1: initial states, nothing pending.
            known = self.groups.get(self._bare(state), [])
            if not any(all(self.words[n].has_empty for n in numbers) for numbers in known):
                raise Refused(Condition.INITIAL, state=state)
        for control, known in self.groups.items():
            if self.question.is_bad(control):  # Condition 3a; nothing that is asked looks at buffers.
                raise Refused(Condition.BAD, state=control)
            for numbers in known:
                self._check_drained(control, numbers)
                self._check_ways(control, numbers)
                self._check_commits(control, numbers)
        return sum(map(len, self.groups.values()))

    def _check_drained(self, control: State, numbers: Numbers) -> None:
        """Condition 3d: a deadlock has nothing pending, since a pending store could commit."""
        if self.question.deadlock and all(self.words[n].has_empty for n in numbers):
            plain = replace(control, buffers=self.model.empty_buffers(self.program))
            has_step = any(True for _ in successors(self.program, self.model, plain))
            if self.question.is_stuck(plain, has_step=has_step):
                raise Refused(Condition.DEADLOCK, state=plain)

    def _check_ways(self, control: State, numbers: Numbers) -> None:
        """Condition 2 for steps of the program."""
        for way in ways_of(self.program, self.model, control, lambda p, v: self.newest(numbers[p], v)):
            answers = {p: self._answers_of(way, p) for p in way.pending}
            made = {p: (numbers[p], way.pending[p], answers[p]) for p in way.pending}
            if any(self.made(*how, ()).shortest() is None for how in made.values()):
                continue  # no word goes this way
            if isinstance(way.after, Failure):  # Condition 3b.
                raise Refused(Condition.FAILURE, way.after.reason, state=self._sample(control, numbers), step=way.step)
            whole = {p: (*how, way.stored(p)) for p, how in made.items()}
            candidates = self.groups.get(self._bare(way.after), [])
            if not any(
                all(
                    self.is_made_included(n, *whole[p]) if p in whole else self.is_included(n, numbers[p])
                    for p, n in enumerate(other)
                )
                for other in candidates
            ):
                raise self._leads_out(control, numbers, way.step, self._bare(way.after))

    def _check_commits(self, control: State, numbers: Numbers) -> None:
        """Condition 2 for commits."""
        for p, number in enumerate(numbers):
            for entry in self._may_commit(number):
                if self.committed(number, entry).shortest() is None:
                    continue
                after = replace(control, memory=set_at(control.memory, *entry))
                if not any(
                    all(
                        self.is_committed_included(n, number, entry) if q == p else self.is_included(n, numbers[q])
                        for q, n in enumerate(other)
                    )
                    for other in self.groups.get(after, [])
                ):
                    raise self._leads_out(control, numbers, self._commit(p, entry), after)

    def _answers_of(self, way: Way, process: int) -> tuple[tuple[int, int | None], ...]:
        return tuple((variable, value) for (p, variable), value in way.answers.items() if p == process)

    def _newest(self, number: int, variable: int) -> tuple[int | None, ...]:
        """What a load may find among pending stores, where there are some."""
        return tuple(value for value, _ in by_newest(not_empty(self.words[number]), variable))

    def _made(self, number: int, pending: bool, answers: tuple[tuple[int, int | None], ...], stored: Buffer) -> Words:
        """The words after a step that found these answers and stored this."""
        if not pending:
            words = word_alone(()) if self.words[number].has_empty else _NOTHING
        else:
            words = not_empty(self.words[number])
            for variable, wanted in answers:
                words = next((part for value, part in by_newest(words, variable) if value == wanted), _NOTHING)
        return self._settled(append(words, stored))

    def _committed(self, number: int, entry: tuple[int, int]) -> Words:
        words = self.words[number]
        reorders = self.question.model.reorders_stores
        return self._settled(overtaken(words, entry) if reorders else without_first(words, entry))

    def _settled(self, words: Words) -> Words:
        return settled(merged(words)) if self.question.model.reorders_stores else words

    def _may_commit(self, number: int) -> Iterator[tuple[int, int]]:
        words = self.words[number]
        entries = {entry for node in words.nodes() for entry, _ in words.leaving(node)}
        yield from sorted(entry for entry in entries if entry is not None)

    def _commit(self, process: int, entry: tuple[int, int]) -> Step:
        stored = stored_variables(self.program.processes[process])
        is_queued = self.question.model.reorders_stores and entry[0] in stored
        return Commit(process, stored.index(entry[0]) if is_queued else 0)

    def _leads_out(self, control: State, numbers: Numbers, step: Step, after: State) -> Refused:
        return Refused(Condition.CLOSED, state=self._sample(control, numbers), step=step, after=after)

    def _sample(self, control: State, numbers: Numbers) -> State:
        """One of the states that the symbolic one stands for, its words as they were issued."""
        words: list[Word] = [self.words[n].shortest() or () for n in numbers]
        return replace(control, buffers=tuple((word,) for word in words))

    def _bare(self, state: State) -> State:
        return replace(state, buffers=tuple(((),) for _ in self.program.processes))


_NOTHING = Words(frozenset(), {}, frozenset())


def words_of(automaton: ReadAutomaton) -> Words:
    """The words that an automaton of a certificate accepts."""
    moves: Moves = {node: tuple(leaving.items()) for node, leaving in enumerate(automaton.moves)}
    return Words(frozenset({0}), moves, automaton.accepting)


def refuse_what_is_not_covered(question: Question) -> None:
    """Theorem 3 is not about programs that look at buffers or hold the bus, nor about lists of final states."""
    program: Program = question.program
    exprs: list[Expr] = [] if question.bad is None else [question.bad]
    exprs += [e for p in program.processes for t in p.transitions for op in t.ops for e in op_expressions(op)]
    exprs += [e for p in program.processes for t in p.transitions if t.sync is not None for e in t.sync.values]
    looks = any(isinstance(node, BufferEmpty) for expr in exprs for node in walk(expr))
    locks = any(isinstance(op, Lock) for p in program.processes for t in p.transitions for op in t.ops)
    if looks or locks or question.finals or question.model.is_bounded or not question.model.has_buffers:
        raise Refused(Condition.KIND, "automata say nothing about such a claim")
