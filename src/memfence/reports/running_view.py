"""The steps of a compiled program as data for the stepper of the HTML report: memory and store buffers after each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memfence.reports.page import AccessView, ActionView, Overtaking, Pending, RunView, StepView
from memfence.reports.running import step_text
from memfence.running.steps import ProgramStep
from memfence.source import SourceText

ACCESSES = ("load", "store", "rmw", "flush")


@dataclass(slots=True)
class _State:
    """What is known while the steps go by. Values that nobody has seen yet count as 0."""

    memory: list[int]
    buffers: list[list[Pending]]
    overtaken: list[Overtaking] = field(default_factory=list)


def program_view(
    steps: Sequence[ProgramStep], waiting: Sequence[ProgramStep], sources: Sequence[SourceText], failure: str
) -> RunView:
    """The run. Stores wait in buffers if any of them is seen to reach memory later."""
    threads = 1 + max((step.thread for step in (*steps, *waiting)), default=0)
    variables = list(dict.fromkeys(step.variable for step in steps if step.kind in ACCESSES and step.variable))
    buffered = any(step.kind == "flush" for step in steps)
    state = _State([_initial(name, steps) for name in variables], [[] for _ in range(threads)])
    views = [_view("start", (), (), state, buffered)]
    for number, step in enumerate(steps, 1):
        accesses = _access(number, step, variables, state, buffered)
        action = _action(step, sources)
        views.append(_view("commit" if step.kind == "flush" else "run", (action,), accesses, state, buffered))
    if waiting or failure:
        doing = tuple(ActionView(step.thread, f"waits: {step_text(step)}") for step in waiting)
        views.append(_view("run", doing, (), state, buffered, failure or "nobody can go on"))
    return RunView(
        model="tso" if buffered else "sc",
        processes=tuple(f"thread {number}" for number in range(threads)),
        variables=tuple(variables),
        shown=tuple(range(len(variables))),
        buffer_names=tuple(("",) if buffered else () for _ in range(threads)),
        steps=tuple(views),
        overtaken=tuple(state.overtaken),
        acting=tuple(sorted({step.thread for step in (*steps, *waiting)})),
    )


def _initial(name: str, steps: Sequence[ProgramStep]) -> int:
    first = next(step for step in steps if step.variable == name and step.kind in ACCESSES)
    return first.value or 0 if first.kind == "load" else 0


def _access(
    number: int, step: ProgramStep, variables: Sequence[str], state: _State, buffered: bool
) -> tuple[AccessView, ...]:
    """What the step does to memory, done to `state`."""
    if step.kind not in ACCESSES or not step.variable:
        return ()
    thread, variable, value = step.thread, variables.index(step.variable), step.value or 0
    queue = state.buffers[thread]
    match step.kind:
        case "load":
            own = any(pending.variable == variable for pending in queue)
            older = () if own else tuple(pending.issued for pending in queue)
            state.overtaken += [Overtaking(thread, store, number, None) for store in older]
            return (AccessView("own load" if own else "load", thread, variable, value, older),)
        case "store" if buffered:
            queue.append(Pending(variable, value, number))
            return (AccessView("pending store", thread, variable, value),)
        case "flush":
            reached = next((pending for pending in queue if pending.variable == variable), None)
            if reached is not None:
                queue.remove(reached)
            state.memory[variable] = value
            return (AccessView("commit", thread, variable, value),)
        case _:
            state.memory[variable] = value
            return (AccessView("store", thread, variable, value),)


def _action(step: ProgramStep, sources: Sequence[SourceText]) -> ActionView:
    source = next((number for number, one in enumerate(sources) if one.path == step.place.path), None)
    if source is None or step.kind == "flush":
        return ActionView(step.thread, step_text(step))
    text = sources[source].line_text(step.place.line)
    begin = len(text) - len(text.lstrip())
    return ActionView(step.thread, step_text(step), "", source, step.place.line, begin, len(text))


def _view(
    kind: str,
    doing: tuple[ActionView, ...],
    accesses: tuple[AccessView, ...],
    state: _State,
    buffered: bool,
    failure: str | None = None,
) -> StepView:
    threads = len(state.buffers)
    return StepView(
        kind=kind,
        actions=doing,
        accesses=accesses,
        memory=tuple(state.memory),
        buffers=tuple((tuple(queue),) if buffered else () for queue in state.buffers),
        registers=((),) * threads,
        locations=("",) * threads,
        failure=failure,
    )
