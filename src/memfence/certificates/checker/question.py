"""What a claim says about a program, as something that can be looked at state by state.

The claim names properties as users write them; they are read again here, from the program that is at hand. So it does
not matter what whoever wrote the certificate thought that they mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.header import Claim
from memfence.diagnostics import InputError
from memfence.models.buffering import Buffering
from memfence.models.fairness import is_true
from memfence.models.spec import SPECS, ModelSpec
from memfence.models.state import State
from memfence.models.steps import is_final
from memfence.program.expressions import Expr, RegisterOf, conjunction, disjunction, negate, walk
from memfence.program.facts.cuts import is_cut
from memfence.program.facts.ends import all_have_ended
from memfence.program.ir import Final, Forbidden, Invariant, Ltl, NoDeadlock, Program, Property, PropertyAutomaton
from memfence.program.parameterised import alike
from memfence.program.text.properties import parse_expression
from memfence.records import Record

MOST_FIRST_VALUES = 1 << 16


class Question(Record):
    """`program` has every first value of the registers that a property looks at. `bad`: true in no state.

    `deadlock`: nobody waits for ever before the end. `finals`: what is said about final states.
    `asks_states`: whether anything is asked of single states; a formula that is given is asked alone.
    """

    program: Program
    model: ModelSpec
    bad: Expr | None
    deadlock: bool
    finals: tuple[Final, ...]
    temporal: tuple[Ltl | PropertyAutomaton, ...]
    asks_states: bool

    @property
    def looks_at(self) -> tuple[Expr, ...]:
        """Everything that is asked of single states."""
        bad = () if self.bad is None else (self.bad,)
        return (*bad, *(expr for final in self.finals for expr in (final.expr, *(e for _, e in final.observed))))

    def is_bad(self, state: State) -> bool:
        return self.bad is not None and is_true(self.program, state, self.bad)

    def refuted_final(self, state: State) -> Final | None:
        """The statement about final states that `state` refutes."""
        if not self.finals or not is_final(self.program, state):
            return None
        for final in self.finals:
            if is_true(self.program, state, final.expr) != (final.quantifier == "forall"):
                return final
        return None

    def is_stuck(self, state: State, *, has_step: bool) -> bool:
        """Whether `state` is a deadlock: no step, and some process at a place where it may not stay for ever."""
        return self.deadlock and not has_step and not self._may_all_end(state)

    def _may_all_end(self, state: State) -> bool:
        return all(
            process.locations[at].may_end or not any(process.leaving(at))
            for process, at in zip(self.program.processes, state.locations, strict=True)
        )


def model_of(claim: Claim) -> ModelSpec:
    """The memory model that the claim names."""
    if claim.model not in SPECS:
        raise NotACertificate(f"`{claim.model}` is not a memory model")
    spec = SPECS[claim.model]
    if claim.per_variable and (claim.bound is None or spec.buffering is not Buffering.PER_PROCESS):
        raise NotACertificate("only in a buffer for all variables is there a bound for each of them")
    return spec if claim.bound is None else spec.bounded(claim.bound, per_variable=claim.per_variable)


def question_of(claim: Claim, program: Program) -> Question:
    """What has to be true of the states of `program`. NotACertificate where the claim cannot be read."""
    asked = properties_of(claim, program)
    bad: list[Expr] = []
    for stated in asked:
        match stated:
            case Forbidden(expr, _):
                bad.append(expr)
            case Invariant(expr, _):
                bad.append(negate(expr))
            case Final("forall", expr, _, ()):
                bad.append(conjunction(all_have_ended(program), negate(expr)))
    if claim.reaches_no_bound:
        bad.append(_cut_off(claim, program))
    question = Question(
        program,
        model_of(claim),
        disjunction(*bad) if bad else None,
        any(isinstance(stated, NoDeadlock) for stated in asked),
        tuple(stated for stated in asked if isinstance(stated, Final) and stated.observed),
        tuple(stated for stated in asked if isinstance(stated, Ltl | PropertyAutomaton)),
        claim.reaches_no_bound
        or (claim.ltl is None and program.has_assertions)
        or any(not isinstance(stated, Ltl | PropertyAutomaton) for stated in asked),
    )
    looks_at = question.looks_at if claim.criterion == "safety" else ()
    return replace(question, program=with_every_first_value(program, looks_at))


def _cut_off(claim: Claim, program: Program) -> Expr:
    """True where a run is cut off. NotACertificate where that cannot be seen in states."""
    if not program.marked_cuts or claim.criterion != "safety" or claim.ltl is not None or program.any_number:
        raise NotACertificate("that no bound is reached cannot be claimed here")
    return is_cut(program)


def properties_of(claim: Claim, program: Program) -> tuple[Property, ...]:
    """The properties that the claim gives, else those that the program states."""
    try:
        forbid = tuple(Forbidden(parse_expression(text, program, "--forbid"), text) for text in claim.forbid)
        invariant = tuple(Invariant(parse_expression(text, program, "--invariant"), text) for text in claim.invariant)
        final = tuple(Final("forall", parse_expression(text, program, "--final"), text) for text in claim.final)
    except InputError as error:
        raise NotACertificate(f"the claim cannot be read: {error.diagnostics[0].message}") from None
    ltl = () if claim.ltl is None else (Ltl("ltl", claim.ltl),)
    given = (*forbid, *invariant, *final, *ltl, *((NoDeadlock(),) if claim.deadlock else ()))
    return given or program.properties


def with_every_first_value(program: Program, exprs: Sequence[Expr]) -> Program:
    """`program`, where a register that is set before it is read starts with any value, if a property looks at it.

    Processes of which there is any number stay alike.
    """
    looked_at = [node for expr in exprs for node in walk(expr) if isinstance(node, RegisterOf)]
    seen = {(p, node.register) for node in looked_at for p in alike(program, node.process)}
    processes = list(program.processes)
    for p, r in sorted(seen):
        registers = list(processes[p].registers)
        domain = registers[r].unset
        if domain is None:
            continue
        if domain.size > MOST_FIRST_VALUES:
            raise NotACertificate(f"`{registers[r].name}` may start with {domain.size} values: that is too many")
        registers[r] = replace(registers[r], domain=domain, init=tuple(range(domain.lo, domain.hi + 1)), unset=None)
        processes[p] = replace(processes[p], registers=tuple(registers))
    return replace(program, processes=tuple(processes))
