"""Automata: a set of symbolic states that holds the initial states and includes whatever a step makes of it.

A symbolic state is a control part (locations, registers, memory) and one set of words for each process. It stands for
all choices of one word from each set. Theorem 3 of `docs/theory/certificates.md`: if the conditions below are met,
every reachable state is one of these, but for separators that make no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from memfence.certificates.checker.criteria import without_buffers
from memfence.certificates.checker.languages import (
    NOTHING,
    PENDING,
    Words,
    after_commit,
    after_step,
    missing,
    views_of,
    words_of,
)
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.automata import ReadAutomaton
from memfence.certificates.format.container import NotACertificate
from memfence.models.accesses import accesses
from memfence.models.readings import StoreReading
from memfence.models.state import SEPARATOR, Commit, Failure, ProcessStep, Rendezvous, State, Step
from memfence.models.steps import MemoryModel, set_at, starts, successors, take
from memfence.models.tso import Tso
from memfence.program.expressions import BufferEmpty, walk
from memfence.program.facts.effects import address_read, stored_variables
from memfence.program.ir import FenceKind, Lock, Program
from memfence.program.orders import MemoryOrder
from memfence.program.traversal import transition_expressions

Numbers = tuple[int, ...]
"""Of the automaton of each process."""


class Issuing(Tso):
    """TSO, where a buffer keeps the separators of another model and the order in which everything was issued."""

    def __init__(self, model: MemoryModel) -> None:
        self.model = model

    def separate(self, program: Program, state: State, process: int) -> State | None:
        """As under PSO: a separator in every queue, that is none where the process has no queue."""
        if not self.model.buffering.reorders_stores or not stored_variables(program.processes[process]):
            return state
        longer = (*state.buffers[process][0], SEPARATOR)
        return replace(state, buffers=set_at(state.buffers, process, (longer,)))

    def reading_of_store(self, order: MemoryOrder) -> StoreReading:
        return self.model.reading_of_store(order)

    def reading_of_fence(self, order: MemoryOrder) -> FenceKind | None:
        return self.model.reading_of_fence(order)


class AutomataCheck:
    """A set of symbolic states: control parts, and the numbers of automata that each of them comes with."""

    def __init__(
        self, question: Question, automata: list[ReadAutomaton], rows: Iterable[tuple[State, Numbers]]
    ) -> None:
        refuse_what_is_not_covered(question)
        self.question, self.program, self.automata = question, question.program, automata
        self.model, self.reorders = question.model.definition, question.model.reorders_stores
        self.issuing = Issuing(self.model)
        self.groups: dict[State, list[Numbers]] = {}
        for control, numbers in rows:
            if any(number >= len(automata) for number in numbers):
                raise NotACertificate("a state has an automaton that is not there")
            self.groups.setdefault(without_buffers(control), []).append(numbers)

    def check(self) -> int:
        """The number of symbolic states, if they prove what is asked."""
        for state in starts(self.program, self.model):  # Condition 1: initial states, nothing pending.
            if not any(map(self._has_empty, self.groups.get(without_buffers(state), ()))):
                raise Refused(Condition.INITIAL, state=state)
        for control, known in self.groups.items():
            if self.question.is_bad(control):  # Condition 3a; nothing that is asked looks at buffers.
                raise Refused(Condition.BAD, state=control)
            for numbers in known:
                self._check_drained(control, numbers)
                before = sample(control, [self.automata[n] for n in numbers])
                for step, after, words in (*self.steps(control, numbers), *self.commits(control, numbers)):
                    if isinstance(after, Failure):  # Condition 3b.
                        raise Refused(Condition.FAILURE, after.reason, state=before, step=step)
                    if not self._has_all(without_buffers(after), words):  # Condition 2.
                        raise Refused(Condition.CLOSED, state=before, step=step, after=after)
        return sum(map(len, self.groups.values()))

    def _has_empty(self, numbers: Numbers) -> bool:
        return all(0 in self.automata[n].accepting for n in numbers)

    def _has_all(self, control: State, words: Sequence[Words]) -> bool:
        """Whether all these words are those of a single symbolic state with this control part."""
        return any(
            all(missing(self.automata[n], w, normal=self.reorders) is None for n, w in zip(numbers, words, strict=True))
            for numbers in self.groups.get(control, ())
        )

    def _check_drained(self, control: State, numbers: Numbers) -> None:
        """Condition 3d: a deadlock has nothing pending, since a pending store could commit."""
        plain = replace(control, buffers=self.model.empty_buffers(self.program))
        if self.question.deadlock and self._has_empty(numbers):
            has_step = any(True for _ in successors(self.program, self.model, plain))
            if self.question.is_stuck(plain, has_step=has_step):
                raise Refused(Condition.DEADLOCK, state=plain)

    def steps(self, control: State, numbers: Numbers) -> Iterator[tuple[Step, State | Failure, list[Words]]]:
        """Every step of the program with every view of the words of those who move, and the words that it leaves."""
        for step in steps_at(self.program, control.locations):
            runs = (step,) if isinstance(step, ProcessStep) else (step.sender, step.receiver)
            choices = [views_of(self.automata[numbers[run.process]], self._may_load(run)) for run in runs]
            for views in product(*choices):
                seen = {run.process: view for run, view in zip(runs, views, strict=True)}
                before = replace(control, buffers=tuple((seen.get(p, ()),) for p, _ in enumerate(numbers)))
                after = take(self.program, self.issuing, before, step)
                words = [words_of(self.automata[n]) for n in numbers]
                if isinstance(after, State):
                    for p in seen:
                        words[p] = self._left(self.automata[numbers[p]], p, before, step, after)
                if after is not None:
                    yield step, after, words

    def _left(
        self, automaton: ReadAutomaton, p: int, before: State, step: ProcessStep | Rendezvous, after: State
    ) -> Words:
        """The words of a process after the step, of those whose view is as before it in what the step did load."""
        made = accesses(self.program, self.issuing, before, step)
        loaded = frozenset(one.variable for one in made if one.process == p and "load" in one.kind)
        view, (word,) = before.buffers[p][0], after.buffers[p]
        seen = tuple(entry for entry in view if entry is not SEPARATOR and entry[0] in (PENDING, *loaded))
        return after_step(automaton, loaded, seen, word[len(view) :])

    def _may_load(self, run: ProcessStep) -> frozenset[int]:
        ops = self.program.processes[run.process].transitions[run.transition].ops
        addresses = [address for op in ops if (address := address_read(op)) is not None]
        return frozenset(variable for address in addresses for variable in address.variables)

    def commits(self, control: State, numbers: Numbers) -> Iterator[tuple[Step, State, list[Words]]]:
        """Every commit of a store that some word lets go, and the words that it leaves."""
        for p, number in enumerate(numbers):
            queues = stored_variables(self.program.processes[p])
            entries = {entry for leaving in self.automata[number].moves for entry in leaving}
            for entry in sorted(entry for entry in entries if entry is not SEPARATOR):
                words = [words_of(self.automata[n]) for n in numbers]
                words[p] = after_commit(self.automata[number], entry, overtakes=self.reorders)
                if missing(NOTHING, words[p]) is not None:
                    queue = queues.index(entry[0]) if self.reorders and entry[0] in queues else 0
                    yield Commit(p, queue), replace(control, memory=set_at(control.memory, *entry)), words


def sample(control: State, automata: Iterable[ReadAutomaton]) -> State:
    """One of the states that a symbolic one stands for, its words as they were issued."""
    words = (missing(NOTHING, words_of(automaton)) or () for automaton in automata)
    return replace(control, buffers=tuple((word,) for word in words))


def steps_at(program: Program, locations: tuple[int, ...]) -> Iterator[ProcessStep | Rendezvous]:
    """Every step of processes that stand at these locations, possible or not."""
    leaving = [(p, *one) for p, process in enumerate(program.processes) for one in process.leaving(locations[p])]
    for p, number, transition in leaving:
        if transition.sync is None:
            yield ProcessStep(p, number)
        else:
            yield from (Rendezvous(ProcessStep(p, number), ProcessStep(q, m)) for q, m, _ in leaving)


def refuse_what_is_not_covered(question: Question) -> None:
    """Theorem 3 is not about programs that look at buffers or hold the bus, nor about lists of final states."""
    transitions = [transition for process in question.program.processes for transition in process.transitions]
    exprs = [*question.looks_at, *(expr for transition in transitions for expr in transition_expressions(transition))]
    looks = any(isinstance(node, BufferEmpty) for expr in exprs for node in walk(expr))
    locks = any(isinstance(op, Lock) for transition in transitions for op in transition.ops)
    if looks or locks or question.finals or question.model.is_bounded or not question.model.has_buffers:
        raise Refused(Condition.KIND, "automata say nothing about such a claim")
