"""The whole program: shared variables, one process a thread, what is checked, and what a verdict must say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from memfence.frontends.c.library.verifier import TRIED
from memfence.frontends.c.llvm.metadata import Place
from memfence.frontends.c.lowering.emission import Emission, is_locked
from memfence.frontends.c.lowering.idle_failures import drop_idle_failures
from memfence.frontends.c.lowering.main_returns import end_with_main, goes_round
from memfence.frontends.c.lowering.names import register_name, value_names
from memfence.frontends.c.lowering.points import Points, calls_of
from memfence.frontends.c.lowering.sources import Sources
from memfence.frontends.c.lowering.split_accesses import split_accesses
from memfence.frontends.c.lowering.unwritten import NAME, choose_unwritten, may_be_unwritten
from memfence.frontends.c.machine.process import SCRATCH, Location, Process
from memfence.frontends.c.machine.residual import (
    Among,
    Gather,
    Modify,
    Op,
    Pause,
    Read,
    Set,
    Step,
    Write,
    registers_read_by,
)
from memfence.frontends.c.machine.specialise import Specialised
from memfence.frontends.c.machine.unreached import evident_assertions, unreached_assertions
from memfence.frontends.c.machine.value_sets import HIGHEST, LOWEST, NOTHING, UNWRITTEN, ValueSet, within_reach
from memfence.frontends.c.machine.world import DONE, FLAG_BYTES, STARTED, World
from memfence.program import ir
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import FALSE, At, Expr, conjunction
from memfence.program.load_options import LoadOptions
from memfence.program.parameterised import several
from memfence.source import SourceText, Span

NO_REUSE = "`malloc` does not give out again what was freed: ABA through the allocator is not looked for"

NO_DEADLOCKS = "deadlocks are not looked for where there may be any number of threads"

ENDS_WITH_MAIN = "the process ends when `main` returns: whether {} would wait for ever is not asked after that"

OVER = ("blocked", "bound", "quit")
"""How a thread stops that ends the run, or takes it out of what is looked at."""


def assemble(found: Specialised, sources: Sources, source: SourceText) -> ir.Program:
    """The program that the engines explore."""
    graphs = [_Graph(process) for process in found.processes]
    unbounded = _unbounded(found.world, graphs)
    if any(graph.process.thread.is_parameterised for graph in graphs):
        for graph in graphs:
            _wait_for_assumptions(graph)
    elif found.world.options.deadlock:
        cut_off = end_with_main(found.processes, {graph.process.number: graph.steps for graph in graphs})
        if cut_off:
            names = dict.fromkeys(g.process.thread.name for g in graphs if g.process.number in cut_off)
            found.world.assumed.add(ENDS_WITH_MAIN.format(", ".join(f"`{name}`" for name in names)))
    _drop_unread(graphs, found.world)
    started = _start_at_once(graphs, found.world)
    for graph in graphs:
        _skip_empty_steps(graph)
        drop_idle_failures(graph.steps)
    cells = sorted({address for graph in graphs for address in graph.cells()})
    numbers = {address: number for number, address in enumerate(cells)}
    unwritten = choose_unwritten(found.world, [graph.process for graph in graphs])
    variables = tuple(_variable(found.world, address, started, unwritten) for address in cells)
    processes = _processes(graphs, numbers, sources, unwritten)
    templates = tuple(graph.process.thread.name for graph in graphs if graph.process.thread.is_parameterised)
    properties: tuple[ir.Property, ...] = ()
    if found.world.options.deadlock and not templates and any(g.may_wait for g in graphs):
        properties = (ir.NoDeadlock(),)
    return ir.Program(
        source.path,
        variables,
        processes,
        properties,
        source=source,
        options=LoadOptions(language="c", c=found.world.options),
        notes=tuple(found.world.notes),
        is_cut_off=bool(found.world.notes),
        marked_cuts=tuple(found.world.notes) if all(found.world.notes.values()) else (),
        assumed=(
            *((found.world.reading.text,) if found.world.reading.text else ()),
            *((NO_REUSE,) if found.world.freed else ()),
            *((NO_DEADLOCKS,) if templates and found.world.options.deadlock else ()),
            *sorted(found.world.assumed),
        ),
        value_names=value_names(found.world, [g.process for g in graphs], processes),
        any_number=templates,
        unbounded=tuple(sorted(unbounded)),
        unreached=tuple(map(sources.span, unreached_assertions(found.world))),
        reading=found.world.reading,
        blocks=_blocks(found.world, sources),
        assembly=tuple(map(sources.span, _in_order(found.world.assembly))),
        evident=tuple(map(sources.span, evident_assertions(found.world))),
        split_accesses=split_accesses(
            found.world,
            [graph.process for graph in graphs],
            [list(graph.all_steps()) for graph in graphs],
            [graph.cells() for graph in graphs],
            sources,
        ),
    )


def _blocks(world: World, sources: Sources) -> tuple[ir.Block, ...]:
    """The heap blocks, with the places where they are allocated and freed."""
    return tuple(
        ir.Block(placed.name, sources.span(place), tuple(map(sources.span, _in_order(world.freed_at.get(start, ())))))
        for start, place in world.allocated.items()
        if (placed := world.space.at(start)) is not None
    )


def _in_order(places: Iterable[Place]) -> list[Place]:
    return sorted(places, key=lambda place: (place.path, place.line, place.column))


def _unbounded(world: World, graphs: list[_Graph]) -> set[str]:
    """Functions of which more threads may be created than there are here: without end, or as many as some number."""
    is_tried = any(note.startswith(TRIED) for note in world.notes)
    found = world.unbounded | (world.repeated if is_tried else set())
    for thread in (graph.process.thread for graph in graphs if graph.process.thread.is_parameterised):
        assert thread.block is not None
        if any(graph.repeats_write(thread.block.start + STARTED) for graph in graphs):
            found.add(thread.name)
    return found


def _processes(
    graphs: list[_Graph], numbers: dict[int, int], sources: Sources, unwritten: int
) -> tuple[ir.Process, ...]:
    """One process a thread; several, where there may be any number of threads like it."""
    names = _process_names([g.process for g in graphs])
    ended: dict[int, Expr] = {}
    made: dict[int, tuple[ir.Process, ...]] = {}
    first = sum(not g.process.thread.is_parameterised for g in graphs)
    for place, graph in enumerate(graphs):
        if graph.process.thread.is_parameterised:
            made[place] = several(_lower(graph, names[place], numbers, sources, {}, unwritten))
            ends = frozenset(n for n, at in enumerate(made[place][0].locations) if at.name == "end")
            ended[graph.process.number] = conjunction(*(At(first + n, ends) for n in range(len(made[place]))))
            first += len(made[place])
    for place, graph in enumerate(graphs):
        if place not in made:
            made[place] = (_lower(graph, names[place], numbers, sources, ended, unwritten),)
    in_order = sorted(made, key=lambda place: (graphs[place].process.thread.is_parameterised, place))
    return tuple(process for place in in_order for process in made[place])


class _Graph:
    """The part of a thread's graph that can be reached."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.initial = 0
        self.steps: dict[int, list[Step]] = {at.number: list(at.steps) for at in process.locations}

    @property
    def may_wait(self) -> bool:
        """Whether some step waits for others, or a loop may."""
        return any(step.locked for steps in self.steps.values() for step in steps) or goes_round(self.steps)

    def reachable(self) -> list[Location]:
        return [self.process.locations[n] for n in sorted(self._behind(self.initial))]

    def _behind(self, location: int) -> set[int]:
        seen = {location}
        waiting = [location]
        while waiting:
            for step in self.steps[waiting.pop()]:
                if step.target not in seen:
                    seen.add(step.target)
                    waiting.append(step.target)
        return seen

    def repeats_write(self, address: int) -> bool:
        """Whether some step that writes the cell can be taken again and again."""
        writing = [s for s in self.all_steps() if any(isinstance(o, Write) and address in cells_of(o) for o in s.ops)]
        return any(step.source in self._behind(step.target) for step in writing)

    def all_steps(self) -> Iterable[Step]:
        return (step for location in self.reachable() for step in self.steps[location.number])

    def cells(self) -> set[int]:
        return {address for step in self.all_steps() for op in step.ops for address in cells_of(op)}


