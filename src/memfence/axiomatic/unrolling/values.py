"""Values of registers as slots, and what can be wrong with them."""

from __future__ import annotations

from dataclasses import replace

from memfence.axiomatic.code import Check, Cut, Origin
from memfence.axiomatic.unrolling.conditions import canonical
from memfence.axiomatic.unrolling.definedness import conditions, fitted, in_bounds, inside
from memfence.axiomatic.unrolling.emission import Emission, truth, without_slots
from memfence.axiomatic.unrolling.refusal import NotUnrolled, Unfit
from memfence.axiomatic.unrolling.state import State, Way
from memfence.program.expressions import (
    TRUE,
    Address,
    Binary,
    Conditional,
    Const,
    Expr,
    Register,
    disjunction,
    negate,
    rewrite,
)
from memfence.program.facts.interval_arithmetic import Interval
from memfence.program.ir import Domain, Program


class Values:
    """Evaluates for one process. Where a value is an error there is a `Check`, and the thread goes no further.

    `extra`: what, besides the state's guard, must be true for the value to be needed at all.
    """

    def __init__(self, program: Program, process: int, out: Emission) -> None:
        self.program = program
        self.number = process
        self.process = program.processes[process]
        self.out = out

    def value(self, state: State, way: Way, expr: Expr) -> Expr:
        """`expr` of the program's registers as one of slots."""

        def leaf(node: Expr) -> Expr:
            match node:
                case Register(number):
                    return state.registers[number]
                case Const():
                    return node
            raise NotUnrolled(Unfit.LOOKS_AT_OTHERS, way.transition.span)

        return without_slots(rewrite(expr, leaf))

    def condition(self, state: State, way: Way, expr: Expr) -> Expr:
        """The same, of which only the truth counts."""
        return canonical(self.value(state, way, expr))

    def evaluable(self, state: State, way: Way, expr: Expr, extra: Expr = TRUE) -> State:
        """The state where `expr` has a value."""
        for needed, error in conditions(self.value(state, way, expr), self.out.range_of):
            state = self._require(state, way, needed, error, extra)
        return state

    def _require(self, state: State, way: Way, needed: Expr, error: str, extra: Expr) -> State:
        """The state where `needed` is true. Elsewhere the program fails, where its language says that this is an error.

        In C all errors are tested by assertions. What else goes wrong is a limit of ours: nothing is known from there.
        """
        if self.program.language != "c":
            return self.check(state, way, needed, error, extra)
        needed = truth(without_slots(needed))
        if needed == TRUE:
            return state
        beyond = self.out.both(self.out.both(state.guard, extra), negate(needed))
        self.out.emit(Cut(beyond, self.origin(way)))
        passed = needed if extra == TRUE else disjunction(negate(extra), needed)
        return replace(state, guard=self.out.both(state.guard, passed))

    def check(self, state: State, way: Way, needed: Expr, error: str, extra: Expr = TRUE) -> State:
        """The state where `needed` is true, if it matters; elsewhere the program fails."""
        needed = truth(without_slots(needed))
        if needed == TRUE:
            return state
        self.out.emit(Check(needed, self.out.both(state.guard, extra), error, self.origin(way)))
        passed = needed if extra == TRUE else disjunction(negate(extra), needed)
        return replace(state, guard=self.out.both(state.guard, passed))

    def set(self, state: State, way: Way, register: int, value: Expr) -> State:
        """The state with this value in the register, as it fits there."""
        state, stored = self.fit(state, way, self.process.registers[register].domain, self.out.define(value))
        registers = (*state.registers[:register], self.out.define(stored), *state.registers[register + 1 :])
        return replace(state, registers=registers)

    def fit(self, state: State, way: Way, domain: Domain, value: Expr, extra: Expr = TRUE) -> tuple[State, Expr]:
        """The value as it is stored, and the state where it can be."""
        needed = inside(domain, value, self.out.range_of)
        if needed is not None:
            state = self._require(state, way, needed, f"a value outside {domain.lo}..{domain.hi}", extra)
        return state, fitted(domain, value, self.out.range_of)

    def address(self, state: State, way: Way, address: Address, extra: Expr = TRUE) -> tuple[State, Address]:
        """The address by slots, and the state where it is one."""
        state = self.evaluable(state, way, address.index, extra)
        index = self.out.define(self.value(state, way, address.index))
        needed = in_bounds(index, address.size, self.out.range_of)
        if needed is not None:
            state = self._require(state, way, needed, f"an index outside 0..{address.size - 1}", extra)
        return state, Address(address.base, address.size, index)

    def stored(self, state: State, way: Way, address: Address, expr: Expr, extra: Expr) -> tuple[State, Expr]:
        """What is written there, and the state where it can be: it must fit, whichever variable it is."""
        state = self.evaluable(state, way, expr, extra)
        plain = self.out.define(self.value(state, way, expr))
        domains = {v: self.program.variables[v].domain for v in address.variables}
        if len(set(domains.values())) == 1:
            return self.fit(state, way, next(iter(domains.values())), plain, extra)
        stored = plain
        for variable, domain in domains.items():
            here = Binary("==", address.index, Const(variable - address.base))
            needed = inside(domain, plain, self.out.range_of)
            if needed is not None:
                allowed = disjunction(negate(here), needed)
                state = self._require(state, way, allowed, f"a value outside {domain.lo}..{domain.hi}", extra)
            fitting = fitted(domain, plain, self.out.range_of)
            stored = stored if fitting == plain else Conditional(here, fitting, stored)
        return state, stored

    def range_at(self, address: Address) -> Interval:
        """Every value that may be found there."""
        domains = [self.program.variables[v].domain for v in address.variables]
        return Interval(min(d.lo for d in domains), max(d.hi for d in domains))

    def origin(self, way: Way) -> Origin:
        return Origin(self.number, way.number, way.op, way.transition.span)
