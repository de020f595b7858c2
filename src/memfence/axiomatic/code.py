"""Unrolled code: every thread is a list of items without loops, in program order, with guards instead of jumps.

A thread's values live in slots, each defined once by one item. Expressions are the IR's, where `Register(n)` means slot
n of the same thread. An item with a `guard` happens where the guard is true (not 0). Items of exclusive branches stand
one behind the other; two items are in program order if both happen and one stands before the other.

Loops are unrolled so often and no more: where a run would go round once again there is a `Cut`, and nothing of the
thread behind it happens. A thread that waits (a `Wait` whose condition is false) also stops there, and so does one that
ends the whole run (`Over`). What others do goes on in all three cases. Only where every thread reaches its `End` is
there a final state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from memfence.program.expressions import FALSE, TRUE, Address, Expr
from memfence.program.ir import Program, WrittenFence
from memfence.program.orders import MemoryOrder
from memfence.records import Record
from memfence.source import NOWHERE, Span


class Origin(Record):
    """Where an item comes from: process, transition and op of the program, by number, and the place in its text."""

    process: int
    transition: int
    op: int
    span: Span = field(default=NOWHERE, compare=False)


NOWHERE_IN_CODE = Origin(-1, -1, -1)


class Define(Record):
    """`slot := value`: computed by the thread itself, whether or not it is needed.

    Its errors (division by zero) are a matter of `Check`: where it has no value, any value will do.
    """

    slot: int
    value: Expr


class Join(Record):
    """`slot :=` the value of the alternative whose guard is true; exactly one is, wherever the slot is used.

    Unlike in an expression `a ? b : c`, no dependency comes from the guards: they stand for the way control took.
    """

    slot: int
    alternatives: tuple[tuple[Expr, Expr], ...]


class Choose(Record):
    """`slot :=` any one of the values: a choice of the program that nothing decides.

    It is made everywhere, but only where the guard is true does it matter.
    """

    slot: int
    values: tuple[int, ...]
    guard: Expr = TRUE


class Read(Record):
    """`slot := memory[address]`.

    `step`: the step of the thread that it belongs to; accesses of one `locked` step are one instant for everybody.
    Outside its guard the slot is 0. `attempted`: the read of a compare-exchange that fails, and this is the order that
    it would have had otherwise; a processor cannot know before it has read.
    """

    slot: int
    address: Address
    guard: Expr = TRUE
    order: MemoryOrder = MemoryOrder.PLAIN
    exclusive: bool = False
    step: int = -1
    locked: bool = False
    origin: Origin = NOWHERE_IN_CODE
    attempted: MemoryOrder | None = None


class Write(Record):
    """`memory[address] := value`.

    `reads_by`: the position (in the thread's items) of the `Read` that makes an atomic read-modify-write with it: no
    other write to the variable comes between. `exclusive`: so, by a store-conditional; then `guard` contains the choice
    whether it succeeds. `step` and `locked` as for reads.
    """

    address: Address
    value: Expr
    guard: Expr = TRUE
    order: MemoryOrder = MemoryOrder.PLAIN
    reads_by: int | None = None
    exclusive: bool = False
    step: int = -1
    locked: bool = False
    origin: Origin = NOWHERE_IN_CODE


class Barrier(Record):
    """A fence, as it was written."""

    kind: WrittenFence
    order: MemoryOrder = MemoryOrder.PLAIN
    guard: Expr = TRUE
    step: int = -1
    origin: Origin = NOWHERE_IN_CODE


class Branch(Record):
    """Control depends on `condition` from here on: every later event of the thread, whichever way it goes.

    `of_pair`: the comparison within a compare-exchange. It is a branch only under models where a read-modify-write is a
    load-exclusive and a store-exclusive (`AxiomaticModel.rmw_by_pair`).
    """

    condition: Expr
    guard: Expr = TRUE
    origin: Origin = NOWHERE_IN_CODE
    of_pair: bool = False


class Check(Record):
    """The program fails where this is reached and `condition` is false; `error` says how (empty: an assertion)."""

    condition: Expr
    guard: Expr = TRUE
    error: str = ""
    origin: Origin = NOWHERE_IN_CODE


class Wait(Record):
    """The thread goes on only where `condition` is true; the guards behind it contain that already.

    `goes_on`: where it stops here, it goes on later if this is true of its slots and of what memory holds at last
    (`Shared`); else it waits for ever. None: nobody knows. `may_end`: it may wait there for ever, as if it had ended.
    """

    condition: Expr
    guard: Expr = TRUE
    origin: Origin = NOWHERE_IN_CODE
    goes_on: Expr | None = FALSE
    may_end: bool = False


class Given(Record):
    """What was chosen before was chosen so that `condition` is true: elsewhere there is no execution at all.

    `guess`: the position of the `Choose`. It is 1 where the compare-exchange succeeds, which then reads at `succeeds`,
    and 0 where it fails, does not find what is `expected`, and reads at `fails`.
    """

    condition: Expr
    guess: int
    succeeds: int
    fails: int
    expected: Expr
    guard: Expr = TRUE
    origin: Origin = NOWHERE_IN_CODE


class Over(Record):
    """The run is over where `guard` is true, or taken out of what is looked at: nobody waits for anything any more."""

    guard: Expr
    origin: Origin = NOWHERE_IN_CODE


class Cut(Record):
    """The bound of the unrolling is reached where `guard` is true; or another bound of the program, `of_program`."""

    guard: Expr
    origin: Origin = NOWHERE_IN_CODE
    of_program: bool = False


class End(Record):
    """The thread has ended where `guard` is true. `registers`: the slots with its registers' last values."""

    guard: Expr
    registers: tuple[int, ...]


Item = Define | Join | Choose | Read | Write | Barrier | Branch | Check | Given | Wait | Over | Cut | End
EventItem = Read | Write | Barrier


class Thread(Record):
    """One process, unrolled; exactly one `End`, the last item. `slots`: how many there are."""

    name: str
    items: tuple[Item, ...]
    slots: int

    @property
    def events(self) -> Iterator[tuple[int, EventItem]]:
        """The items that are events, with their positions."""
        return ((i, item) for i, item in enumerate(self.items) if isinstance(item, EventItem))

    def is_read_of_pair(self, item: Read) -> bool:
        """Whether the read belongs to a read-modify-write."""
        writes = (other for _, other in self.events if isinstance(other, Write))
        return any(write.reads_by is not None and self.items[write.reads_by] == item for write in writes)


class Code(Record):
    """A program, unrolled `unrolled` times. Each of its variables is written once before everything else: every
    variable may start with any of its `init` values, independently."""

    program: Program
    threads: tuple[Thread, ...]
    unrolled: int

    def item_at(self, place: tuple[int, int]) -> Item:
        """The item of a thread at a position."""
        thread, position = place
        return self.threads[thread].items[position]