def cells_of(op: Op) -> tuple[int, ...]:
    if isinstance(op, Read | Write | Modify):
        return op.target.cells if isinstance(op.target, Among) else (op.target.address,)
    return ()


def _drop_unread(graphs: list[_Graph], world: World) -> None:
    """Bookkeeping that nobody reads: that a thread has ended, where nobody waits for it."""
    read = {
        address
        for graph in graphs
        for step in graph.all_steps()
        for op in step.ops
        if isinstance(op, Read)
        for address in cells_of(op)
    }
    hidden = {
        block.start + offset
        for number in world.thread_numbers.values()
        if (block := world.thread_block(number)) is not None
        for offset in (STARTED, DONE)
    }
    for graph in graphs:
        for number, steps in graph.steps.items():
            graph.steps[number] = [_without(step, hidden - read) for step in steps]


def _without(step: Step, unread: set[int]) -> Step:
    ops = tuple(op for op in step.ops if not (isinstance(op, Write) and unread.intersection(cells_of(op))))
    if ops == step.ops:
        return step
    locked = step.locked and any(isinstance(op, Read | Write | Modify | Gather) for op in ops)
    return replace(step, ops=ops, locked=locked)


def _start_at_once(graphs: list[_Graph], world: World) -> set[int]:
    """Follow the main thread while all it does is create threads; those start without waiting.

    Creating a thread never blocks and nobody else can tell when it happens, so a run in which the thread moves first
    is also a run in which it is created first.
    """
    main = graphs[0]
    begun: dict[int, int] = {}
    for graph in graphs[1:]:
        block = graph.process.thread.block
        assert block is not None
        begun[block.start + STARTED] = graph.process.number
    started: set[int] = set()
    for _ in range(10_000):
        steps = main.steps[main.initial]
        if len(steps) != 1 or steps[0].target == main.initial:
            break
        written = [op for op in steps[0].ops if isinstance(op, Write)]
        if len(written) != len(steps[0].ops) or not all(cells_of(op)[0] in begun for op in written):
            break
        started |= {cells_of(op)[0] for op in written}
        main.initial = steps[0].target
    by_number = {graph.process.number: graph for graph in graphs}
    for address in started:
        graph = by_number[begun[address]]
        first, *others = graph.steps[graph.initial]
        if not others and not any(isinstance(op, Set) for op in first.ops) and len(first.ops) == 2:
            graph.initial = first.target
    return started


