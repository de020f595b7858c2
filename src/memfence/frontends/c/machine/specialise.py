"""All threads of a program, to a fixpoint: pass after pass until no pass learns anything new."""

from __future__ import annotations

from memfence.codes import Code
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.llvm.link import Linked, Symbol
from memfence.frontends.c.llvm.types import VOID
from memfence.frontends.c.llvm.values import Global
from memfence.frontends.c.machine.at_end import register_first
from memfence.frontends.c.machine.counting import NO_OVERFLOW, forget_numbers
from memfence.frontends.c.machine.data_independence import resolve_draws
from memfence.frontends.c.machine.execute import execute
from memfence.frontends.c.machine.parameterised import arguments_of, refuse_own_memory
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.process import SCRATCH, Process
from memfence.frontends.c.machine.refusal import Refused
from memfence.frontends.c.machine.residual import Cell, Guard, Op, Read
from memfence.frontends.c.machine.state import Frame, State
from memfence.frontends.c.machine.values import ZERO, Known, Unknown, Value
from memfence.frontends.c.machine.world import ARGUMENT, STARTED, Restart, Thread, World
from memfence.program.expressions import Binary, Const, Register
from memfence.program.load_options import COptions
from memfence.records import Record

MOST_PASSES = 200
MOST_LOCATIONS = 60_000
MOST_FOLLOWED = 200_000


class Specialised(Record):
    """What is left of the program: one graph for each thread, the main thread first."""

    world: World
    processes: tuple[Process, ...]


def specialise(linked: Linked, options: COptions, any_number: frozenset[str] = frozenset()) -> Specialised:
    """Run everything that is known. Refused where the program uses something that is not supported.

    `any_number`: functions of which there may be any number of threads.

    Nondeterministic integers are any integer, where a few can stand for all; else a few are tried, and a note says so.
    """
    if _has_nondeterminism(linked):
        try:
            found = _specialised(linked, options, any_number, draws_anything=True)
        except Refused:
            return _specialised(linked, options, any_number, draws_anything=False)
        if any_number and forget_numbers(found.processes):
            found.world.assumed.add(NO_OVERFLOW)
        if resolve_draws(found.world, found.processes):
            return found
    return _specialised(linked, options, any_number, draws_anything=False)


def _has_nondeterminism(linked: Linked) -> bool:
    return any(name.startswith("__VERIFIER_nondet_") for module in linked.modules for name in module.functions)


def _specialised(linked: Linked, options: COptions, any_number: frozenset[str], *, draws_anything: bool) -> Specialised:
    entry = linked.find(len(linked.modules) - 1, options.entry)
    if entry is None or not entry.is_function or not entry.is_defined:
        raise Refused(Code.NO_PROCESS, f"the program has no function `{options.entry}`", None, ENTRY_HINT)
    world = World(linked, options, draws_anything, any_number)
    for number, module in enumerate(linked.modules):
        for name in (*module.variables, *module.functions):
            symbol = linked.find(number, name)
            if symbol is not None and not name.startswith("llvm."):
                world.constants.place(symbol)
    for _ in range(MOST_PASSES):
        processes = _one_pass(world, entry)
        if processes is not None:
            refuse_own_memory(world)
            return Specialised(world, tuple(processes))
    raise Refused(Code.TOO_LARGE, "the program's memory could not be analysed", None)


def _one_pass(world: World, entry: Symbol) -> list[Process] | None:
    """The threads, or None where the pass learned that it assumed too much."""
    try:
        processes = _Pass(world, entry).run()
    except Restart:
        world.apply_new_shared()
        return None
    return None if world.learn_conflicts() else processes


ENTRY_HINT = "name the function that runs first with --entry"


