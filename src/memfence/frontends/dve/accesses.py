"""What a step of a DVE process reads and writes. What is read twice without a write between is loaded once."""

from __future__ import annotations

from memfence.frontends.dve.names import INT, LocalPlace, Names
from memfence.frontends.dve.values import Values
from memfence.program import expressions
from memfence.program.builder import ProcessBuilder
from memfence.program.ir import Assign, Assume, Domain, Load, Op, RegisterVar, Store

_Known = tuple[expressions.Expr | None, int]
"""When a register holds a value (None: always), and the register."""


class Accesses(Values):
    """The ops of the present step. Scratch registers are shared by all steps, since each leaves them 0."""

    def __init__(self, names: Names, process: int, builder: ProcessBuilder) -> None:
        super().__init__(names, process)
        self.builder = builder
        self.scratch: dict[Domain, list[int]] = {}
        self.begin(0)

    def begin(self, location: int) -> None:
        self.location = location
        self.ops: list[Op] = []
        self.used: dict[Domain, int] = {}
        self.loaded: dict[expressions.Address, list[_Known]] = {}
        self.bounded: dict[tuple[expressions.Expr, int], list[_Known]] = {}

    def assume(self, condition: expressions.Expr) -> None:
        if condition == expressions.TRUE:
            return
        if self.ops and isinstance(self.ops[-1], Assume):
            self.ops[-1] = Assume(expressions.Binary("&&", self.ops[-1].condition, condition))
        else:
            self.ops.append(Assume(condition))

    # Values in steps

    def at(self, process: int, state: int) -> expressions.Expr:
        if process == self.process:
            return expressions.Const(int(state == self.location))
        return expressions.At(process, frozenset((state,)))

    def register(self, place: LocalPlace, element: int) -> expressions.Expr:
        if place.process == self.process:
            return expressions.Register(place.base + element)
        return super().register(place, element)

    def read_shared(self, address: expressions.Address, when: expressions.Expr | None) -> expressions.Expr:
        known = _find(self.loaded.get(address, []), when)
        if known is None:
            known = self.fresh(INT)
            self.ops.append(Load(known, address, when))
            self.loaded.setdefault(address, []).append((when, known))
        return expressions.Register(known)

    def checked_index(self, index: expressions.Expr, count: int, when: expressions.Expr | None) -> expressions.Expr:
        """A copy in a register whose range are the bounds, so that the copying fails outside them."""
        known = _find(self.bounded.get((index, count), []), when)
        if known is None:
            known = self.fresh(Domain(0, count - 1))
            self.ops.append(
                Assign(known, index if when is None else expressions.Conditional(when, index, expressions.Const(0)))
            )
            self.bounded.setdefault((index, count), []).append((when, known))
        return expressions.Register(known)

    def fresh(self, domain: Domain) -> int:
        """A scratch register that this step has not used yet."""
        pool = self.scratch.setdefault(domain, [])
        position = self.used.get(domain, 0)
        self.used[domain] = position + 1
        if position == len(pool):
            name = f"%{sum(len(registers) for registers in self.scratch.values())}"
            self.builder.registers.append(RegisterVar(name, domain, transient=True))
            pool.append(len(self.builder.registers) - 1)
        return pool[position]

    def forget_register(self, register: int) -> None:
        """The register changes: what was read with its help has to be read again."""
        for address in [a for a, known in self.loaded.items() if _mentions(a.index, known, register)]:
            del self.loaded[address]
        for key in [k for k, known in self.bounded.items() if _mentions(k[0], known, register)]:
            del self.bounded[key]

    def forget_memory(self, address: expressions.Address) -> None:
        """Some variable of `address` changes."""
        end = address.base + address.size
        for other in [a for a in self.loaded if a.base < end and address.base < a.base + a.size]:
            del self.loaded[other]

    # Effects

    def write_shared(
        self, address: expressions.Address, value: expressions.Expr, domain: Domain, superseded: bool = False
    ) -> None:
        self.forget_memory(address)
        if superseded:
            kept = self.fresh(domain)
            self.ops.append(Assign(kept, value))
            self.loaded[address] = [(None, kept)]
        else:
            self.ops.append(Store(address, value))

    def write_local(
        self, place: LocalPlace, index: expressions.Expr, value: expressions.Expr, is_new: bool = False
    ) -> None:
        """Assign to one register; to each element where only the run tells which. `is_new`: the value came last."""
        if isinstance(index, expressions.Const) and 0 <= index.value < place.count:
            self.write_register(place.base + index.value, value, is_new)
            return
        chosen = self.checked_index(index, place.count, None)
        if not isinstance(value, expressions.Const | expressions.Register):
            kept = self.fresh(place.domain)
            self.ops.append(Assign(kept, value))
            value = expressions.Register(kept)
        for number in range(place.count):
            register = place.base + number
            is_it = expressions.Binary("==", chosen, expressions.Const(number))
            self.ops.append(Assign(register, expressions.Conditional(is_it, value, expressions.Register(register))))
            self.forget_register(register)

    def write_register(self, register: int, value: expressions.Expr, is_new: bool) -> None:
        last = self.ops[-1] if self.ops else None
        if is_new and isinstance(last, Load) and value == expressions.Register(last.register):
            self.ops[-1] = Load(register, last.address)  # straight into the variable, without the scratch register
            self.loaded.pop(last.address, None)
        elif value != expressions.Register(register):
            self.ops.append(Assign(register, value))
        self.forget_register(register)

    # Channels


def _find(known: list[_Known], when: expressions.Expr | None) -> int | None:
    return next((register for condition, register in known if condition is None or condition == when), None)


def _mentions(index: expressions.Expr, known: list[_Known], register: int) -> bool:
    conditions = [condition for condition, _ in known if condition is not None]
    return any(register in expressions.registers_of(expr) for expr in (index, *conditions))
