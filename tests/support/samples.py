"""Small programs with real source text and spans, built by hand: for tests of what comes after the front ends."""

from __future__ import annotations

from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import At, Binary, Const, Expr, Register, RegisterOf, conjunction, variable_address
from memfence.program.ir import (
    Assert,
    Assign,
    Assume,
    Domain,
    Fence,
    Forbidden,
    Load,
    Op,
    Process,
    Program,
    SharedVar,
    Store,
)
from memfence.program.load_options import LoadOptions
from memfence.source import SourceText

BYTE = Domain(0, 255)


class Sample:
    """A program text, one statement a line: `x := 1`, `r := x`, `mfence`, `sfence`, `locked x := 1`, `assert r == 0`,
    `assume r == 0`. Variables are named by `shared`; anything else on the left of `:=` is a register."""

    def __init__(self, name: str, shared: str) -> None:
        self.name = name
        self.shared = shared.split()
        self.lines: list[str] = [f"shared {shared}"]
        self.bodies: list[tuple[str, list[int]]] = []

    def process(self, name: str, *statements: str) -> Sample:
        self.lines.append(f"process {name}")
        self.bodies.append((name, list(range(len(self.lines), len(self.lines) + len(statements)))))
        self.lines.extend(f"  {statement}" for statement in statements)
        return self

    def build(self, forbidden: Expr | None = None, text: str = "the bad outcome") -> Program:
        source = SourceText(f"{self.name}.txt", "\n".join(self.lines) + "\n")
        variables = tuple(SharedVar(name, BYTE) for name in self.shared)
        processes = tuple(self._process(source, name, lines) for name, lines in self.bodies)
        properties = () if forbidden is None else (Forbidden(forbidden, text),)
        return Program(self.name, variables, processes, properties, source, LoadOptions(language="sample"))

    def _process(self, source: SourceText, name: str, lines: list[int]) -> Process:
        builder = ProcessBuilder(name, name)
        here = builder.location("start", labels=("start",))
        for position, line in enumerate(lines):
            last = position == len(lines) - 1
            there = builder.location("end", labels=("end",)) if last else builder.location()
            offset = sum(len(text) + 1 for text in self.lines[:line]) + 2
            statement = self.lines[line].strip()
            span = source.span(offset, offset + len(statement))
            locked = statement.startswith("locked ")
            op = self._op(builder, statement.removeprefix("locked "))
            builder.emit(here, there, op, locked=locked, span=span)
            here = there
        return builder.build(0)

    def _op(self, builder: ProcessBuilder, statement: str) -> Op:
        if statement in ("mfence", "sfence"):
            return Fence("mfence" if statement == "mfence" else "sfence")
        word, _, rest = statement.partition(" ")
        if word in ("assert", "assume"):
            register, _, value = rest.partition(" == ")
            condition = Binary("==", Register(self._register(builder, register)), Const(int(value)))
            return Assert(condition) if word == "assert" else Assume(condition)
        left, _, right = statement.partition(" := ")
        if left in self.shared:
            return Store(variable_address(self.shared.index(left)), self._value(builder, right))
        register_number = self._register(builder, left)
        if right in self.shared:
            return Load(register_number, variable_address(self.shared.index(right)))
        return Assign(register_number, self._value(builder, right))

    def _value(self, builder: ProcessBuilder, text: str) -> Expr:
        return Const(int(text)) if text.isdecimal() else Register(self._register(builder, text))

    def _register(self, builder: ProcessBuilder, name: str) -> int:
        for number, register in enumerate(builder.registers):
            if register.name == name:
                return number
        return builder.register(name, BYTE)


def register_is(process: int, register: int, value: int) -> Expr:
    return Binary("==", RegisterOf(process, register), Const(value))


def store_buffering() -> Program:
    """Forbidden: both processes end, both read 0."""
    sample = Sample("sb", "x y").process("P0", "x := 1", "r := y").process("P1", "y := 1", "r := x")
    program = sample.build()
    both = conjunction(register_is(0, 0, 0), register_is(1, 0, 0), ends(program, 0), ends(program, 1))
    return sample.build(both, "both read 0")


def message_passing() -> Program:
    """Forbidden: the reader sees the flag but not the data."""
    sample = Sample("mp", "data flag").process("writer", "data := 1", "flag := 1")
    sample.process("reader", "f := flag", "d := data")
    program = sample.build()
    stale = conjunction(register_is(1, 0, 1), register_is(1, 1, 0), ends(program, 1))
    return sample.build(stale, "stale data")


def ends(program: Program, process: int) -> Expr:
    """The process stands at its last location."""
    return At(process, frozenset({len(program.processes[process].locations) - 1}))
