"""From the instructions of one thread to a process.

Flags are one register with the sign of the last comparison or result: -1, 0 or 1. A register that holds an address has
as its value the distance from the location (`pointers`), and so has an address the index of an access: 0 on every run,
but computed from whatever the program computes it from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label
from memfence.frontends.aarch64.instructions import register_name
from memfence.frontends.aarch64.mnemonics import (
    ARITHMETIC,
    ATOMICS,
    CONDITIONAL_STORES,
    CONDITIONS,
    LOADS,
    STORES,
    written_registers,
)
from memfence.frontends.aarch64.pointers import Pointers, pointers_at
from memfence.frontends.aarch64.syntax import ZERO, Domain, Immediate, Instruction, Memory, Operand, RegisterName
from memfence.frontends.herd.final import LoweredThread
from memfence.frontends.herd.syntax import InitialState, Item, Observed, Target
from memfence.frontends.herd.track import Track
from memfence.frontends.parsing.limits import operation
from memfence.program import ir
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Address, Binary, Const, Expr, Register, Unary, negate, variable_address
from memfence.program.orders import MemoryOrder
from memfence.source import Span

_FENCES: dict[str, ir.WrittenFence] = {"SY": "dmb.sy", "LD": "dmb.ld", "ST": "dmb.st"}
_NOTHING = Const(0)


class Thread:
    """Builds the process of one thread."""

    def __init__(
        self,
        number: int,
        span: Span,
        items: Sequence[Item[Instruction]],
        initial: InitialState,
        variable: Callable[[str, Span], int],
        errors: list[Diagnostic],
    ) -> None:
        self.number = number
        self.initial = initial
        self.variable = variable
        self.errors = errors
        self.builder = ProcessBuilder(f"P{number}", f"P{number}", span)
        self.track = Track(number, self.builder, items, lambda instruction: instruction.span, errors)
        self.registers: dict[int, int] = {}
        self.flags_register: int | None = None
        instructions = [item.instruction for item in items if item.instruction is not None]
        self.written = {register for instruction in instructions for register in _written(instruction)}
        self.has_branches = any(instruction.mnemonic in CONDITIONS for instruction in instructions)
        self.pointers: Pointers = {}

    def lower(self, observed: Sequence[Observed]) -> LoweredThread:
        """The process, and the number in it of each register that is used or observed."""
        for thread, number in (*self.initial.registers, *self.initial.pointers):
            if thread == self.number:
                self.register(number)
        held = {number: name for (thread, number), name in self.initial.pointers.items() if thread == self.number}
        known = pointers_at(self.track.items, held, lambda target: self.track.labels.get(target.name, (0,))[0])
        for here, item in enumerate(self.track.items):
            self.pointers = known[here]
            if item.instruction is not None:
                self._lower(item.instruction, here, here + 1)
        for what in observed:
            if what.register is not None:
                self.register(what.register)
                self._require_number(what.register, what.span)
        return LoweredThread(self.builder.build(0), self.registers)

    def register(self, number: int) -> int:
        if number not in self.registers:
            init = self.initial.registers.get((self.number, number), 0)
            self.registers[number] = self.builder.register(register_name(number), init=(init,))
        return self.registers[number]

    def _destination(self, operand: Operand) -> int:
        """The register that an instruction changes; what goes to WZR and XZR is forgotten after the step."""
        assert isinstance(operand, RegisterName)
        return self.builder.scratch(0) if operand.number == ZERO else self.register(operand.number)

    def _require_number(self, number: int, span: Span) -> None:
        if number in self.pointers:
            what = f"`{span.text}` holds an address: using it as a value is not supported"
            self.errors.append(Diagnostic(Code.UNSUPPORTED, what, Label(span)))

    def _value(self, operand: Operand) -> Expr:
        """The number in an operand."""
        if isinstance(operand, RegisterName):
            self._require_number(operand.number, operand.span)
        return self._content(operand)

    def _content(self, operand: Operand) -> Expr:
        """The number in an operand; for one that holds an address, the distance from its location."""
        if isinstance(operand, Immediate):
            return Const(operand.value)
        assert isinstance(operand, RegisterName)
        if operand.number == ZERO:
            return Const(0)
        content = Register(self.register(operand.number))
        return operation("<<", content, Const(operand.shift)) if operand.shift else content

    def _address(self, operand: Operand) -> Address:
        assert isinstance(operand, Memory)
        base = operand.base.number
        name = self.pointers.get(base)
        if name is None:
            what = f"`{operand.span.text}` is an address that is computed while the test runs: this is not supported"
            hint = f"initialise the register with an address, as in `{self.number}:{register_name(base)}=x`"
            self.errors.append(Diagnostic(Code.UNSUPPORTED, what, Label(operand.span), hint=hint))
            return variable_address(0)
        distance = self._content(operand.base) if base in self.written else _NOTHING
        if operand.offset is not None and not isinstance(operand.offset, Immediate):
            offset = self._value(operand.offset)
            distance = offset if distance == _NOTHING else Binary("+", distance, offset)
        return Address(self.variable(name, operand.span), 1, distance)

    def _lower(self, instruction: Instruction, here: int, there: int) -> None:
        """Add the steps of one instruction, from its location to the next."""
        span, point = instruction.span, self.track.transition_point(here)
        targets = [operand for operand in instruction.operands if isinstance(operand, Target)]
        if instruction.mnemonic == "RET":
            self.builder.emit(here, self.track.end, span=span)
        elif not targets:
            self.builder.emit(here, there, *self._ops(instruction), span=span, point=point)
        elif instruction.mnemonic == "B":
            self.builder.emit(here, self.track.target(targets[0]), span=span)
        else:
            holds = self._branch_condition(instruction)
            self.builder.emit(here, self.track.target(targets[0]), ir.Assume(holds), span=span)
            self.builder.emit(here, there, ir.Assume(negate(holds)), span=span, point=point)

    def _branch_condition(self, instruction: Instruction) -> Expr:
        if instruction.mnemonic in CONDITIONS:
            return Binary(CONDITIONS[instruction.mnemonic], Register(self._flags_register()), Const(0))
        return Binary("==" if instruction.mnemonic == "CBZ" else "!=", self._value(instruction.operands[0]), Const(0))

    def _flags_register(self) -> int:
        if self.flags_register is None:
            self.flags_register = self.builder.register("flags", ir.Domain(-1, 1))
        return self.flags_register

    def _flags(self, left: Expr, right: Expr) -> list[ir.Op]:
        """Remember how `left` compares with `right`, if some jump wants to know."""
        if not self.has_branches:
            return []
        sign = Binary("-", Binary(">", left, right), Binary("<", left, right))
        return [ir.Assign(self._flags_register(), sign)]

    def _ops(self, instruction: Instruction) -> list[ir.Op]:
        operands = instruction.operands
        match instruction.mnemonic:
            case "NOP":
                return []
            case "ISB":
                return [ir.Fence("isb")]
            case "DMB":
                assert isinstance(operands[0], Domain)
                return [ir.Fence(_FENCES[operands[0].name])]
            case "CMP":
                return self._flags(self._value(operands[0]), self._value(operands[1]))
            case "TST":
                return self._flags(Binary("&", self._value(operands[0]), self._value(operands[1])), Const(0))
            case mnemonic if mnemonic in LOADS:
                is_exclusive = "X" in mnemonic
                address = self._address(operands[1])
                return [ir.Load(self._destination(operands[0]), address, None, LOADS[mnemonic], is_exclusive)]
            case mnemonic if mnemonic in STORES:
                return [ir.Store(self._address(operands[1]), self._value(operands[0]), order=STORES[mnemonic])]
            case mnemonic if mnemonic in CONDITIONAL_STORES:
                return self._conditional_store(instruction)
            case mnemonic if mnemonic in ATOMICS:
                return self._atomic(instruction)
            case _:
                return self._compute(instruction)

    def _conditional_store(self, instruction: Instruction) -> list[ir.Op]:
        status, value, address = instruction.operands
        order = CONDITIONAL_STORES[instruction.mnemonic]
        stored = self._value(value)
        return [ir.Store(self._address(address), stored, order=order, exclusive=True, status=self._destination(status))]

    def _atomic(self, instruction: Instruction) -> list[ir.Op]:
        atomic = ATOMICS[instruction.mnemonic]
        first, *second, memory = instruction.operands
        address, operand = self._address(memory), self._value(first)
        failure_order = MemoryOrder.ACQUIRE if atomic.order.acquires else MemoryOrder.RELAXED
        if atomic.kind == "compare_exchange":
            new, old = self._value(second[0]), self._destination(first)
            return [ir.Rmw(old, address, atomic.kind, new, operand, atomic.order, failure_order)]
        if atomic.negated:
            operand = Unary("~", operand)
        register = self._destination(second[0]) if second and not _is_zero(second[0]) else None
        return [ir.Rmw(register, address, atomic.kind, operand, None, atomic.order, failure_order)]

    def _compute(self, instruction: Instruction) -> list[ir.Op]:
        """An instruction that only changes registers. It may compute addresses: then with distances."""
        first, *operands = instruction.operands
        assert isinstance(first, RegisterName)
        register, mnemonic = self._destination(first), instruction.mnemonic
        makes_address = mnemonic in ("MOV", "ADD", "SUB") and self._is_address(operands)
        values = [self._content(operand) if makes_address else self._value(operand) for operand in operands]
        if mnemonic == "MOV":
            return [ir.Assign(register, values[0])]
        if mnemonic in ("MVN", "NEG"):
            return [ir.Assign(register, Unary("~" if mnemonic == "MVN" else "-", values[0]))]
        left, right = values
        if mnemonic == "LSR":  # shifts in zeros
            left = Binary("&", left, Const(2**32 - 1))
        result = operation(ARITHMETIC[mnemonic], left, right)
        flags: list[ir.Op] = []
        if mnemonic == "SUBS":
            flags = self._flags(left, right)
        elif mnemonic == "ANDS":
            flags = self._flags(result, Const(0))
        return [*flags, ir.Assign(register, result)]

    def _is_address(self, operands: Sequence[Operand]) -> bool:
        """Whether exactly one operand holds an address: sums with others are addresses, too, of the same location."""
        held = [o for o in operands if isinstance(o, RegisterName) and o.number in self.pointers]
        return len(held) == 1 and not held[0].shift


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, RegisterName) and operand.number == ZERO


def _written(instruction: Instruction) -> set[int]:
    """Numbers of the registers that an instruction changes."""
    changed = (instruction.operands[position] for position in written_registers(instruction.mnemonic))
    return {operand.number for operand in changed if isinstance(operand, RegisterName)}
