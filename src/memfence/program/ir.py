"""The intermediate representation: what a program is, whatever language it was written in.

Immutable. Every transition keeps the place it came from, so that every step of a run can be shown in the user's text.
Variables, processes, registers, locations and transitions are known by their position (number).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Literal

from memfence.diagnostics import Diagnostic
from memfence.failures import Reading
from memfence.program.expressions import Address, EvaluationError, Expr
from memfence.program.load_options import DEFAULT_OPTIONS, LoadOptions
from memfence.program.orders import MemoryOrder
from memfence.records import Record
from memfence.source import NOWHERE, SourceText, Span

FenceKind = Literal["mfence", "sfence"]
WrittenFence = FenceKind | Literal["thread_fence", "locked", "dmb.sy", "dmb.ld", "dmb.st", "isb"]
RmwKind = Literal["exchange", "compare_exchange", "add", "sub", "and", "or", "xor", "nand", "max", "min"]
Overflow = Literal["error", "wrap", "undeclared"]


class Domain(Record):
    """The integers from `lo` to `hi`, within those of 64 bits. A value outside is an error or wraps around.

    `undeclared` means that the language gave no range: `passes.intervals` replaces it while loading, so no model ever
    sees it. `names`: what the author calls some of the values (Promela's `mtype`).
    """

    lo: int
    hi: int
    overflow: Overflow = "error"
    names: tuple[tuple[int, str], ...] = field(default=(), compare=False)

    def text(self, value: int) -> str:
        """`value` as people read it."""
        return dict(self.names).get(value, str(value))

    def holds(self, value: int) -> bool:
        return self.lo <= value <= self.hi

    def fit(self, value: int) -> int:
        """`value` as it is stored; EvaluationError if it lies outside and does not wrap."""
        if self.lo <= value <= self.hi:
            return value
        if self.overflow == "wrap":
            return self.lo + (value - self.lo) % (self.hi - self.lo + 1)
        raise EvaluationError(f"value {value} outside {self.lo}..{self.hi}")

    @property
    def size(self) -> int:
        return self.hi - self.lo + 1


BIT = Domain(0, 1, "wrap")
WIDEST = Domain(-(2**63), 2**63 - 1)
UNDECLARED = Domain(-(2**31), 2**31 - 1, "undeclared")
"""Of languages without declarations: their integers have 32 bits."""


class SharedVar(Record):
    """A variable in memory; several `init` values mean as many initial states. Elements of arrays are called `a[0]`.

    `is_bookkeeping`: the user wrote no such variable; the front end keeps account there of threads and heap blocks.
    `is_internal`: it belongs to the inside of a library; reports do not show it.
    """

    name: str
    domain: Domain
    init: tuple[int, ...] = (0,)
    span: Span = field(default=NOWHERE, compare=False)
    is_bookkeeping: bool = field(default=False, compare=False)
    is_internal: bool = field(default=False, compare=False)


class Block(Record):
    """A block of the heap of a C program: where it is allocated, and every place that may free it."""

    name: str
    allocated: Span
    freed: tuple[Span, ...] = ()


class RegisterVar(Record):
    """A register or local variable. A `transient` one is 0 between transitions: scratch space of a single step.

    `unset`: it is written before it is read, and may start with any value of this domain; `init` is one of them. See
    `passes.unset_registers`.
    """

    name: str
    domain: Domain
    init: tuple[int, ...] = (0,)
    transient: bool = False
    span: Span = field(default=NOWHERE, compare=False)
    unset: Domain | None = None


class FencePoint(Record):
    """A place of the source text where a fence can be written; instances of one template share it.

    `key` is for the front end alone, which turns it into an edit. `after` is the text next to the fence, for people.
    """

    template: str
    key: str
    span: Span = field(compare=False)
    after: str = field(default="", compare=False)


class Location(Record):
    """A control point. `labels` are the names that properties may use.

    `point`: a fence written there executes whenever control passes this location, from whichever side it came.
    `committed`: while some process stands at a committed location, only such processes move (DVE).
    `may_end`: a process may wait here for ever without that being a deadlock (Spin's `end` labels).
    """

    name: str
    labels: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)
    point: FencePoint | None = field(default=None, compare=False)
    committed: bool = False
    may_end: bool = False


class Load(Record):
    """`register := memory[address]`; where `when` is given and false, `register := 0` and nothing is accessed.

    `exclusive`: the first half of a load-linked/store-conditional pair (AArch64 assembly only).
    """

    register: int
    address: Address
    when: Expr | None = None
    order: MemoryOrder = MemoryOrder.PLAIN
    exclusive: bool = False


class Store(Record):
    """`memory[address] := value`, by way of the buffer; a `direct` one reaches memory at once, whatever is pending.

    Where `when` is given and false, nothing happens. `exclusive` (AArch64 assembly only): the second half of a pair
    with the last exclusive load before it; it may fail, and then writes nothing. `status` is the register that becomes
    0 where it wrote, and 1 where it failed.
    """

    address: Address
    value: Expr
    direct: bool = False
    order: MemoryOrder = MemoryOrder.PLAIN
    when: Expr | None = None
    exclusive: bool = False
    status: int | None = None


class Rmw(Record):
    """A read-modify-write: `register := memory[address]`, and a new value in its place, computed from the old one.

    Always locked, whatever its order. Without a `register` the old value is thrown away. `compare_exchange` writes
    `operand` where the old value is `expected`, and nothing elsewhere: whoever wants to know compares the register.
    Values are signed. `operand` and `expected` are evaluated before the register changes.
    """

    register: int | None
    address: Address
    kind: RmwKind
    operand: Expr
    expected: Expr | None = None
    order: MemoryOrder = MemoryOrder.SEQ_CST
    failure_order: MemoryOrder = MemoryOrder.SEQ_CST


class Assign(Record):
    register: int
    value: Expr


class Assume(Record):
    """The transition exists only where this is true."""

    condition: Expr


class Assert(Record):
    """The program fails where this is false; `error` says how, where it is no assertion that the user wrote."""

    condition: Expr
    error: str = field(default="", compare=False)


class Fence(Record):
    """A fence of the hardware, or C11's `thread_fence`: each memory model reads its `order` as one of them, or none.

    `locked`: an instruction of x86 on memory that nobody else uses, as of a thread's own mutex; nothing on other
    processors (`axiomatic.synchronised`). `dmb` and `isb` are AArch64's; models with store buffers do not know these.
    """

    kind: WrittenFence = "mfence"
    order: MemoryOrder = MemoryOrder.PLAIN


class Lock(Record):
    """Take the global bus lock: only in regions with a cycle, see `passes.lock_regions`."""


class Unlock(Record):
    """Release the bus lock, once the process's own buffers are empty."""


Op = Load | Store | Rmw | Assign | Assume | Assert | Fence | Lock | Unlock


class Sync(Record):
    """One side of a rendezvous: the sender's `values` reach the receiver's `registers` in one joint step.

    The first `guard_ops` ops of each side are evaluated in the old state, sender first; then the values pass; then the
    receiver's other ops, then the sender's.
    """

    channel: str
    sends: bool
    values: tuple[Expr, ...] = ()
    registers: tuple[int, ...] = ()
    guard_ops: int = 0


class Transition(Record):
    """One atomic step of its process: all of `ops` in order, or nothing.

    `locked`: needs the process's own buffers empty and works on memory directly. So does a transition with an op that
    is locked by itself: an `Rmw`, or a store whose order the memory model reads so.
    `point`: a fence written there executes right after this transition.
    `origin`: numbers of the transitions of the loaded program that a pass put together here, in order; empty before.
    `calls`: the places of the calls that are open, outermost first, where the code of functions was put in place.
    `cuts`: the numbers of ops before which the step could as well be cut in two: nobody could tell.
    `is_update`: a read-modify-write that the user wrote, also where it is no `Rmw`.
    `by_chance`: it fails or wakes up for no reason; where runs are fair, that happens only so many times.
    """

    source: int
    target: int
    ops: tuple[Op, ...] = ()
    locked: bool = False
    span: Span = field(default=NOWHERE, compare=False)
    sync: Sync | None = None
    point: FencePoint | None = field(default=None, compare=False)
    origin: tuple[int, ...] = field(default=(), compare=False)
    calls: tuple[Span, ...] = field(default=(), compare=False)
    cuts: tuple[int, ...] = field(default=(), compare=False)
    is_update: bool = field(default=False, compare=False)
    by_chance: bool = field(default=False, compare=False)


class Process(Record):
    """`template` ties the instances of one proctype, function or thread declaration together."""

    name: str
    template: str
    registers: tuple[RegisterVar, ...]
    locations: tuple[Location, ...]
    initial: int
    transitions: tuple[Transition, ...]
    span: Span = field(default=NOWHERE, compare=False)

    def leaving(self, location: int) -> Iterator[tuple[int, Transition]]:
        """The transitions that start at `location`, with their numbers."""
        return ((i, t) for i, t in enumerate(self.transitions) if t.source == location)


class Invariant(Record):
    """True in every reachable state."""

    expr: Expr
    text: str


class Forbidden(Record):
    """False in every reachable state."""

    expr: Expr
    text: str


class Final(Record):
    """A condition on final states: every process halted, every buffer empty. `observed` are the values to list.

    `exists` names an outcome, as litmus tests do: like `not exists`, it is violated where the outcome is possible.
    """

    quantifier: Literal["exists", "not exists", "forall"]
    expr: Expr
    text: str
    observed: tuple[tuple[str, Expr], ...] = ()


class NoDeadlock(Record):
    """Wherever no step is possible, every process has reached a location without transitions, or where it `may_end`."""

    text: str = "no deadlock"


class Ends(Record):
    """Every fair run comes to where each process has ended, or may wait for ever, and stays there."""

    text: str = "every thread returns"


class Ltl(Record):
    """Every fair infinite run satisfies the formula (its text; `analyses.ltl` parses it)."""

    name: str
    text: str
    span: Span = field(default=NOWHERE, compare=False)


class PropertyEdge(Record):
    """A step of a `PropertyAutomaton`; possible where `guard` is true in the program's state before its step."""

    source: int
    target: int
    guard: Expr
    span: Span = field(default=NOWHERE, compare=False)


class PropertyAutomaton(Record):
    """No infinite run of the program is accepted by this Büchi automaton (DVE's property process, Spin's never claim).

    The automaton takes one edge with every step of the program; where the program can do nothing it moves alone, so a
    deadlock counts as standing still for ever. Accepting: every set in `accepting` is visited again and again.
    """

    name: str
    states: tuple[str, ...]
    initial: int
    edges: tuple[PropertyEdge, ...]
    accepting: tuple[frozenset[int], ...]
    span: Span = field(default=NOWHERE, compare=False)


Temporal = Ltl | PropertyAutomaton | Ends
Property = Invariant | Forbidden | Final | NoDeadlock | Temporal


class SplitAccess(Record):
    """An atomic access to `name` that is one to several variables here. `is_torn`: a buffer would split it, visibly."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)
    is_torn: bool = False


class Program(Record):
    """A whole program. `notes` are the restrictions of scope that every verdict must repeat, such as `--int-bits`.

    `is_cut_off`: some runs of the text end at bounds that `notes` name, so that nothing found means: not within them.
    `marked_cuts`: the notes about these bounds, if each bound is a location of the program (`facts.cuts`): where none
    is reached, nothing is cut off. `assumed`: what a verdict takes for granted of the program's surroundings.
    `options`: how its text was read. `warnings`: what is legal there but may not mean what its author thinks.
    `value_names`: integers that mean something to the user, such as addresses, and what: `&queue.head`.
    `any_number`: templates of which there may be any number of instances; the processes stand for them
    (`program.parameterised`). `error_locations` (DVE): a run goes on after a run-time error, with every process at this
    location, all memory and registers 0 and nothing pending. None: a run ends with its error. `constants`: names of
    values, for properties; `meanings`: words that properties may use, such as Promela's `timeout`, and what they mean.
    `unbounded`: templates of which the text creates more instances than there are here, without end. `unreached`:
    assertions of the text that are not in the program, since no run comes to them, whatever the memory model.
    `reading`: what counts as failing in C; None in languages that say it themselves.
    `evident`: assertions that are true on some way by what is known there, so that they leave no step on it.
    `blocks`: of C, the heap blocks. `assembly`: where it has instructions of x86.
    `split_accesses`: what only models without buffers and events give its meaning (`facts.split_accesses`).
    """

    name: str
    variables: tuple[SharedVar, ...]
    processes: tuple[Process, ...]
    properties: tuple[Property, ...] = ()
    source: SourceText = field(default=NOWHERE.source, compare=False)
    options: LoadOptions = field(default=DEFAULT_OPTIONS, compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    error_locations: tuple[int, ...] | None = None
    warnings: tuple[Diagnostic, ...] = field(default=(), compare=False)
    constants: tuple[tuple[str, int], ...] = field(default=(), compare=False)
    meanings: tuple[tuple[str, Expr], ...] = field(default=(), compare=False)
    is_cut_off: bool = field(default=False, compare=False)
    marked_cuts: tuple[str, ...] = field(default=(), compare=False)
    assumed: tuple[str, ...] = field(default=(), compare=False)
    value_names: Mapping[int, str] = field(default_factory=dict, compare=False)
    any_number: tuple[str, ...] = ()
    unbounded: tuple[str, ...] = field(default=(), compare=False)
    unreached: tuple[Span, ...] = field(default=(), compare=False)
    reading: Reading | None = field(default=None, compare=False)
    evident: tuple[Span, ...] = field(default=(), compare=False)
    blocks: tuple[Block, ...] = field(default=(), compare=False)
    assembly: tuple[Span, ...] = field(default=(), compare=False)
    split_accesses: tuple[SplitAccess, ...] = field(default=(), compare=False)

    @property
    def language(self) -> str:
        """Name of the language it was written in; empty where it was not written."""
        return self.options.language or ""

    def process_named(self, name: str) -> int | None:
        return next((i for i, p in enumerate(self.processes) if p.name == name), None)

    def variable_named(self, name: str) -> int | None:
        return next((i for i, v in enumerate(self.variables) if v.name == name), None)

    @property
    def has_assertions(self) -> bool:
        """Whether there is one, be it one that left no step behind."""
        ops = (op for p in self.processes for t in p.transitions for op in t.ops)
        return bool(self.evident) or any(isinstance(op, Assert) for op in ops)
