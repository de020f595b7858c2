"""The steps of a compiled program as data for the stepper of the HTML report: memory and store buffers after each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memfence.binary.steps import ProgramStep
from memfence.report.describe.run_text import step_text
from memfence.report.page import AccessView, ActionView, Overtaking, Pending, RunView, StepView
from memfence.source import SourceText

ACCESSES = ("load", "store", "rmw", "flush")


@dataclass(slots=True)
class _State:
    """What is known while the steps go by. None: a value that nobody has seen yet."""

    memory: list[int | None]
    buffers: list[list[Pending]]
    overtaken: list[Overtaking] = field(default_factory=list)


def program_view(
    steps: Sequence[ProgramStep],
    waiting: Sequence[ProgramStep],
    sources: Sequence[SourceText],
    failure: str,
    *,
    buffered: bool,
) -> RunView:
    """The run of a compiled program. `buffered`: its stores wait in buffers."""
    threads = 1 + max((step.thread for step in (*steps, *waiting)), default=0)
    variables = list(dict.fromkeys(step.variable for step in steps if step.kind in ACCESSES and step.variable))
    state = _State([_initial(name, steps, buffered=buffered) for name in variables], [[] for _ in range(threads)])
    views = [_view("start", (), (), state, buffered)]
    for number, step in enumerate(steps, 1):
        accesses = _access(number, step, variables, state, buffered)
        action = _action(step, sources)
        views.append(_view("commit" if step.kind == "flush" else "run", (action,), accesses, state, buffered))
    if waiting or failure:
        doing = tuple(ActionView(step.thread, f"waits: {step_text(step)}") for step in waiting)
        views.append(_view("run", doing, (), state, buffered, failure or "no thread can go on"))
    return RunView(
        model="tso" if buffered else "sc",
        processes=tuple(f"thread {number}" for number in range(threads)),
        variables=tuple(variables),
        shown=tuple(range(len(variables))),
        buffer_names=tuple(("",) if buffered else () for _ in range(threads)),
        steps=tuple(views),
        overtaken=tuple(state.overtaken),
        acting=tuple(sorted({step.thread for step in (*steps, *waiting)})),
        value_names=tuple({step.value: step.points_to for step in steps if step.value and step.points_to}.items()),
        how=f"as the compiled program ran{' with simulated store buffers' if buffered else ''}",
    )


def _initial(name: str, steps: Sequence[ProgramStep], *, buffered: bool) -> int | None:
    """What somebody reads there before anything is written to it."""
    own: set[int] = set()
    for step in steps:
        if step.variable != name or step.kind not in ACCESSES:
            continue
        if step.kind == "store" and buffered:
            own.add(step.thread)
        elif step.kind != "load":
            return None
        elif step.thread not in own:
            return step.value
    return None


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
