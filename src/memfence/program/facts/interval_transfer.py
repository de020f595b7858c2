"""What one transition does to intervals of values: the abstract twin of `models.steps`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from memfence.program import ir
from memfence.program.expressions import TRUE, Address, Binary, Register, RegisterOf
from memfence.program.facts.effects import value_written
from memfence.program.facts.interval_arithmetic import (
    ZERO,
    Environment,
    Interval,
    Remembering,
    hull,
    interval,
    join,
    join_environments,
    meet,
    narrow,
    refine,
    value_of,
)

Place = tuple[Literal["variable", "register", "channel"], int | str, int]
"""Where values are written: `variable, number, 0`, `register, process, number` or `channel, name, position`."""


def variable_place(number: int) -> Place:
    return ("variable", number, 0)


def register_place(process: int, number: int) -> Place:
    return ("register", process, number)


def domains_of(program: ir.Program) -> dict[Place, ir.Domain]:
    """The declared domain of every variable and register."""
    domains = {variable_place(n): v.domain for n, v in enumerate(program.variables)}
    for p, process in enumerate(program.processes):
        domains |= {register_place(p, n): r.domain for n, r in enumerate(process.registers)}
    return domains


@dataclass(slots=True)
class Values:
    """What is written to each place, initial values included: `raw` before it is made to fit, `kept` after."""

    raw: dict[Place, Interval] = field(default_factory=dict)
    kept: dict[Place, Interval] = field(default_factory=dict)

    def add(self, place: Place, raw: Interval, kept: Interval | None) -> bool:
        """Whether there was something new in `kept`."""
        known = self.raw.get(place)
        self.raw[place] = raw if known is None else hull(known, raw)
        before = self.kept.get(place)
        after = join(before, kept)
        if after is None or after == before:
            return False
        self.kept[place] = after
        return True


def initial_values(program: ir.Program, domains: Mapping[Place, ir.Domain]) -> Values:
    """The values that are there before any step, and 0 where a run goes on after an error with everything 0."""
    values = Values()
    zero = () if program.error_locations is None else (0,)

    def start(place: Place, init: Sequence[int]) -> None:
        domain = domains[place]
        stored = [domain.fit(v) if domain.overflow == "wrap" else v for v in init]
        values.add(place, interval(min(init), max(init)), interval(min(stored), max(stored)))

    for n, variable in enumerate(program.variables):
        start(variable_place(n), (*variable.init, *zero))
    for p, process in enumerate(program.processes):
        for n, register in enumerate(process.registers):
            start(register_place(p, n), (0,) if register.transient else (*register.init, *zero))
    return values


def fit(domain: ir.Domain, raw: Interval) -> Interval | None:
    """What is stored when values of `raw` are written; None if every one of them is an error."""
    whole = Interval(domain.lo, domain.hi)
    if domain.overflow == "undeclared" or whole.contains(raw):
        return raw
    if domain.overflow == "error":
        return meet(raw, whole)
    turn = (raw.lo - domain.lo) // domain.size
    if raw.is_finite and turn == (raw.hi - domain.lo) // domain.size:
        return Interval(raw.lo - turn * domain.size, raw.hi - turn * domain.size)
    return whole


class Transfer:
    """The effect of transitions, with what is `known` about memory, channels and the registers of others."""

    def __init__(self, program: ir.Program, domains: Mapping[Place, ir.Domain], known: Values) -> None:
        self._program = program
        self._domains = domains
        self._known = known
        self._written: list[tuple[Place, Interval, Interval | None]] = []
        self._look = Remembering(self._foreign)

    def take(
        self, process: int, transition: ir.Transition, env: Environment
    ) -> tuple[Environment | None, list[tuple[Place, Interval, Interval | None]]]:
        """The registers after the transition (None if it is never possible), and what it writes on the way."""
        self._written = []
        self._look = Remembering(self._foreign)
        after = self._all(process, transition, env)
        if after is not None:
            registers = self._program.processes[process].registers
            after = tuple(ZERO if r.transient else i for r, i in zip(registers, after, strict=True))
        return after, self._written

    def _all(self, process: int, transition: ir.Transition, env: Environment) -> Environment | None:
        sync = transition.sync
        if sync is None:
            return self._ops(process, transition.ops, env)
        after = self._ops(process, transition.ops[: sync.guard_ops], env)
        for position, expr in enumerate(sync.values):
            value = None if after is None else value_of(expr, after, self._look)
            if value is None:
                return None
            self._written.append((("channel", sync.channel, position), value, value))
        for position, register in enumerate(sync.registers):
            received = self._known.kept.get(("channel", sync.channel, position))
            if after is None or received is None:
                return None
            after = self._set(process, register, received, after)
        return None if after is None else self._ops(process, transition.ops[sync.guard_ops :], after)

    def _foreign(self, foreign: RegisterOf) -> Interval:
        return self._known.kept[register_place(foreign.process, foreign.register)]

    def _ops(self, process: int, ops: Iterable[ir.Op], env: Environment) -> Environment | None:
        current: Environment | None = env
        for op in ops:
            if current is not None:
                current = self._op(process, op, current)
        return current

    def _op(self, process: int, op: ir.Op, env: Environment) -> Environment | None:
        match op:
            case ir.Assign(register, expr):
                value = value_of(expr, env, self._look)
                return None if value is None else self._set(process, register, value, env)
            case ir.Assume(condition) | ir.Assert(condition):
                return refine(condition, True, env, self._look)
            case ir.Load(register, address, None):
                loaded = self._loaded(address, env)
                inside = narrow(address.index, _bounds(address), env)
                return None if loaded is None or inside is None else self._set(process, register, loaded, inside)
            case ir.Load(register, address, when) if when is not None:
                yes, no = refine(when, True, env, self._look), refine(when, False, env, self._look)
                loaded = join(None if yes is None else self._loaded(address, yes), None if no is None else ZERO)
                return None if loaded is None else self._set(process, register, loaded, env)
            case ir.Store(exclusive=True, status=status):
                stored = self._op(process, replace(op, exclusive=False, status=None), env)
                either = join_environments(stored, env)
                return either if status is None or either is None else self._set(process, status, _STATUS, either)
            case ir.Store(address, expr, when=None):
                value = value_of(expr, env, self._look)
                return None if value is None else self._store(address, value, env)
            case ir.Store(_, _, when=when) if when is not None:
                yes, no = refine(when, True, env, self._look), refine(when, False, env, self._look)
                stored = None if yes is None else self._op(process, replace(op, when=None), yes)
                return join_environments(stored, no)
            case ir.Rmw():
                return self._modify(process, op, env)
            case ir.Fence() | ir.Lock() | ir.Unlock():
                return env
            case _:
                raise AssertionError(op)

    def _modify(self, process: int, op: ir.Rmw, env: Environment) -> Environment | None:
        """The old value takes part as one more register, behind those of the process."""
        old, inside = self._loaded(op.address, env), narrow(op.address.index, _bounds(op.address), env)
        if old is None or inside is None:
            return None
        after, place = (*inside, old), Register(len(env))
        found = TRUE if op.expected is None else Binary("==", place, op.expected)
        writes, leaves = refine(found, True, after, self._look), refine(found, False, after, self._look)
        new = None if writes is None else value_of(value_written(op, place), writes, self._look)
        written = None if writes is None or new is None else self._store(op.address, new, writes)
        rest = join_environments(written, leaves)
        if rest is None:
            return None
        return rest[:-1] if op.register is None else self._set(process, op.register, rest[-1], rest[:-1])

    def _elements(self, address: Address, env: Environment) -> range:
        index = value_of(address.index, env, self._look)
        inside = None if index is None else meet(index, _bounds(address))
        return range(0) if inside is None else range(address.base + inside.lo, address.base + inside.hi + 1)

    def _loaded(self, address: Address, env: Environment) -> Interval | None:
        loaded: Interval | None = None
        for variable in self._elements(address, env):
            loaded = join(loaded, self._known.kept[variable_place(variable)])
        return loaded

    def _store(self, address: Address, raw: Interval, env: Environment) -> Environment | None:
        possible = False
        for variable in self._elements(address, env):
            kept = fit(self._domains[variable_place(variable)], raw)
            self._written.append((variable_place(variable), raw, kept))
            possible = possible or kept is not None
        return narrow(address.index, _bounds(address), env) if possible else None

    def _set(self, process: int, register: int, raw: Interval, env: Environment) -> Environment | None:
        place = register_place(process, register)
        kept = fit(self._domains[place], raw)
        self._written.append((place, raw, kept))
        return None if kept is None else (*env[:register], kept, *env[register + 1 :])


_STATUS = Interval(0, 1)


def _bounds(address: Address) -> Interval:
    return Interval(0, address.size - 1)
