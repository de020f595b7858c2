"""One thread as a graph: its locations, each a position with everything known there, and the steps between them.

Two ways that lead to the same position with the same known values meet in one location; what is not known is in
registers there, with the set of values it may have. Where a position has too many locations, the values in which they
differ are no longer known (a loop with a counter stays a loop).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from memfence.frontends.c.llvm.metadata import Place
from memfence.frontends.c.machine.arithmetic import kept, negation
from memfence.frontends.c.machine.packing import packed
from memfence.frontends.c.machine.residual import Guard, Op, Step, Within, in_parallel, reading_part, without_detour
from memfence.frontends.c.machine.state import Frame, Position, State
from memfence.frontends.c.machine.value_sets import HIGHEST, LOWEST, NOTHING, ValueSet, within_reach
from memfence.frontends.c.machine.values import Known, Packed, Parts, Scalar, Unknown, Value
from memfence.frontends.c.machine.world import Restart, Thread, World
from memfence.program.expressions import Register
from memfence.records import Record

MOST_VARIANTS = 40
"""Locations of one position before the values in which they differ become registers."""
MOST_EARLY_VARIANTS = 2000
"""The same, before the first thread is created."""
WIDEN_AFTER = 5
MANY_CELLS = 4
SCRATCH = 1_000_000
"""Numbers of scratch registers start here until the process is complete."""
SCRATCHES = frozenset(range(SCRATCH, SCRATCH + 100))


class Slot(Record):
    """Where a value lives: in an open call (by depth, function and name) or in memory (by address)."""

    depth: int
    owner: str
    name: str | int
    part: tuple[int, ...] = ()


@dataclass(slots=True)
class Location:
    """A control point of the thread. `state` has a `Slot` wherever the value is in a register."""

    number: int
    kind: str
    state: State | None
    slots: tuple[Slot, ...] = ()
    values: dict[Slot, ValueSet] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    growths: int = 0
    place: Place | None = None
    function: str = ""


class Process:
    """The thread under construction."""

    def __init__(self, world: World, thread: Thread) -> None:
        self.world = world
        self.thread = thread
        self.locations: list[Location] = []
        self.by_key: dict[object, int] = {}
        self.variants: dict[tuple[tuple[Position, ...], bool], list[int]] = {}
        self.registers: dict[Slot, int] = {}
        self.register_values: dict[int, ValueSet] = {}
        self.waiting: dict[int, None] = {}
        self.dependents: dict[int, set[int]] = {}

    @property
    def number(self) -> int:
        return self.thread.number

    def register(self, slot: Slot) -> int:
        return self.registers.setdefault(slot, len(self.registers))

    def depend(self, location: int, address: int) -> None:
        """The location's steps depend on what the shared cell may hold."""
        self.dependents.setdefault(address, set()).add(location)

    def special(self, kind: str, place: Place | None = None) -> int:
        """The location where threads end, block for good, fail, or are cut off."""
        key = (kind, place) if kind == "stuck" else (kind,)  # reports name the place where a thread is stuck
        return self._location(key, kind, None, place)

    def _location(self, key: object, kind: str, state: State | None, place: Place | None) -> int:
        found = self.by_key.get(key)
        if found is None:
            found = self.by_key[key] = len(self.locations)
            self.locations.append(Location(found, kind, state, place=place))
            if state is not None:
                self.waiting[found] = None
        return found

    def arrive(self, state: State, place: Place | None) -> tuple[int, list[tuple[int, Unknown | Known]]]:
        """The location for `state`, and what has to be moved into registers on the way there."""
        positions = state.positions()
        widened = self.world.widened.get((self.number, positions), set())
        moves: list[tuple[Slot, Scalar]] = []
        self._complete(state, widened)
        key, template = _Freezer(widened, moves).freeze(state)
        is_new = key not in self.by_key
        number = self._location(key, "", template, place)
        location = self.locations[number]
        if is_new:
            location.slots = tuple(slot for slot, _ in moves)
            location.function = self.world.linked.title(state.top.symbol)
            self._count_variant(state, positions, number)
        self._join(location, moves)
        return number, [(self.register(slot), value) for slot, value in moves]

    def _complete(self, state: State, widened: set[object]) -> None:
        """Memory that was not written yet on this way, but is in a register on others."""
        for slot in widened:
            if not isinstance(slot, Slot) or not isinstance(slot.name, int) or len(slot.part) > 1:
                continue
            if slot.name not in state.cells:
                content = self.world.content(slot.name, slot.part[0])
                if not content.undefined:
                    state.cells[slot.name] = (slot.part[0], content)

    def _join(self, location: Location, moves: list[tuple[Slot, Scalar]]) -> None:
        has_grown = False
        for slot, value in moves:
            before = location.values.get(slot, NOTHING)
            after = before.join(within_reach(value.values))
            if after == before:
                continue
            if location.growths > WIDEN_AFTER:
                after = after.widened(before)
            location.values[slot] = after
            register = self.register(slot)
            self.register_values[register] = self.register_values.get(register, NOTHING).join(after)
            has_grown = True
        if has_grown:
            location.growths += 1
            self.waiting[location.number] = None

    def _count_variant(self, state: State, positions: tuple[Position, ...], number: int) -> None:
        variants = self.variants.setdefault((positions, state.started), [])
        variants.append(number)
        most = MOST_VARIANTS if state.started else MOST_EARLY_VARIANTS
        if len(variants) > most:
            self._forget_differences(positions, variants)

    def _forget_differences(self, positions: tuple[Position, ...], variants: list[int]) -> None:
        if len(variants) % MOST_VARIANTS != 1:
            return  # there was nothing to forget when they were counted last
        seen: dict[Slot, list[int | None]] = {}
        for number in variants:
            state = self.locations[number].state
            assert state is not None
            for slot, value in known_slots(state):
                seen.setdefault(slot, []).append(value)
        differing: set[object] = {
            slot for slot, values in seen.items() if len(set(values)) > 1 or len(values) < len(variants)
        }
        known = self.world.widened.setdefault((self.number, positions), set())
        self._share_large_objects(differing - known)
        if not differing - known:
            return  # they differ in what must stay known: how many threads and blocks there are
        known |= differing
        raise Restart("a loop with a counter stays a loop")

    def _share_large_objects(self, differing: set[object]) -> None:
        """Objects of which many cells differ are better kept in memory, even if no other thread uses them."""
        count: dict[int, int] = {}
        for slot in differing:
            if isinstance(slot, Slot) and isinstance(slot.name, int):
                placed = self.world.space.at(slot.name)
                if placed is not None:
                    count[placed.start] = count.get(placed.start, 0) + 1
        large = {start for start, cells in count.items() if cells >= MANY_CELLS}
        if large - self.world.in_memory:
            self.world.in_memory |= large
            raise Restart("an array is kept in memory")

    def thaw(self, location: Location) -> State:
        """The state at the location: what is in registers is unknown, but for its possible values."""
        assert location.state is not None
        state = location.state

        def value_of(value: Value | Slot) -> Value:
            if isinstance(value, Slot):
                values = location.values.get(value, NOTHING)
                return Unknown(Register(self.register(value)), values)
            if isinstance(value, Parts):
                return Parts(tuple(value_of(item) for item in value.items))
            if isinstance(value, Packed):
                return packed((bits, value_of(piece)) for bits, piece in value.pieces)  # type: ignore[misc]
            return value

        frames = [f.copy() for f in state.frames]
        for frame in frames:
            frame.env = {name: value_of(value) for name, value in frame.env.items()}
        cells = {address: (size, value_of(value)) for address, (size, value) in state.cells.items()}
        return State(frames, cells, dict(state.counts), state.started)

    def step(
        self,
        source: int,
        target: int,
        ops: list[Op],
        moves: list[tuple[int, Scalar]],
        locked: bool,
        place: Place | None,
        function: str,
        stack: tuple[Place, ...],
        remark: str = "",
        is_update: bool = False,
    ) -> None:
        """Add a step that does `ops`, then moves values into registers."""
        used = sum(1 for op in ops if getattr(op, "register", 0) >= SCRATCH)
        copies = in_parallel([(register, kept(value).expr) for register, value in moves], SCRATCH + 50 + used)
        whole = without_detour([*ops, *copies], SCRATCHES)
        step = Step(source, target, whole, locked, place, function, stack, remark, is_update)
        self.locations[source].steps.append(step)
        for position, limit in enumerate(whole):
            if isinstance(limit, Within):
                before = tuple(part for op in whole[:position] for part in reading_part(op))
                ops = [*before, Guard(negation(limit.condition))]
                at = self.special("bound", place)
                self.locations[source].steps.append(Step(source, at, tuple(ops), locked, place, function, stack))


