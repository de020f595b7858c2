"""Ranks: why no run that refutes a temporal property goes on for ever.

The program runs beside the automaton of the runs that refute the property. Each pair of a state and a node has a rank,
and each rank names a mark. No step leads to a higher rank, and a step within a rank does not visit the mark of that
rank. Theorem 8: a run comes to a rank that it never leaves, and visits its mark no more; so it is not accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from memfence.certificates.checker.question import Question, with_every_first_value
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.checker.tableau import Refuting, refuting_automaton, refuting_formula
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.header import Claim
from memfence.diagnostics import InputError
from memfence.models.fairness import Condition as Fairness
from memfence.models.fairness import is_met, is_true, memory_fairness, process_fairness, steps_of_runs
from memfence.models.state import State, Step
from memfence.models.steps import MemoryModel, starts
from memfence.program.ir import Ltl, Program, PropertyAutomaton
from memfence.questions.ltl.parser import parse_formula
from memfence.records import Record

Pair = tuple[State, int]
"""A state of the program, and a node of the automaton."""


class Product(Record):
    """The program beside the automaton. Marks are those of the automaton, then one for each condition of fairness."""

    program: Program
    model: MemoryModel
    refuting: Refuting
    fairness: tuple[Fairness, ...]

    @property
    def marks(self) -> int:
        """How many there are. Where nothing has to recur every infinite run is accepted: one mark, which all visit."""
        return max(1, self.refuting.marks + len(self.fairness))

    def starts(self) -> Iterator[Pair]:
        return ((state, self.refuting.initial) for state in starts(self.program, self.model))

    def moves(self, pair: Pair) -> Iterator[tuple[Step | None, Pair, frozenset[int]]]:
        """Every joint step, with the marks that it visits."""
        state, node = pair
        truth = frozenset(n for n, atom in enumerate(self.refuting.atoms) if is_true(self.program, state, atom))
        enabled = [m for m in self.refuting.moves[node] if m.positive <= truth and not m.negative & truth]
        steps = steps_of_runs(self.program, self.model, state)
        possible = [step for step, _ in steps]
        everything = frozenset({0}) if not self.refuting.marks and not self.fairness else frozenset()
        for step, after in steps:
            met = frozenset(
                self.refuting.marks + n
                for n, condition in enumerate(self.fairness)
                if is_met(self.program, condition, state, step, possible)
            )
            for move in enabled:
                yield step, (after, move.target), move.marks | met | everything


def product_of(question: Question, claim: Claim, stated: Ltl | PropertyAutomaton, program: Program) -> Product:
    """The runs of `program` that refute the property, and are fair: memory always, processes if the claim says so."""
    refuting = _refuting(claim, stated, program)
    whole = with_every_first_value(program, refuting.atoms)
    model = question.model.definition
    fairness: tuple[Fairness, ...] = memory_fairness(whole, model)
    if claim.fair:
        fairness += process_fairness(whole)
    return Product(whole, model, refuting, fairness)


def _refuting(claim: Claim, stated: Ltl | PropertyAutomaton, program: Program) -> Refuting:
    if isinstance(stated, PropertyAutomaton):
        return refuting_automaton(stated)
    try:
        parsed = parse_formula(stated.text, program, dict(claim.define))
    except InputError as error:
        raise NotACertificate(f"the claim cannot be read: {error.diagnostics[0].message}") from None
    return refuting_formula(parsed.formula, tuple(atom.expr for atom in parsed.atoms))


def check_ranks(product: Product, ranks: Mapping[Pair, int], mark_of: Callable[[int], int]) -> None:
    """Return if the ranks are as they have to be; else Refused."""
    for pair in product.starts():  # Condition 1: every pair that is reachable has a rank, from the first ones on.
        if pair not in ranks:
            raise Refused(Condition.INITIAL, state=pair[0])
    for pair, rank in ranks.items():
        mark = mark_of(rank)
        if not 0 <= mark < product.marks:
            raise NotACertificate("a rank names a mark that does not exist")
        for step, after, marks in product.moves(pair):
            if after not in ranks:  # Condition 2.
                raise Refused(Condition.CLOSED, state=pair[0], step=step, after=after[0])
            if ranks[after] > rank:  # Condition 3.
                raise Refused(Condition.RANK, "it grows", state=pair[0], step=step, after=after[0])
            if ranks[after] == rank and mark in marks:  # Condition 4.
                raise Refused(Condition.RANK, "it stays", state=pair[0], step=step, after=after[0])
