"""What all threads have in common: addresses, which memory is shared, what may be in it, which threads there are.

The facts only ever grow. Where a pass over the program finds that it relied on too little (memory taken for private
that another thread accesses, a loop that was unrolled too often), it starts again with what it learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from memfence.frontends.c.llvm.instructions import Function, Offset
from memfence.frontends.c.llvm.link import Linked, Symbol
from memfence.frontends.c.llvm.values import signed
from memfence.frontends.c.machine.constants import Constants, Plan
from memfence.frontends.c.machine.liveness import FunctionFacts
from memfence.frontends.c.machine.memory import AddressSpace, Object
from memfence.frontends.c.machine.residual import Cell, Op, Within
from memfence.frontends.c.machine.state import Position
from memfence.frontends.c.machine.value_sets import (
    HIGHEST,
    LOWEST,
    NOTHING,
    UNWRITTEN,
    ValueSet,
    is_within_reach,
    just,
    within_reach,
)
from memfence.frontends.c.machine.values import Known, Scalar
from memfence.frontends.c.machine.wide import LOWEST_CODE, Codes
from memfence.program.expressions import Binary, Const, conjunction
from memfence.program.load_options import COptions

WIDEN_AFTER = 4
STEADY_AFTER = 200
"""Growths after which an address that lies in the interval of what a cell holds is no news."""
WIDEST_CELL = 16
BEYOND = "integers of 64 bits are followed only within 32 bits"
MISTAKABLE = "the number {} is not stored in memory that may be uninitialised or hold wide integers"
PARTLY = "undefined bits beside written ones are read as 0"
STARTED, DONE, RESULT, ARGUMENT, THREAD_BYTES = 0, 4, 8, 16, 24
FLAG_BYTES = 8
"""So far before an object lies what says that it was freed, or that its call has returned."""


class Restart(Exception):
    """What was learned makes everything so far too optimistic."""


class MixedSizes(Exception):
    """The same memory is accessed as values that overlap."""


@dataclass(slots=True)
class Thread:
    """A thread instance: created at one place, for the n-th time there. Number 0 is the main thread.

    `is_crowd`: it stands for any number of threads of its function, wherever they are created.
    """

    number: int
    symbol: Symbol
    name: str
    block: Object | None
    arguments: ValueSet = NOTHING
    joined: bool = False
    style: str = "pthread"
    is_crowd: bool = False


@dataclass
class World:
    linked: Linked
    options: COptions
    draws_anything: bool = False
    any_number: frozenset[str] = frozenset()
    space: AddressSpace = field(default_factory=AddressSpace)
    shared: dict[int, int] = field(default_factory=dict)
    extents: set[tuple[int, int]] = field(default_factory=set)
    unstable: set[int] = field(default_factory=set)
    freed: set[int] = field(default_factory=set)
    mortal: set[int] = field(default_factory=set)
    meets_early: bool = False
    widened: dict[tuple[int, tuple[Position, ...]], set[object]] = field(default_factory=dict)
    thread_arguments: dict[object, ValueSet] = field(default_factory=dict)
    thread_numbers: dict[object, int] = field(default_factory=dict)
    results_wanted: set[int] = field(default_factory=set)
    in_memory: set[int] = field(default_factory=set)
    endless: set[tuple[Position, ...]] = field(default_factory=set)
    thread_keys: dict[int, object] = field(default_factory=dict)
    values: dict[int, ValueSet] = field(default_factory=dict)
    growths: dict[int, int] = field(default_factory=dict)
    # Of one pass:
    joined: set[int] = field(default_factory=set)
    threads: dict[int, Thread] = field(default_factory=dict)
    readers: dict[int, set[int]] = field(default_factory=dict)
    writers: dict[int, set[int]] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)
    skipped: set[tuple[int, int]] = field(default_factory=set)
    copied: set[tuple[int, int]] = field(default_factory=set)
    base: dict[int, int] | None = None
    notes: dict[str, bool] = field(default_factory=dict)
    unbounded: set[str] = field(default_factory=set)
    repeated: set[str] = field(default_factory=set)
    assumed: set[str] = field(default_factory=set)
    grown: set[int] = field(default_factory=set)
    decided: set[tuple[int, str, str]] = field(default_factory=set)
    new_shared: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.constants = Constants(self.linked, self.space)
        self.codes = Codes()
        self._plans: dict[int, Plan] = {}
        self._facts: dict[tuple[int, str], FunctionFacts] = {}

    def begin_pass(self) -> None:
        self.threads, self.readers, self.writers = {}, {}, {}
        self.base, self.notes, self.grown = None, {}, set()
        self.unbounded, self.repeated, self.decided = set(), set(), set()
        self.new_shared, self.joined, self.begun, self.skipped, self.copied = set(), set(), set(), set(), set()

    def facts(self, symbol: Symbol) -> FunctionFacts:
        key = (symbol.module, symbol.name)
        found = self._facts.get(key)
        if found is None:
            assert isinstance(symbol.definition, Function)
            found = self._facts[key] = FunctionFacts(symbol.definition)
        return found

    def offset_plan(self, module: int, instruction: Offset) -> Plan:
        """How far the instruction moves a pointer; computed once."""
        key = id(instruction)
        found = self._plans.get(key)
        if found is None:
            found = self.constants.plan(module, instruction.source, instruction.indices)
            self._plans[key] = found
        return found

    def note(self, text: str, *, is_cut: bool = False) -> None:
        """A restriction of what a verdict covers. `is_cut`: the runs beyond it come to a location of kind "bound"."""
        self.notes[text] = is_cut

    # Shared memory.

    def cell_of(self, address: int, size: int) -> Cell | None:
        """The shared cell that contains the range, if it is shared."""
        for start in range(address, address - WIDEST_CELL, -1):
            width = self.shared.get(start)
            if width is not None and start + width > address:
                return Cell(start, width)
        return None

    def is_shared(self, address: int, size: int) -> bool:
        if any(self.cell_of(a, 1) is not None for a in range(address, address + size)):
            return True
        placed = self.space.at(address) if self.in_memory else None
        if placed is not None and placed.start in self.in_memory:
            self.share_now(address, size)
            return True
        return False

    def has_extent(self, address: int, size: int) -> bool:
        """Whether some access to a value in this range is known."""
        return any(a < address + size and address < a + n for a, n in self.extents)

    def share(self, address: int, size: int) -> None:
        """From the next pass on, this memory is shared."""
        self.extents.add((address, size))
        if self.cell_of(address, size) is None:
            self.new_shared.add((address, size))

    def share_now(self, address: int, size: int) -> Cell:
        """This memory is shared from now on; Restart if somebody took it for private."""
        self.extents.add((address, size))
        cell = self.cell_of(address, size)
        if cell is not None and cell.address + cell.size >= address + size:
            return cell
        touched = any(self.readers.get(a) or self.writers.get(a) for a in range(address, address + size))
        has_parts = any(a in self.shared for a in range(address, address + size))  # steps already name them
        self._settle(address, size)
        if touched or has_parts or cell is not None:
            raise Restart(f"memory at {self.space.name_of(address, size)} is shared")
        found = self.cell_of(address, size)
        assert found is not None
        return found

    def apply_new_shared(self) -> None:
        for address, size in self.new_shared:
            self._settle(address, size)

    def _settle(self, address: int, size: int) -> None:
        """Make one cell of the range and everything that overlaps it, by the accesses seen so far."""
        lo, hi = address, address + size
        while True:
            touching = [(a, s) for a, s in self.extents if a < hi and a + s > lo]
            touching += [(a, s) for a, s in self.shared.items() if a < hi and a + s > lo]
            new_lo, new_hi = min([lo, *(a for a, _ in touching)]), max([hi, *(a + s for a, s in touching)])
            if (new_lo, new_hi) == (lo, hi):
                break
            lo, hi = new_lo, new_hi
        if hi - lo > WIDEST_CELL:
            raise MixedSizes(f"`{self.space.name_of(address, size)}` is accessed in pieces of different size")
        for start in [a for a in self.shared if lo <= a < hi]:
            if self.shared[start] != hi - lo:
                self.values.pop(start, None)
            del self.shared[start]
        self.shared[lo] = hi - lo

    def initial(self, address: int, size: int) -> int:
        """What a shared cell holds when the first thread is created; UNWRITTEN where nobody has written it."""
        found = self.content(address, size)
        if found.undefined == (1 << 8 * size) - 1:
            return UNWRITTEN
        if found.undefined:
            self.note(PARTLY)
        return self.codes.code_of(found.value)

    def content(self, address: int, size: int) -> Known:
        """What memory holds when the first thread is created (or, before that, when the program starts)."""
        found = undefined = 0
        for position in range(size - 1, -1, -1):
            byte = self._byte(address + position)
            found = found << 8 | (byte or 0)
            undefined = undefined << 8 | (255 if byte is None else 0)
        return Known(signed(found, 8 * size) if size else 0, undefined)

    def _byte(self, address: int) -> int | None:
        """The byte, None where nobody has written it."""
        if self.base is not None and address in self.base:
            return self.base[address]
        placed = self.space.at(address)
        if placed is None:
            return 0
        image = self.space.images.get(placed.start)
        if image is not None:
            return image[address - placed.start]
        return None if placed.kind in ("stack", "heap") else 0

    def possible(self, cell: Cell) -> ValueSet:
        """What a load of the cell may find."""
        found = self.values.get(cell.address)
        if found is None:
            found = self.values[cell.address] = just(self.initial(cell.address, cell.size))
            self.begun.add(cell.address)
        elif cell.address not in self.begun:  # known from an earlier pass, in which it may have begun otherwise
            found = self.values[cell.address] = found.join(just(self.initial(cell.address, cell.size)))
            self.begun.add(cell.address)
        return found

    def may_hold(self, cell: Cell, stored: ValueSet) -> None:
        """A store adds to what the cell may hold."""
        before = self.possible(cell)
        after = before.join(within_reach(stored))
        if after is before or after == before:
            return
        if self.growths.get(cell.address, 0) > STEADY_AFTER and before.includes(within_reach(stored)):
            return
        self.growths[cell.address] = self.growths.get(cell.address, 0) + 1
        if self.growths[cell.address] > WIDEN_AFTER:
            after = after.widened(before)
        self.values[cell.address] = after
        self.grown.add(cell.address)

    def unmistakable(self, cell: Cell, value: Scalar) -> list[Op]:
        """The guards that keep a number of the program from being taken for unwritten memory, or for a code."""
        values = value.values
        meant = frozenset() if isinstance(value, Known) else values.listed
        held = self.possible(cell).listed
        taken = [v for v in sorted(held - meant) if (v == UNWRITTEN or v >= LOWEST_CODE) and values.contains(v)]
        for number in taken:
            self.note(MISTAKABLE.format(number), is_cut=True)
        return [Within(Binary("!=", value.expr, Const(number))) for number in taken]

    def storable(self, value: Scalar, size: int) -> Scalar:
        """The value as a shared cell of `size` bytes holds it."""
        if not isinstance(value, Known) or not value.undefined:
            return self.codes.coded(value)
        if value.undefined & ((1 << 8 * size) - 1) == (1 << 8 * size) - 1:
            return Known(UNWRITTEN)
        self.note(PARTLY)
        return Known(value.value)

    def reach_of(self, value: Scalar) -> list[Op]:
        """The guard that keeps a value where registers and memory can hold it; a note, where it is needed."""
        if is_within_reach(value.values):
            return []
        self.note(BEYOND, is_cut=True)
        low, high = Binary(">=", value.expr, Const(LOWEST)), Binary("<=", value.expr, Const(HIGHEST))
        return [Within(conjunction(low, high))]

    # Who accesses what.

    def reads(self, process: int, address: int, size: int, *, whole: bool = True) -> None:
        """The thread reads private memory; `whole`: as one value, not byte by byte."""
        if whole:
            self.extents.add((address, size))
        for a in range(address, address + size):
            self.readers.setdefault(a, set()).add(process)

    def writes(self, process: int, address: int, size: int, *, whole: bool = True) -> None:
        if whole:
            self.extents.add((address, size))
        for a in range(address, address + size):
            self.writers.setdefault(a, set()).add(process)

    def conflicts(self) -> Iterator[int]:
        """Bytes taken for private that several threads access, one of them writing."""
        for address, writers in self.writers.items():
            users = writers | self.readers.get(address, set())
            if (len(users) > 1 or self._is_met(address, users)) and self.cell_of(address, 1) is None:
                yield address

    def _is_met(self, address: int, users: set[int]) -> bool:
        """Whether threads that are one here access the same byte: any number of them, and it is nobody's own."""
        return any(self.is_crowd(user) and self.owner_of(address) != user for user in users)

    def is_crowd(self, process: int) -> bool:
        thread = self.threads.get(process)
        return thread is not None and thread.is_crowd

    def owner_of(self, address: int) -> int:
        """The thread whose stack, heap block or thread-local variable it is; -1 for other memory."""
        placed = self.space.at(address) or self.space.at(address + FLAG_BYTES)
        return -1 if placed is None else placed.owner

    def learn_conflicts(self) -> bool:
        """Whether some memory turned out to be shared."""
        found = set(self.conflicts())
        for address, size in list(self.extents):
            if any(a in found for a in range(address, address + size)):
                self.new_shared.add((address, size))
        self.extents |= {(b, m) for b, m in self.copied for a, n in self.skipped if a < b + m and b < a + n}
        found_new = bool(self.new_shared) or any(
            a < b + m and b < a + n for a, n in self.skipped for b, m in self.extents
        )
        self.apply_new_shared()
        return found_new

    # Threads.

    def thread(
        self, key: object, symbol: Symbol, name: str, argument: ValueSet, style: str, *, is_crowd: bool = False
    ) -> Thread:
        """The thread created there; Restart if it was taken to get another argument."""
        known = self.thread_arguments.get(key, NOTHING)
        joined = known.join(argument)
        number = self.thread_numbers.setdefault(key, len(self.thread_numbers) + 1)
        self.thread_keys[number] = key
        if joined != known:
            self.thread_arguments[key] = joined
            if number in self.threads:
                raise Restart(f"thread {name} gets several arguments")
        found = self.threads.get(number)
        if found is None:
            block = self.space.place(("thread", key), THREAD_BYTES, f"thread{number}", "thread")
            found = self.threads[number] = Thread(number, symbol, name, block, joined, style=style, is_crowd=is_crowd)
            for offset, size in ((STARTED, 4), (DONE, 4), (RESULT, 8), (ARGUMENT, 8)):
                self.shared[block.start + offset] = size
        return found

    def thread_block(self, number: int) -> Object | None:
        """Where the bookkeeping of a thread is; None for what is no thread."""
        key = self.thread_keys.get(number)
        return None if key is None else self.space.find(("thread", key))

    def known_argument(self, thread: Thread) -> Known | None:
        return Known(next(iter(thread.arguments.listed))) if thread.arguments.is_single else None