class _Freezer:
    """Turns a state into a key and a template; collects the values that go into registers."""

    def __init__(self, widened: set[object], moves: list[tuple[Slot, Scalar]]) -> None:
        self.widened = widened
        self.moves = moves

    def freeze(self, state: State) -> tuple[object, State]:
        keys: list[object] = []
        frames: list[Frame] = []
        for depth, frame in enumerate(state.frames):
            entries: list[tuple[str, object]] = []
            kept: dict[str, Value] = {}
            env = frame.env
            for name in frame.facts.live_in_order(frame.block, frame.index):
                known = env.get(name)
                if known is None:
                    continue
                if known.__class__ is Known and not self.widened and not known.undefined:
                    entries.append((name, known.value))
                    kept[name] = known
                    continue
                part, stored = self._value(Slot(depth, frame.symbol.name, name), known)
                entries.append((name, part))
                kept[name] = stored
            keys.append((frame.position, frame.atomic, frame.alive, tuple(entries)))
            at = frame.block, frame.index
            frames.append(Frame(frame.symbol, frame.facts, *at, kept, frame.call, frame.atomic, frame.alive))
        memory: list[tuple[int, int, object]] = []
        cells: dict[int, tuple[int, Value]] = {}
        for address in sorted(state.cells):
            size, value = state.cells[address]
            if value.__class__ is Known and not self.widened and not value.undefined:
                memory.append((address, size, value.value))
                cells[address] = (size, value)
                continue
            part, stored = self._value(Slot(-1, "", address, (size,)), value)
            memory.append((address, size, part))
            cells[address] = (size, stored)
        key = (tuple(keys), tuple(memory), frozenset(state.counts.items()), state.started)
        return key, State(frames, cells, dict(state.counts), state.started)

    def _value(self, slot: Slot, value: Value) -> tuple[object, Value]:
        if isinstance(value, Parts):
            parts = [
                self._value(Slot(slot.depth, slot.owner, slot.name, (*slot.part, n)), item)
                for n, item in enumerate(value.items)
            ]
            return tuple(key for key, _ in parts), Parts(tuple(stored for _, stored in parts))
        if isinstance(value, Packed):
            return self._pieces(slot, value)
        if isinstance(value, Known) and value.undefined:
            return ("undefined", value.value, value.undefined), value
        if isinstance(value, Known) and (slot not in self.widened or not LOWEST <= value.value <= HIGHEST):
            return value.value, value
        self.moves.append((slot, value))
        return None, slot  # type: ignore[return-value]

    def _pieces(self, slot: Slot, value: Packed) -> tuple[object, Value]:
        """A register for each piece that is not known."""
        keys: list[object] = []
        stored: list[tuple[int, Scalar]] = []
        for n, (bits, piece) in enumerate(value.pieces):
            key, kept_piece = self._value(Slot(slot.depth, slot.owner, slot.name, (*slot.part, n)), piece)
            keys.append((bits, key))
            stored.append((bits, kept_piece))  # type: ignore[arg-type]
        return ("packed", *keys), Packed(tuple(stored))


def known_slots(state: State) -> list[tuple[Slot, int | None]]:
    """Every value of a template: the integer, or None where it is in a register."""
    found: list[tuple[Slot, int | None]] = []

    def visit(slot: Slot, value: Value | Slot) -> None:
        if isinstance(value, Parts):
            for n, item in enumerate(value.items):
                visit(Slot(slot.depth, slot.owner, slot.name, (*slot.part, n)), item)
        elif isinstance(value, Packed):
            for n, (_, piece) in enumerate(value.pieces):
                visit(Slot(slot.depth, slot.owner, slot.name, (*slot.part, n)), piece)
        else:
            found.append((slot, value.value if isinstance(value, Known) else None))

    for depth, frame in enumerate(state.frames):
        for name, value in frame.env.items():
            visit(Slot(depth, frame.symbol.name, name), value)
    for address, (size, value) in state.cells.items():
        visit(Slot(-1, "", address, (size,)), value)
    return found
