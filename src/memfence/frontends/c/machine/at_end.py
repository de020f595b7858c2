"""What runs at an end: destructors of thread-locals at that of a thread, destructors of globals and functions of
`atexit` at that of the process. What was registered last runs first.

The instruction that ends the thread or the process is done again until nothing is left to run.
"""

from __future__ import annotations

from memfence.codes import Code
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.llvm.types import POINTER, VOID
from memfence.frontends.c.llvm.values import Number
from memfence.frontends.c.machine.arithmetic import compare, compute
from memfence.frontends.c.machine.atomically import Atomically, returned
from memfence.frontends.c.machine.parameterised import refuse_identity
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.state import State
from memfence.frontends.c.machine.values import ONE, ZERO, Known, Scalar
from memfence.frontends.c.machine.world import AtExit, World

AT_THREAD_END, NEXT, NOTHING_LEFT = "at the end of the thread", "runs at exit", "nothing left to run at exit"
REGISTERED = "registered at exit"
LATE = 1_000_000
"""What is registered after the first thread was created comes after all that was registered before."""


# The end of a thread.


def register_for_thread(path: Path, call: Call, function: Scalar, argument: Scalar) -> None:
    if not isinstance(function, Known) or not isinstance(argument, Known):
        raise path.refuse(Code.UNSUPPORTED, "a destructor of a thread-local variable that is not known")
    nth = sum(1 for key in path.state.counts if isinstance(key, tuple) and key[0] == AT_THREAD_END)
    path.state.counts[AT_THREAD_END, nth, function.value, argument.value] = 1
    returned(path, call, ZERO)


def runs_at_thread_end(path: Path) -> bool:
    """Call the next destructor of a thread-local; False where there is none."""
    keys = [key for key in path.state.counts if isinstance(key, tuple) and key[0] == AT_THREAD_END]
    if not keys:
        return False
    last = max(keys, key=lambda key: key[1])
    del path.state.counts[last]
    _run(path, last[2], last[3])
    return True


# The end of the process.


def register(path: Path, call: Call, function: Scalar, argument: Scalar | None) -> None:
    """`argument`: the object that is destroyed; None for a function that takes nothing and may be registered again."""
    if not isinstance(function, Known) or not isinstance(argument, Known | None):
        raise path.refuse(Code.UNSUPPORTED, "a function that runs at exit and is not known")
    refuse_identity(path, "it registers a function that runs at exit")
    site: object = ()
    if argument is None:
        positions = path.state.positions()
        site = (path.process.number, positions, path.state.count((REGISTERED, positions)))
    key = (function.value, None if argument is None else argument.value, site)
    path.world.runs_at_exit(key, late=path.state.started)
    step = Atomically(path)
    step.write(cell_of(path.world, key), _rank(step))
    step.finish(call, ZERO)


def register_first(world: World, state: State, function: int) -> None:
    """A function with `__attribute__((destructor))`, before anything else is registered."""
    key = (function, None, ("destructor",))
    world.runs_at_exit(key, late=False)
    state.cells[cell_of(world, key)] = (4, Known(state.count(REGISTERED) + 1))


def _rank(step: Atomically) -> Scalar:
    """A number above those of all that was registered before."""
    path = step.path
    if not path.state.started:
        return Known(path.state.count(REGISTERED) + 1)
    if len(path.world.late_at_exit) == 1:
        return Known(LATE)
    counter = path.world.space.place((REGISTERED,), 4, REGISTERED, "global").start
    rank = compute("add", 32, step.read(counter), ONE)
    step.write(counter, rank)
    return compute("add", 32, rank, Known(LATE))


def cell_of(world: World, key: AtExit) -> int:
    """Where it stands whether, and as which one, it was registered; 0 where it was not."""
    function, argument, _ = key
    placed = world.space.at(function if argument is None else argument)
    name = placed.name if placed is not None else "function"
    return world.space.place((REGISTERED, key), 4, f"{name} {REGISTERED}", "global").start


def runs_at_exit(path: Path) -> bool:
    """Call what was registered last, and is still to run; False where nothing is left. Forks where that differs."""
    chosen = next((key for key in path.state.counts if isinstance(key, tuple) and key[0] == NEXT), None)
    if chosen is not None:
        del path.state.counts[chosen]
        _run(path, chosen[1], chosen[2])
        return True
    if path.state.counts.pop(NOTHING_LEFT, 0) or not path.world.at_exit:
        path.world.exits = True
        return False
    path.world.exits = True
    for key in path.world.at_exit:
        copy = path.fork()
        assert copy is not None
        step = Atomically(copy)
        ranks = _ranks(step)
        for other, rank in ranks.items():
            step.wait_for(compare("sgt", 32, ranks[key], ZERO if other == key else rank))
        step.write(cell_of(copy.world, key), ZERO)
        copy.state.counts[NEXT, key[0], key[1]] = 1
        _again(step)
    step = Atomically(path)
    for rank in _ranks(step).values():
        step.wait_for(compare("eq", 32, rank, ZERO))
    if not step.is_stuck and not step.ops:
        return False
    path.state.counts[NOTHING_LEFT] = 1
    _again(step)
    return True


def _ranks(step: Atomically) -> dict[AtExit, Scalar]:
    return {key: step.read(cell_of(step.path.world, key)) for key in step.path.world.at_exit}


def _again(step: Atomically) -> None:
    """Come to the same instruction again, behind the step; nowhere, if it is never possible."""
    path = step.path
    if step.is_stuck:
        path.ended = True
        return
    path.state.top.index -= 1
    if step.ops:
        path.emit(step.ops, locked=True)


def _run(path: Path, function: int, argument: int | None) -> None:
    path.state.top.index -= 1
    arguments = () if argument is None else ((POINTER, Number(argument)),)
    path.execute(path, Call("!at end", VOID, Number(function), arguments, 0))