def _wait_for_assumptions(graph: _Graph) -> None:
    """A thread whose assumption is false waits until it is true, rather than for ever.

    No other state is reached by that: it would have come there later, too. That nobody can go on is not asked.
    """
    blocked = {at.number for at in graph.process.locations if at.kind == "blocked"}
    for number, steps in graph.steps.items():
        graph.steps[number] = [step for step in steps if step.target not in blocked]


def _skip_empty_steps(graph: _Graph) -> None:
    """Steps lead past locations where nothing happens."""

    def behind(location: int) -> int:
        seen = {location}
        while True:
            steps = graph.steps[location]
            if len(steps) != 1 or steps[0].ops or steps[0].target in seen or steps[0].locked:
                return location
            location = steps[0].target
            seen.add(location)

    graph.initial = behind(graph.initial)
    for number, steps in graph.steps.items():
        graph.steps[number] = [replace(step, target=behind(step.target)) for step in steps]


def _variable(world: World, address: int, started: set[int], unwritten: int) -> ir.SharedVar:
    size = world.shared.get(address, 4)
    values = world.values.get(address, NOTHING)
    initial = world.initial(address, size)
    if address in started:
        initial = 1
    values = values.join(ValueSet(frozenset({initial, 0} if address in started else {initial})))
    name = world.space.name_of(address, size)
    placed = world.space.at(address)
    if placed is not None and placed.kind == "thread":
        name = (
            f"{placed.name}.{ {STARTED: 'started', DONE: 'done', 8: 'result', 16: 'argument'}[address - placed.start] }"
        )
    block = placed or world.space.at(address + FLAG_BYTES)
    if placed is None and block is not None:
        name = f"{block.name}.joined" if block.kind == "thread" else f"freed({block.name})"
    is_bookkeeping = placed is None or placed.kind == "thread"
    is_internal = block is not None and block.start in world.internal
    start = unwritten if initial == UNWRITTEN else initial
    domain = _domain(values, unwritten)
    return ir.SharedVar(name, domain, (start,), is_bookkeeping=is_bookkeeping, is_internal=is_internal)


