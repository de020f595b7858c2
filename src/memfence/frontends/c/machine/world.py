"""What all threads have in common: addresses, which memory is shared, what may be in it, which threads there are.

The facts only ever grow. Where a pass over the program finds that it relied on too little (memory taken for private
that another thread accesses, a loop that was unrolled too often), it starts again with what it learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import pairwise

from memfence.failures import reading_of
from memfence.frontends.c.llvm.instructions import Function, Offset
from memfence.frontends.c.llvm.link import Linked, Symbol
from memfence.frontends.c.llvm.metadata import Place
from memfence.frontends.c.llvm.values import signed
from memfence.frontends.c.machine.arithmetic import kept
from memfence.frontends.c.machine.constants import Constants, Plan
from memfence.frontends.c.machine.liveness import FunctionFacts
from memfence.frontends.c.machine.memory import AddressSpace, Object
from memfence.frontends.c.machine.packing import is_wholly_undefined, plain, with_zeros
from memfence.frontends.c.machine.ranges import Range, Ranges
from memfence.frontends.c.machine.residual import Cell, Op, Within
from memfence.frontends.c.machine.state import Position
from memfence.frontends.c.machine.value_sets import NOTHING, UNLIKELY, UNWRITTEN, ValueSet, just, within_reach
from memfence.frontends.c.machine.values import Integer, Known, Scalar, is_undefined
from memfence.program.expressions import Binary, Const
from memfence.program.load_options import COptions

WIDEN_AFTER = 4
STEADY_AFTER = 200
"""Growths after which an address that lies in the interval of what a cell holds is no news."""
WIDEST_CELL = 8
MISTAKABLE = f"the number {UNLIKELY} is not stored in memory that may be uninitialised"
PARTLY = "undefined bits beside written ones are read as 0"
STARTED, DONE, RESULT, ARGUMENT, THREAD_BYTES = 0, 4, 8, 16, 24
FLAG_BYTES = 8
"""So far before an object lies what says that it was freed, or that its call has returned."""


AtExit = tuple[int, int | None, object]
"""A function that runs when the process exits, its argument, and where it was registered, if it may be more often."""


class Restart(Exception):
    """What was learned makes everything so far too optimistic."""


class Access(Enum):
    """How somebody accesses memory. A `WHOLE_STORE` may wait in a buffer, but C promises that it is seen whole."""

    LOAD = auto()
    STORE = auto()
    WHOLE_STORE = auto()
    UPDATE = auto()


@dataclass(slots=True)
class Thread:
    """A thread instance: created at one place, for the n-th time there. Number 0 is the main thread.

    `is_parameterised`: it stands for any number of threads of its function, wherever they are created.
    """

    number: int
    symbol: Symbol
    name: str
    block: Object | None
    arguments: ValueSet = NOTHING
    joined: bool = False
    style: str = "pthread"
    is_parameterised: bool = False


@dataclass
class World:
    linked: Linked
    options: COptions
    draws_anything: bool = False
    any_number: frozenset[str] = frozenset()
    space: AddressSpace = field(default_factory=AddressSpace)
    shared: dict[int, int] = field(default_factory=dict)
    extents: Ranges = field(default_factory=Ranges)
    stored: Ranges = field(default_factory=Ranges)
    updated: Ranges = field(default_factory=Ranges)
    whole: Ranges = field(default_factory=Ranges)
    unstable: set[int] = field(default_factory=set)
    freed: set[int] = field(default_factory=set)
    allocated: dict[int, Place | None] = field(default_factory=dict)
    internal: set[int] = field(default_factory=set)
    freed_at: dict[int, set[Place]] = field(default_factory=dict)
    mortal: set[int] = field(default_factory=set)
    meets_early: bool = False
    ignores_signals: bool = False
    first_may_end: bool = False
    at_exit: dict[AtExit, None] = field(default_factory=dict)
    late_at_exit: set[AtExit] = field(default_factory=set)
    widened: dict[tuple[int, tuple[Position, ...]], set[object]] = field(default_factory=dict)
    thread_arguments: dict[object, ValueSet] = field(default_factory=dict)
    thread_numbers: dict[object, int] = field(default_factory=dict)
    results_wanted: set[int] = field(default_factory=set)
    detaches: bool = False
    in_memory: set[int] = field(default_factory=set)
    endless: set[tuple[Position, ...]] = field(default_factory=set)
    thread_keys: dict[int, object] = field(default_factory=dict)
    values: dict[int, ValueSet] = field(default_factory=dict)
    growths: dict[int, int] = field(default_factory=dict)
    # Of one pass:
    exits: bool = False
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
    evident: set[tuple[int, str, str]] = field(default_factory=set)
    evident_places: set[Place] = field(default_factory=set)
    assembly: set[Place] = field(default_factory=set)
    new_shared: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.constants = Constants(self.linked, self.space)
        named = (name for module in self.linked.modules for name in module.functions)
        self.reading = reading_of(named, self.options.allow)
        self._plans: dict[int, Plan] = {}
        self._facts: dict[tuple[int, str], FunctionFacts] = {}
        self._accessed: set[tuple[int, int, Access]] = set()

    def begin_pass(self) -> None:
        self.threads, self.readers, self.writers = {}, {}, {}
        self.base, self.notes, self.assumed, self.grown = None, {}, set(), set()
        self.exits = False
        self.unbounded, self.repeated, self.decided = set(), set(), set()
        self.evident, self.evident_places, self.assembly = set(), set(), set()
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

    def runs_at_exit(self, key: AtExit, *, late: bool) -> None:
        """It may be registered; `late`: when other threads may be running. Restart where that was taken to be so."""
        known = len(self.at_exit) + len(self.late_at_exit)
        self.at_exit[key] = None
        if late:
            self.late_at_exit.add(key)
        if len(self.at_exit) + len(self.late_at_exit) > known and (self.exits or len(self.late_at_exit) > 1):
            raise Restart("something else runs at exit")

    # Shared memory.

    def cell_of(self, address: int) -> Cell | None:
        """The shared cell that contains the byte, if it is shared."""
        for start in range(address, address - WIDEST_CELL, -1):
            width = self.shared.get(start)
            if width is not None:
                return Cell(start, width) if start + width > address else None
        return None

    def cells_in(self, address: int, size: int) -> list[Cell]:
        """The shared cells that have a byte in the range, in order."""
        width = self.shared.get(address)
        if width is not None and width >= size:
            return [Cell(address, width)]
        first = self.cell_of(address)
        starts = [a for a in range(address + 1, address + size) if a in self.shared]
        return [*([] if first is None else [first]), *(Cell(a, self.shared[a]) for a in starts)]

    def is_shared(self, address: int, size: int) -> bool:
        if address in self.shared or self.cells_in(address, size):
            return True
        placed = self.space.at(address) if self.in_memory else None
        if placed is not None and placed.start in self.in_memory:
            self.share_now(address, size)
            return True
        return False

    def has_extent(self, address: int, size: int) -> bool:
        """Whether some access to a value in this range is known."""
        return bool(self.extents.touching(address, address + size))

    def share(self, address: int, size: int, access: Access = Access.LOAD) -> None:
        """From the next pass on, this memory is shared."""
        is_new = self._access(address, size, access)
        if is_new or not self.cells_in(address, size):
            self.new_shared.add((address, size))

    def share_now(self, address: int, size: int, access: Access = Access.LOAD) -> tuple[Cell, ...]:
        """The cells of this memory, which is shared from now on; Restart if somebody took it for something else."""
        is_new = self._access(address, size, access)
        cells = self.cells_in(address, size)
        if cells and not is_new:
            return tuple(cells)
        touched = any(self.readers.get(a) or self.writers.get(a) for a in range(address, address + size))
        if self._settle(address, size) and (touched or cells):  # steps already name them
            raise Restart(f"memory at {self.space.name_of(address, size)} is shared")
        return tuple(self.cells_in(address, size))

    def _access(self, address: int, size: int, access: Access) -> bool:
        """Somebody accesses this range as a value; whether that is news."""
        key = (address, size, access)
        if key in self._accessed:
            return False
        self._accessed.add(key)
        before = len(self.extents) + len(self.stored) + len(self.updated) + len(self.whole)
        self.extents.add((address, size))
        words = [(a, min(WIDEST_CELL, address + size - a)) for a in range(address, address + size, WIDEST_CELL)]
        if access in (Access.STORE, Access.WHOLE_STORE):
            self.stored.update(words)
        if access is Access.WHOLE_STORE:
            self.whole.add((address, size))
        if access is Access.UPDATE:
            self.updated.update(words)
        return len(self.extents) + len(self.stored) + len(self.updated) + len(self.whole) > before

    def apply_new_shared(self) -> None:
        for address, size in self.new_shared:
            self._settle(address, size)

    def _settle(self, address: int, size: int) -> bool:
        """Make cells of the range and of what overlaps it, by the accesses seen so far; whether they changed."""
        lo, hi = address, address + size
        while True:
            touching = [*self.extents.touching(lo, hi), *self._shared_in(lo, hi)]
            new_lo, new_hi = min([lo, *(a for a, _ in touching)]), max([hi, *(a + s for a, s in touching)])
            if (new_lo, new_hi) == (lo, hi):
                break
            lo, hi = new_lo, new_hi
        before = dict(self._shared_in(lo, hi))
        after = dict(self._cut(lo, hi))
        for start, width in before.items():
            if after.get(start) != width:
                self.values.pop(start, None)
                del self.shared[start]
        self.shared.update(after)
        return before != after

    def _shared_in(self, lo: int, hi: int) -> list[Range]:
        """The shared cells that have a byte of `lo` to `hi`, which is not part of it."""
        shared = self.shared
        first = range(lo - WIDEST_CELL + 1, lo)
        found = [(a, shared[a]) for a in first if a in shared and a + shared[a] > lo]
        return found + [(a, shared[a]) for a in range(lo, hi) if a in shared]

    def _cut(self, lo: int, hi: int) -> list[tuple[int, int]]:
        """The range in cells of at most 8 bytes, so that every store is of whole cells; loads may be of parts.

        Updates are of whole cells, too, unless that would take a store apart that has to be whole: an update can change
        a part of a cell as well, since nobody else accesses the cell meanwhile.
        """
        cuts = {lo, hi} | _ends(self.stored, lo, hi)
        cuts |= {cut for cut in _ends(self.updated, lo, hi) if not any(a < cut < a + n for a, n in self.whole)}
        if any(b - a > WIDEST_CELL for a, b in pairwise(sorted(cuts))):
            cuts |= _ends(self.extents, lo, hi)
        found: list[tuple[int, int]] = []
        for a, b in pairwise(sorted(cuts)):
            found += [(at, min(WIDEST_CELL, b - at)) for at in range(a, b, WIDEST_CELL)]
        return found

    def initial(self, address: int, size: int) -> int:
        """What a shared cell holds when the first thread is created; UNWRITTEN where nobody has written it."""
        found = self.content(address, size)
        if found.undefined == (1 << 8 * size) - 1:
            return UNWRITTEN
        if found.undefined:
            self.assumed.add(PARTLY)
        return found.value

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
        """The guard that keeps a number of the program from being taken for unwritten memory, where it may be."""
        may_be_taken = cell.size == WIDEST_CELL and UNWRITTEN in self.possible(cell).listed
        if not may_be_taken or not value.values.contains(UNLIKELY):
            return []
        self.note(MISTAKABLE, is_cut=True)
        return [Within(Binary("!=", value.expr, Const(UNLIKELY)))]

    def storable(self, value: Integer, size: int) -> Scalar:
        """The value as a shared cell of `size` bytes holds it."""
        return self.settled(value, 8 * size, Known(UNWRITTEN))

    def settled(self, value: Integer, bits: int, undefined: Scalar) -> Scalar:
        """The value as one number: `undefined` where nobody has written it, undefined bits beside others being 0."""
        if not is_undefined(value):
            return kept(plain(value))
        if is_wholly_undefined(value, bits):
            return undefined
        self.assumed.add(PARTLY)
        return kept(plain(with_zeros(value)))

    # Who accesses what.

    def reads(self, process: int, address: int, size: int, *, whole: bool = True) -> None:
        """The thread reads private memory; `whole`: as one value, not byte by byte."""
        if whole:
            self._access(address, size, Access.LOAD)
        for a in range(address, address + size):
            self.readers.setdefault(a, set()).add(process)

    def writes(self, process: int, address: int, size: int, *, whole: bool = True) -> None:
        if whole:
            self._access(address, size, Access.STORE)
        for a in range(address, address + size):
            self.writers.setdefault(a, set()).add(process)

    def conflicts(self) -> Iterator[int]:
        """Bytes taken for private that several threads access, one of them writing."""
        for address, writers in self.writers.items():
            users = writers | self.readers.get(address, set())
            if (len(users) > 1 or self._is_met(address, users)) and self.cell_of(address) is None:
                yield address

    def _is_met(self, address: int, users: set[int]) -> bool:
        """Whether threads that are one here access the same byte: any number of them, and it is nobody's own."""
        return any(self.is_parameterised(user) and self.owner_of(address) != user for user in users)

    def is_parameterised(self, process: int) -> bool:
        thread = self.threads.get(process)
        return thread is not None and thread.is_parameterised

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
        skipped = Ranges(self.skipped)
        self.extents.update((b, m) for b, m in self.copied if skipped.touching(b, b + m))
        found_new = bool(self.new_shared) or any(self.extents.touching(a, a + n) for a, n in self.skipped)
        self.apply_new_shared()
        return found_new

    # Threads.

    def lasts(self, placed: Object) -> bool:
        """Whether the variable is there as long as the process: the first thread's own, and those that `main` keeps."""
        if placed.owner or self.first_may_end:
            return False
        home = placed.home
        if home is None:
            return True
        symbol = self.linked.find(home.module, home.function)
        facts = None if symbol is None else self.facts(symbol)
        is_kept = facts is None or home.local not in facts.scoped or home.local in facts.kept_to_return
        return home.depth == 0 and is_kept

    def thread(
        self, key: object, symbol: Symbol, name: str, argument: ValueSet, style: str, *, is_parameterised: bool = False
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
            found = Thread(number, symbol, name, block, joined, style=style, is_parameterised=is_parameterised)
            self.threads[number] = found
            for offset, size in ((STARTED, 4), (DONE, 4), (RESULT, 8), (ARGUMENT, 8)):
                self.shared[block.start + offset] = size
        return found

    def thread_block(self, number: int) -> Object | None:
        """Where the bookkeeping of a thread is; None for what is no thread."""
        key = self.thread_keys.get(number)
        return None if key is None else self.space.find(("thread", key))

    def known_argument(self, thread: Thread) -> Known | None:
        return Known(next(iter(thread.arguments.listed))) if thread.arguments.is_single else None


def _ends(ranges: Ranges, lo: int, hi: int) -> set[int]:
    """Where ranges begin and end inside of another one."""
    return {end for a, size in ranges.touching(lo, hi) for end in (a, a + size) if lo < end < hi}
