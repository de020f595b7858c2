"""From the instructions of one thread to a process.

Flags are one register with the sign of the last comparison or result: -1, 0 or 1. A read-modify-write without LOCK is a
load and a store, two steps that others may come between; with LOCK, and for `XCHG`, it is one `Rmw`. As in herd, a
`CMPXCHG` that fails does not write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label
from memfence.frontends.herd.final import LoweredThread
from memfence.frontends.herd.syntax import InitialState, Item, Target
from memfence.frontends.herd.track import Track
from memfence.frontends.litmus.instructions import ARITHMETIC, CONDITIONS, register_name
from memfence.frontends.litmus.syntax import Immediate, Indirect, Instruction, Location, Operand, RegisterName
from memfence.frontends.parsing.limits import operation
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Address, Binary, BinaryOp, Const, Expr, Register, negate, variable_address
from memfence.program.ir import Assign, Assume, Domain, Fence, FencePoint, Load, Op, Rmw, RmwKind, Store
from memfence.source import Span

_OPERATOR: dict[str, BinaryOp] = {
    "ADD": "+",
    "SUB": "-",
    "AND": "&",
    "OR": "|",
    "XOR": "^",
    "INC": "+",
    "DEC": "-",
    "SHL": "<<",
    "SAL": "<<",
    "SHR": ">>",
    "SAR": ">>",
}
_RMW: dict[str, RmwKind] = {
    "ADD": "add", "SUB": "sub", "AND": "and", "OR": "or", "XOR": "xor", "INC": "add", "DEC": "sub",
}  # fmt: skip
_ACCUMULATOR = 0


class Thread:
    """Builds the process of one thread; `registers` are those that the condition asks for."""

    def __init__(
        self,
        number: int,
        span: Span,
        items: Sequence[Item[Instruction]],
        architecture: str,
        initial: InitialState,
        variable: Callable[[str, Span], int],
        errors: list[Diagnostic],
    ) -> None:
        self.number = number
        self.architecture = architecture
        self.initial = initial
        self.variable = variable
        self.errors = errors
        self.builder = ProcessBuilder(f"P{number}", f"P{number}", span)
        self.track = Track(number, self.builder, items, lambda instruction: instruction.span, errors)
        self.registers: dict[int, int] = {}
        self.instructions = [item.instruction for item in items if item.instruction is not None]
        self.has_branches = any(instruction.mnemonic in CONDITIONS for instruction in self.instructions)
        self.written: set[int] | None = None
        self.flags_register: int | None = None
        self.kept_register: int | None = None

    def lower(self, observed: Sequence[int]) -> LoweredThread:
        """The process, and the number in it of each x86 register that is used or observed."""
        for key in (self.initial.registers, self.initial.pointers):
            for thread, number in key:
                if thread == self.number:
                    self.register(number)
        for here, item in enumerate(self.track.items):
            if item.instruction is not None:
                self._lower(item.instruction, here, here + 1, self._transition_point(here, item.instruction))
        for number in observed:
            self.register(number)
        return LoweredThread(self.builder.build(0), self.registers)

    def _transition_point(self, here: int, instruction: Instruction) -> FencePoint | None:
        return None if instruction.mnemonic == "CMPXCHG" else self.track.transition_point(here)

    def register(self, number: int) -> int:
        if number not in self.registers:
            init = self.initial.registers.get((self.number, number), 0)
            name = register_name(number, self.architecture)
            self.registers[number] = self.builder.register(name, init=(init,))
        return self.registers[number]

    def _flags(self, left: Expr, right: Expr) -> list[Op]:
        """Remember how `left` compares with `right`, if some jump wants to know."""
        if not self.has_branches:
            return []
        if self.flags_register is None:
            self.flags_register = self.builder.register("flags", Domain(-1, 1))
        sign = Binary("-", Binary(">", left, right), Binary("<", left, right))
        return [Assign(self.flags_register, sign)]

    def _kept(self) -> int:
        """The register that keeps a loaded value between the two steps of an unlocked read-modify-write."""
        if self.kept_register is None:
            self.kept_register = self.builder.register("loaded")
        return self.kept_register

    def _address(self, operand: Location | Indirect) -> Address:
        if isinstance(operand, Location):
            return variable_address(self.variable(operand.name, operand.span))
        number = operand.register.number
        name = self.initial.pointers.get((self.number, number))
        if name is None or self._is_written(number):
            what = f"`{operand.span.text}` is an address that is computed while the test runs: this is not supported"
            register = register_name(number, self.architecture)
            hint = f"initialise the register with an address, as in `{self.number}:{register}=x`"
            self.errors.append(Diagnostic(Code.UNSUPPORTED, what, Label(operand.span), hint=hint))
            return variable_address(0)
        return variable_address(self.variable(name, operand.span))

    def _is_written(self, number: int) -> bool:
        """Whether some instruction changes the register, so that it need not hold its initial address."""
        if self.written is None:
            self.written = {register for instruction in self.instructions for register in _written(instruction)}
        return number in self.written

    def _value(self, operand: Operand) -> Expr:
        if isinstance(operand, Immediate):
            return Const(operand.value)
        assert isinstance(operand, RegisterName)
        if (self.number, operand.number) in self.initial.pointers and not self._is_written(operand.number):
            what = f"`{operand.span.text}` holds an address: using it as a value is not supported"
            self.errors.append(Diagnostic(Code.UNSUPPORTED, what, Label(operand.span)))
        return Register(self.register(operand.number))

    def _lower(self, instruction: Instruction, here: int, there: int, point: FencePoint | None) -> None:
        """Add the steps of one instruction, from its location to the next."""
        operands, span = instruction.operands, instruction.span

        def step(*ops: Op, locked: bool = False) -> None:
            self.builder.emit(here, there, *ops, locked=locked, span=span, point=point)

        match instruction.mnemonic:
            case "MFENCE":
                step(Fence("mfence"))
            case "SFENCE":
                step(Fence("sfence"))
            case "LFENCE" | "NOP":
                step()
            case "RET":
                self.builder.emit(here, self.track.end, span=span)
            case "MOV":
                step(*self._move(operands[0], operands[1]))
            case "XCHG":
                step(*self._exchange(operands[0], operands[1]))
            case "CMP":
                loads, (left, right) = self._operands(operands)
                step(*loads, *self._flags(left, right))
            case "JMP":
                target = self._target(operands[0])
                self.builder.emit(here, target, span=span)
            case mnemonic if mnemonic in CONDITIONS:
                self._branch(instruction, here, there, point)
            case _:
                self._modify(instruction, here, there, point)

    def _operands(self, operands: Sequence[Operand]) -> tuple[list[Op], list[Expr]]:
        """Loads of the memory operand, if any, and the values."""
        ops: list[Op] = []
        values: list[Expr] = []
        for operand in operands:
            if isinstance(operand, Location | Indirect):
                scratch = self.builder.scratch(0)
                ops.append(Load(scratch, self._address(operand)))
                values.append(Register(scratch))
            else:
                values.append(self._value(operand))
        return ops, values

    def _move(self, destination: Operand, value: Operand) -> list[Op]:
        if isinstance(destination, Location | Indirect):
            return [Store(self._address(destination), self._value(value))]
        assert isinstance(destination, RegisterName)
        register = self.register(destination.number)
        if isinstance(value, Location | Indirect):
            return [Load(register, self._address(value))]
        return [Assign(register, self._value(value))]

    def _exchange(self, a: Operand, b: Operand) -> list[Op]:
        if _is_memory(b):
            a, b = b, a
        assert isinstance(b, RegisterName)
        mine, new = self.register(b.number), self._value(b)
        if isinstance(a, Location | Indirect):
            return [Rmw(mine, self._address(a), "exchange", new)]
        assert isinstance(a, RegisterName)
        kept, old = self.builder.scratch(0), self._value(a)
        return [Assign(kept, old), Assign(self.register(a.number), new), Assign(mine, Register(kept))]

    def _branch(self, instruction: Instruction, here: int, there: int, point: FencePoint | None) -> None:
        if self.flags_register is None:
            self.flags_register = self.builder.register("flags", Domain(-1, 1))
        holds = Binary(CONDITIONS[instruction.mnemonic], Register(self.flags_register), Const(0))
        target = self._target(instruction.operands[0])
        self.builder.emit(here, target, Assume(holds), span=instruction.span)
        self.builder.emit(here, there, Assume(negate(holds)), span=instruction.span, point=point)

    def _target(self, operand: Operand) -> int:
        assert isinstance(operand, Target)
        return self.track.target(operand)

    def _modify(self, instruction: Instruction, here: int, there: int, point: FencePoint | None) -> None:
        """Read-modify-write: one step on a register or with LOCK, otherwise a load and then a store."""
        destination = instruction.operands[0]
        span = instruction.span
        if not isinstance(destination, Location | Indirect):
            loads, (old, *_) = self._operands(instruction.operands)
            locked = instruction.locked
            for ops in self._outcomes(instruction, old):
                self.builder.emit(here, there, *loads, *ops, locked=locked, span=span, point=point)
            return
        if instruction.locked:
            self.builder.emit(here, there, *self._locked(instruction, destination), span=span, point=point)
            return
        between = self.builder.location(span=span)
        self.builder.emit(here, between, Load(self._kept(), self._address(destination)), span=span)
        for ops in self._outcomes(instruction, Register(self._kept())):
            self.builder.emit(between, there, *ops, span=span, point=point)

    def _locked(self, instruction: Instruction, destination: Location | Indirect) -> list[Op]:
        """One `Rmw`, the flags, and the old value where the instruction puts it."""
        address, old = self._address(destination), Register(self.builder.scratch(0))
        source = self._value(instruction.operands[1]) if len(instruction.operands) > 1 else Const(1)
        match instruction.mnemonic:
            case "CMPXCHG":
                accumulator = Register(self.register(_ACCUMULATOR))
                compare = Rmw(old.index, address, "compare_exchange", source, accumulator)
                return [compare, *self._flags(accumulator, old), Assign(accumulator.index, old)]
            case "XADD":
                assert isinstance(source, Register)
                add = Rmw(old.index, address, "add", source)
                return [add, *self._flags(Binary("+", old, source), Const(0)), Assign(source.index, old)]
            case mnemonic:
                flags = self._flags(Binary(_OPERATOR[mnemonic], old, source), Const(0))
                return [Rmw(old.index if flags else None, address, _RMW[mnemonic], source), *flags]

    def _outcomes(self, instruction: Instruction, old: Expr) -> list[list[Op]]:
        """What may happen to the destination, whose value was `old`: one list of ops for each case."""
        destination, *sources = instruction.operands
        if instruction.mnemonic == "CMPXCHG":
            accumulator = Register(self.register(_ACCUMULATOR))
            same = Binary("==", old, accumulator)
            flags = self._flags(accumulator, old)
            swap = [*flags, *self._write(destination, self._value(sources[0]))]
            keep = [*flags, Assign(accumulator.index, old)]
            return [[Assume(same), *swap], [Assume(negate(same)), *keep]]
        if instruction.mnemonic == "XADD":
            assert isinstance(sources[0], RegisterName)
            mine = self.register(sources[0].number)
            kept = self.builder.scratch(1)
            total = Binary("+", old, Register(mine))
            ops: list[Op] = [Assign(kept, old), *self._flags(total, Const(0)), *self._write(destination, total)]
            return [[*ops, Assign(mine, Register(kept))]]
        if instruction.mnemonic in ARITHMETIC:
            operand: Expr = Register(self.builder.scratch(0)) if _is_memory(sources[0]) else self._value(sources[0])
        else:
            operand = Const(1)
        if instruction.mnemonic == "SHR":  # shifts in zeros
            old = Binary("&", old, Const(2**32 - 1))
        result = operation(_OPERATOR[instruction.mnemonic], old, operand)
        return [[*self._flags(result, Const(0)), *self._write(destination, result)]]

    def _write(self, destination: Operand, value: Expr) -> list[Op]:
        if isinstance(destination, Location | Indirect):
            return [Store(self._address(destination), value)]
        assert isinstance(destination, RegisterName)
        return [Assign(self.register(destination.number), value)]


def _is_memory(operand: Operand) -> bool:
    return isinstance(operand, Location | Indirect)


def _written(instruction: Instruction) -> set[int]:
    """Numbers of the registers that an instruction changes."""
    if instruction.mnemonic == "CMP":
        return set()
    changed = instruction.operands if instruction.mnemonic in ("XCHG", "XADD") else instruction.operands[:1]
    written = {operand.number for operand in changed if isinstance(operand, RegisterName)}
    return written | ({_ACCUMULATOR} if instruction.mnemonic == "CMPXCHG" else set())
