"""From a run of a reduced program back to a run of the program as it was loaded.

A fused transition becomes the transitions it was made of, and local steps skipped at the start come first. What the
program is for the hardware has the same steps as the program itself (`passes.orders`). Where
slicing dropped stores that nothing observes, the loaded program still makes them: their commits are put in as late as
possible, right before a step that needs them out of the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memfence.execution.trace import UnreplayableWitness
from memfence.models.buffering import Buffering
from memfence.models.state import Commit, DropSeparator, Failure, ProcessStep, Rendezvous, State, Step
from memfence.models.steps import MemoryModel, error_state, starts, take
from memfence.passes.initial_steps import skipped_steps
from memfence.passes.orders import as_written, for_hardware
from memfence.program.facts.effects import stored_variables
from memfence.program.ir import Program


def original_steps(
    program: Program, reduced: Program, model: MemoryModel, start: int, steps: Sequence[Step]
) -> tuple[State, tuple[Step, ...]]:
    """The initial state and steps of `program` that `steps` of `reduced`, from its initial state `start`, stand for."""
    begin, whole = _steps_for_hardware(for_hardware(program, model), reduced, model, start, steps)
    return as_written(program, begin), whole


def _steps_for_hardware(
    program: Program, reduced: Program, model: MemoryModel, start: int, steps: Sequence[Step]
) -> tuple[State, tuple[Step, ...]]:
    begin = state = _original_start(program, reduced, model, start)
    skipped: list[Step] = list(_skipped(program, reduced))
    whole: list[Step] = []
    for parts in (skipped, *(_expand(program, reduced, model, step) for step in steps)):
        for wanted in parts:
            after, taken = _take_with_help(program, reduced, model, state, wanted)
            whole += taken
            if isinstance(after, Failure):
                error = None if after.is_assertion else error_state(program, model)
                if error is None:
                    return begin, tuple(whole)
                state = error  # a fused step leads there as a whole: its other parts do not follow
                break
            state = after
    return begin, tuple(whole)


def _original_start(program: Program, reduced: Program, model: MemoryModel, start: int) -> State:
    """The first initial state that agrees with the reduced one on what both keep."""
    wanted = starts(reduced, model)[start]
    for state in starts(program, model):
        if state.memory == wanted.memory and state.registers == wanted.registers:
            return state
    # Dead registers start with a fixed value in the reduced program: agree on the others only.
    for state in starts(program, model):
        if _agrees(program, reduced, state, wanted):
            return state
    return starts(program, model)[0]


def _agrees(program: Program, reduced: Program, state: State, wanted: State) -> bool:
    memory = all(
        a == b or old.init != new.init
        for a, b, old, new in zip(state.memory, wanted.memory, program.variables, reduced.variables, strict=True)
    )
    return memory and all(
        a == b or old.init != new.init
        for p, q, mine, theirs in zip(
            program.processes, reduced.processes, state.registers, wanted.registers, strict=True
        )
        for a, b, old, new in zip(mine, theirs, p.registers, q.registers, strict=True)
    )


def transitions_of(
    program: Program, reduced: Program, taken: Iterable[ProcessStep | Rendezvous]
) -> frozenset[tuple[int, int]]:
    """The transitions of `program`, by process and number, that steps of `reduced` stand for."""
    found = {(step.process, step.transition) for step in _skipped(program, reduced)}
    for one in taken:
        for step in (one.sender, one.receiver) if isinstance(one, Rendezvous) else (one,):
            origin = reduced.processes[step.process].transitions[step.transition].origin
            found.update((step.process, number) for number in origin or (step.transition,))
    return frozenset(found)


def _skipped(program: Program, reduced: Program) -> Iterator[ProcessStep]:
    """The first steps of processes, which the reduced program begins behind."""
    for p, (mine, theirs) in enumerate(zip(program.processes, reduced.processes, strict=True)):
        yield from (ProcessStep(p, number) for number in skipped_steps(mine, theirs.initial))


def _expand(program: Program, reduced: Program, model: MemoryModel, step: Step) -> list[Step]:
    match step:
        case ProcessStep(process, number):
            origin = reduced.processes[process].transitions[number].origin or (number,)
            return [ProcessStep(process, part) for part in origin]
        case Rendezvous(ProcessStep(p, m), ProcessStep(q, n)):
            sender = reduced.processes[p].transitions[m].origin or (m,)
            receiver = reduced.processes[q].transitions[n].origin or (n,)
            return [Rendezvous(ProcessStep(p, sender[0]), ProcessStep(q, receiver[0]))]
        case Commit(process, buffer):
            mine, theirs = stored_variables(program.processes[process]), stored_variables(reduced.processes[process])
            is_buffer_a_variable = model.buffering is Buffering.PER_VARIABLE
            return [Commit(process, mine.index(theirs[buffer]) if is_buffer_a_variable else buffer)]
        case _:
            return [step]


def _take_with_help(
    program: Program, reduced: Program, model: MemoryModel, state: State, step: Step
) -> tuple[State | Failure, list[Step]]:
    """Take `step`, committing stores that the reduced program does not make where they stand in the way."""
    done: list[Step] = []
    while True:
        process = step.sender.process if isinstance(step, Rendezvous) else step.process
        dropped = _dropped_commit(program, reduced, model, state, process)
        blocking = dropped is not None and isinstance(step, Commit) and dropped[0] == step
        after = None if blocking else take(program, model, state, step)
        if after is not None:
            return after, [*done, step]
        if dropped is None:
            raise UnreplayableWitness(f"{step} is not possible under {model.name}")
        commit, state = dropped
        done.append(commit)


def _dropped_commit(
    program: Program, reduced: Program, model: MemoryModel, state: State, process: int
) -> tuple[Step, State] | None:
    """A commit of the process's buffers whose store only the loaded program makes.

    Slicing drops all stores to a variable or none, so the variable tells.
    """
    kept = set(stored_variables(reduced.processes[process]))
    for step, after in model.background(program, state, process):
        if isinstance(step, DropSeparator):
            if not kept:  # the reduced process has no buffer left, so its sfences leave no separator
                return step, after
            continue
        buffer = state.buffers[process][step.buffer] if isinstance(step, Commit) else ()
        if buffer and buffer[0] is not None and buffer[0][0] not in kept:
            return step, after
    return None
