"""Steps of a program as people know them: threads, variables and lines; and what makes an execution borderline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memfence.binary.places import Names, SourceLine
from memfence.binary.records import RawFinding, RawStep, StepKind
from memfence.engines.native.monitor import monitor_events
from memfence.execution.event import Event, EventKind
from memfence.execution.recording import TraceEvent
from memfence.records import Record

POINTER_BYTES = 8
SLEEPS = ("waits for a signal", "waits at the futex", "sem_wait", "waits at the barrier")
"""Steps of threads that sleep until another one wakes them, as the runtime calls them."""


class ProgramStep(Record):
    """One step. `variable`: the memory or object that it touches. `spins`: it waits for that to change. `points_to`:
    what `value` is the address of, as far as known. `is_spurious`: the environment did it, for no reason. Of an
    execution that is a graph: the memory `order`; `reads_from`: the step that wrote what is read, 0 the initial value;
    `event`: its number in the thread."""

    thread: int
    kind: StepKind
    variable: str
    value: int | None
    place: SourceLine
    name: str | None = None
    is_locked: bool = False
    spins: bool = False
    points_to: str = ""
    is_spurious: bool = False
    order: str = ""
    reads_from: int | None = None
    event: int | None = None


class SuggestedFence(Record):
    """A fence between a store and a later load of the same thread."""

    thread: int
    after: ProgramStep
    before: ProgramStep


class StaleLoad(Record):
    """`load` could miss the store `missed`. `path`: how the store happens before the load; a store buffer does not keep
    the order of the pairs in `fences`, which are on that path."""

    load: ProgramStep
    missed: ProgramStep
    path: tuple[ProgramStep, ...]
    fences: tuple[SuggestedFence, ...]


def named_steps(steps: Sequence[RawStep], names: Names) -> tuple[ProgramStep, ...]:
    """The steps with names and places."""
    names.learn(address for step in steps for address in _addresses(step))
    return tuple(_named(step, names) for step in steps)


def _addresses(step: RawStep) -> Iterable[int]:
    return (*(() if step.pc is None else (step.pc,)), *step.calls)


def _named(step: RawStep, names: Names) -> ProgramStep:
    about_thread = step.name in ("begin", "thread exit", "pthread_create", "pthread_join")
    variable = "" if about_thread or step.kind in ("fence", "failure", "end") else names.variable(step.address)
    place = names.place(None if step.kind == "begin" else step.pc, step.calls)
    if step.kind == "begin" and step.pc is not None:
        place = names.place(step.pc + 1)
    points_to = names.pointee(step.value) if step.value is not None and step.size == POINTER_BYTES else ""
    value = _signed(step)
    return ProgramStep(
        step.thread, step.kind, variable, value, place, step.name, step.is_locked, step.spins, points_to,
        step.is_spurious, event=step.event,
    )  # fmt: skip


def _signed(step: RawStep) -> int | None:
    """Values come as bit patterns; small negative numbers are what people mean by most large ones."""
    if step.value is None or step.size not in (1, 2, 4, 8):
        return step.value
    top = 1 << (8 * step.size - 1)
    return step.value - 2 * top if step.value >= top else step.value


def explain_stale_load(finding: RawFinding, names: Names) -> StaleLoad | None:
    """Ask the monitor for the happens-before path; None where it does not agree that the execution is borderline."""
    reader = next((step for step in finding.waiting if step.thread == finding.reader), None)
    if reader is None:
        return None
    recorded, origin = _recording([*finding.steps, reader])
    event = monitor_events("<program>", recorded).event
    if event is None:
        return None
    shown = named_steps([*finding.steps, reader], names)

    def step(of: TraceEvent) -> ProgramStep:
        return shown[origin[(of.line or 1) - 1]]

    fences = tuple(SuggestedFence(step(a).thread, step(a), step(b)) for a, b in event.gaps)
    return StaleLoad(step(event.load), step(event.missed), tuple(map(step, event.path)), fences)


def _recording(steps: Sequence[RawStep]) -> tuple[list[TraceEvent], list[int]]:
    """The steps as a record for the monitor, and the step that each of its events comes from."""
    recorded: list[TraceEvent] = []
    origin: list[int] = []
    for number, step in enumerate(steps):
        kind = _event_kind(step)
        for cell in step.more or ((step.cell,) if step.cell is not None or kind == "fence" else ()):
            address = None if kind == "fence" else str(cell)
            event = Event(str(step.thread), kind, address)
            recorded.append(TraceEvent(event, step=number, line=len(recorded) + 1))
            origin.append(number)
    return recorded, origin


def _event_kind(step: RawStep) -> EventKind:
    if step.kind == "fence":
        return "fence"
    if step.is_locked:
        return "rmw"
    return "load" if step.is_load else "store"
