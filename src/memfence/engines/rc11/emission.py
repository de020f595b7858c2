"""The ops of one monitored step: tables are read once, changed in registers, and written back at the end."""

from __future__ import annotations

from collections.abc import Collection

from memfence.engines.rc11.rows import Key, Table
from memfence.program.expressions import Binary, Conditional, Const, Expr, Register, Unary, fold, variable_address
from memfence.program.ir import WIDEST, Assign, Load, Op, RegisterVar, Store

ZERO = Const(0)


class Registers:
    """Scratch registers of a process, used again in every step."""

    def __init__(self, own: tuple[RegisterVar, ...]) -> None:
        self.own = own
        self.most = 0

    def __call__(self, number: int) -> int:
        self.most = max(self.most, number + 1)
        return len(self.own) + number

    def all(self) -> tuple[RegisterVar, ...]:
        more = (RegisterVar(f"monitor{n}", WIDEST, transient=True) for n in range(self.most))
        return (*self.own, *more)


class Emission:
    """`ops` so far. A word of a table is loaded where it is first needed."""

    def __init__(self, registers: Registers) -> None:
        self.registers = registers
        self.ops: list[Op] = []
        self._used = 0
        self._words: dict[tuple[Table, int], int] = {}
        self._kept: dict[tuple[Table, int], int] = {}
        self._changed: set[tuple[Table, int]] = set()

    def new(self) -> int:
        self._used += 1
        return self.registers(self._used - 1)

    def word(self, table: Table, word: int) -> int:
        """The register with a word of a table."""
        if (table, word) not in self._words:
            register = self._words[table, word] = self.new()
            self.ops.append(Load(register, variable_address(table.base + word)))
        return self._words[table, word]

    def _set(self, table: Table, word: int, value: Expr) -> None:
        register = self.word(table, word)
        self.ops.append(Assign(register, fold(value)))
        self._changed.add((table, word))

    def row(self, table: Table, row: Key) -> list[Expr]:
        """The columns of a row, block by block."""
        found: list[Expr] = []
        for block, width in enumerate(table.blocks):
            place = table.place(row, block)
            shifted = _shifted(Register(self.word(table, place.word)), -place.shift)
            found.append(Binary("&", shifted, Const((1 << width) - 1)))
        return found

    def has(self, table: Table, row: Key, column: int) -> Expr:
        """Whether the row has the column: not 0."""
        block, bit = divmod(column, max(table.blocks))
        place = table.place(row, block)
        return Binary("&", Register(self.word(table, place.word)), Const(1 << (place.shift + bit)))

    def add(self, table: Table, row: Key, columns: list[Expr]) -> None:
        for block, more in enumerate(columns):
            place = table.place(row, block)
            register = self.word(table, place.word)
            self._set(table, place.word, Binary("|", Register(register), _shifted(more, place.shift)))

    def add_columns(self, table: Table, row: Key, mask: int) -> None:
        for block in range(len(table.blocks)):
            if part := table.part(mask, block):
                place = table.place(row, block)
                register = self.word(table, place.word)
                self._set(table, place.word, Binary("|", Register(register), Const(part << place.shift)))

    def put(self, table: Table, row: Key, columns: list[Expr] | None) -> None:
        """The row is what `columns` are, or empty."""
        for block, width in enumerate(table.blocks):
            place = table.place(row, block)
            register = self.word(table, place.word)
            others = Binary("&", Register(register), Const(~(((1 << width) - 1) << place.shift)))
            new = others if columns is None else Binary("|", others, _shifted(columns[block], place.shift))
            self._set(table, place.word, new)

    def clear(self, table: Table, mask: int, condition: Expr | None = None) -> None:
        """No row has the columns any more, where the condition is true."""
        for word, bits in table.everywhere(mask):
            register = self.word(table, word)
            kept: Expr = Const(~bits)
            if condition is not None:
                kept = Conditional(condition, kept, Const(-1))
            self._set(table, word, Binary("&", Register(register), kept))

    def add_everywhere(self, table: Table, rows: Collection[Key], block: int, columns: int) -> None:
        """The rows get the columns in the register, which are of one block."""
        for word, factor in table.spread(rows, block):
            more = Binary("*", Register(columns), Const(factor))
            self._set(table, word, Binary("|", Register(self.word(table, word)), more))

    def clear_everywhere(self, table: Table, rows: Collection[Key], block: int, columns: int) -> None:
        """The rows lose the columns in the register, which are of one block."""
        for word, factor in table.spread(rows, block):
            less = Unary("~", Binary("*", Register(columns), Const(factor)))
            self._set(table, word, Binary("&", Register(self.word(table, word)), less))

    def value(self, expr: Expr) -> int:
        """A register with the value."""
        register = self.new()
        self.ops.append(Assign(register, fold(expr)))
        return register

    def keep(self) -> None:
        """What was changed so far counts in any case."""
        for key in self._changed:
            self._kept[key] = self.value(Register(self._words[key]))

    def write_back(self, unless: Expr | None = None) -> None:
        """Store what has changed; where `unless` is true, only what was kept."""
        for table, word in sorted(self._changed, key=lambda key: (key[0].base, key[1])):
            value: Expr = Register(self._words[table, word])
            address = variable_address(table.base + word)
            if unless is not None:
                before = self._kept.get((table, word))
                if before is None:
                    before = self.new()
                    self.ops.append(Load(before, address))
                value = Conditional(unless, Register(before), value)
            self.ops.append(Store(address, value))


def _shifted(expr: Expr, by: int) -> Expr:
    if by == 0:
        return expr
    return Binary("<<" if by > 0 else ">>", expr, Const(abs(by)))