class _Pass:
    """One pass: threads are followed as they are found."""

    def __init__(self, world: World, entry: Symbol) -> None:
        self.world = world
        self.followed = 0
        world.begin_pass()
        main = Thread(0, entry, entry.name, None)
        world.threads[0] = main
        self.processes: dict[int, Process] = {0: Process(world, main)}
        self._begin_main(entry)

    def _begin_main(self, entry: Symbol) -> None:
        facts = self.world.facts(entry)
        env: dict[str, Value] = {name: Known(0) for _, name in facts.function.parameters}
        if facts.function.parameters:
            env[facts.function.parameters[0][1]] = Known(1)
        frames = [Frame(entry, facts, facts.entry, 0, env), *self._constructors()]
        state = State(frames, started=False)
        for symbol in self.world.linked.destructors():
            register_first(self.world, state, self.world.constants.place(symbol).start)
        process = self.processes[0]
        process.arrive(state, None)

    def _constructors(self) -> list[Frame]:
        """Open calls of everything that runs before the first function, the last of them outermost."""
        frames = []
        for symbol in reversed(self.world.linked.constructors()):
            facts = self.world.facts(symbol)
            call = Call("!constructor", VOID, Global(symbol.name), (), 0)
            frames.append(Frame(symbol, facts, facts.entry, 0, {}, call))
        return frames

    def run(self) -> list[Process]:
        while True:
            self._begin_threads()
            waiting = next((p for p in self.processes.values() if p.waiting), None)
            if waiting is None:
                return [self.processes[n] for n in sorted(self.processes)]
            number = next(iter(waiting.waiting))
            del waiting.waiting[number]
            self.followed += 1
            if self.followed > MOST_FOLLOWED:
                raise Refused(Code.TOO_LARGE, "the program is too large", None)
            self._follow(waiting, number)
            self._wake_dependents()
            if sum(len(p.locations) for p in self.processes.values()) > MOST_LOCATIONS:
                raise Refused(Code.TOO_LARGE, "the program is too large", None)

    def _follow(self, process: Process, number: int) -> None:
        location = process.locations[number]
        if location.kind == "start":
            self._start(process, number)
            return
        location.steps = []
        Path(process, location, process.thaw(location), execute).run()

    def _begin_threads(self) -> None:
        for number, thread in list(self.world.threads.items()):
            if number not in self.processes:
                process = Process(self.world, thread)
                self.processes[number] = process
                start = process.special("start")
                process.waiting[start] = None

    def _start(self, process: Process, number: int) -> None:
        """The first step of a thread: wait until it is created, and fetch the argument."""
        thread = process.thread
        assert thread.block is not None
        process.locations[number].steps = []
        facts = self.world.facts(thread.symbol)
        ops: list[Op] = [
            Read(SCRATCH, Cell(thread.block.start + STARTED, 4)),
            Guard(Binary("==", Register(SCRATCH), Const(1))),
        ]
        for argument, fetch in self._arguments(thread):
            env: dict[str, Value] = {name: argument for _, name in facts.function.parameters[:1]}
            state = State([Frame(thread.symbol, facts, facts.entry, 0, env)])
            target, moves = process.arrive(state, None)
            process.step(number, target, [*ops, *fetch], moves, True, None, self.world.linked.title(thread.symbol), ())

    def _arguments(self, thread: Thread) -> list[tuple[Value, list[Op]]]:
        """What the thread may get, each with the ops that fetch it."""
        assert thread.block is not None
        if thread.is_parameterised:
            return [(argument, []) for argument in arguments_of(self.world, thread)]
        known = self.world.known_argument(thread)
        if known is not None or not self.world.facts(thread.symbol).function.parameters:
            return [(known or ZERO, [])]
        fetch = Read(SCRATCH + 1, Cell(thread.block.start + ARGUMENT, 8))
        return [(Unknown(Register(SCRATCH + 1), thread.arguments), [fetch])]

    def _wake_dependents(self) -> None:
        grown, self.world.grown = self.world.grown, set()
        for process in self.processes.values():
            for address in grown:
                for location in process.dependents.get(address, ()):
                    process.waiting[location] = None