def _domain(values: ValueSet, unwritten: int) -> ir.Domain:
    """The range of the values; `unwritten` stands for memory that nobody has written."""
    lo, hi = within_reach(values).bounds() or (0, -1)
    if not may_be_unwritten(values):
        return ir.Domain(lo, max(lo, hi))
    names = ((unwritten, NAME),)
    lo, hi = (min(lo, unwritten), max(hi, unwritten)) if lo <= hi else (unwritten, unwritten)
    return ir.Domain(lo, hi, names=names)


def _process_names(processes: list[Process]) -> list[str]:
    wanted = [process.thread.name for process in processes]
    found = []
    for position, name in enumerate(wanted):
        same = [p for p, other in enumerate(wanted) if other == name]
        found.append(name if len(same) == 1 else f"{name}#{same.index(position) + 1}")
    return found


def _lower(
    graph: _Graph, name: str, variables: dict[int, int], sources: Sources, ended: Mapping[int, Expr], unwritten: int
) -> ir.Process:
    process = graph.process
    builder = ProcessBuilder(name, process.thread.name)
    locations = graph.reachable()
    points = Points(graph.steps, sources)
    registers = _registers(graph, builder, sources, unwritten)
    emission = Emission(variables, registers, ended, unwritten)
    arriving: dict[int, list[Step]] = {}
    for step in graph.all_steps():
        arriving.setdefault(step.target, []).append(step)
    numbers = {}
    for location in locations:
        may_end = location.kind in (*OVER, "start", "exit", "end", "error")
        label = location.kind or (f"{location.function}:{location.place.line}" if location.place else "")
        point = points.before(location.number, arriving.get(location.number, ()))
        span = sources.span(location.place)
        numbers[location.number] = builder.location(label, span=span, point=point, may_end=may_end)
        if location.kind in OVER:  # the whole run is over here: that the others wait is no deadlock
            builder.emit(numbers[location.number], numbers[location.number])
        if location.kind == "stuck":  # it waits for what never comes: a step that is never possible is not an end
            builder.emit(numbers[location.number], numbers[location.number], ir.Assume(FALSE), span=span)
    for location in locations:
        for step in graph.steps[location.number]:
            ops: list[ir.Op] = []
            cuts: list[int] = []
            for op in step.ops:
                if isinstance(op, Pause):
                    cuts.append(len(ops))
                ops += emission.ops(op)
            point = points.after(step)
            builder.emit(
                numbers[step.source],
                numbers[step.target],
                *ops,
                locked=is_locked(step.locked, ops),
                span=_remarked(sources.span(step.place) if point is None else point.span, step.remark),
                point=point,
                calls=tuple(sources.span(call) for call in calls_of(step)),
                cuts=tuple(cuts),
                is_update=step.is_update,
                by_chance=bool(step.remark),
            )
    return builder.build(numbers[graph.initial])


def _remarked(span: Span, remark: str) -> Span:
    """The place, shown with what its text does not say."""
    text = span.shown or " ".join(span.text.split()).rstrip(";")
    return replace(span, shown=f"{text} ({remark})") if remark and text else span


def _registers(graph: _Graph, builder: ProcessBuilder, sources: Sources, unwritten: int) -> dict[int, int]:
    """Number the registers that occur, with names that the user knows."""
    process = graph.process
    used: set[int] = set()
    for step in graph.all_steps():
        used |= registers_read_by(step.ops)
        used |= {op.register for op in step.ops if isinstance(op, Set | Read | Modify)}
    found: dict[int, int] = {}
    names = {number: slot for slot, number in process.registers.items()}
    for number in sorted(used):
        if number >= SCRATCH:
            found[number] = builder.scratch(len([n for n in found if n >= SCRATCH]), ir.Domain(LOWEST, HIGHEST))
            continue
        values = process.register_values.get(number, NOTHING)
        domain = _domain(values, unwritten)
        initial = max(domain.lo, min(domain.hi, 0))
        found[number] = builder.register(register_name(process, names[number], sources), domain, (initial,))
    return found
