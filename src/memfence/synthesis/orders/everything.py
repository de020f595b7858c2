"""Is it impossible? The program with the strongest orders at every access and a full fence behind each of them.

That orders are not enough is a claim about all places, those that cannot be written included. Where plain accesses race
even then, the variables are named that would have to be atomic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memfence.program.ir import Fence, Load, Location, Op, Process, Program, Rmw, Store, Transition
from memfence.program.orders import MemoryOrder
from memfence.questions.models import check_models
from memfence.source import NOWHERE, Span
from memfence.synthesis.options import FixOptions
from memfence.synthesis.orders.result import RacingVariable
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import Counterexample
from memfence.tasks.result import ModelAnswer

MOST_VARIABLES = 20


class StillFails(Exception):
    """Something other than a race is left: no order and no atomic variable helps."""


def variables_to_make_atomic(
    program: Program, names: Sequence[str], options: FixOptions, unrolled: int | None
) -> tuple[RacingVariable, ...]:
    """The plain variables that have to become atomic before orders can help, none of them needlessly; none at all where
    orders are enough. StillFails where the program fails with all of that, too.
    """

    def violations(atomic: Iterable[str]) -> list[Counterexample]:
        strongest = with_strongest_orders(program, frozenset(atomic))
        answers = check_models(strongest, names, options, unrolled=unrolled).answers
        return [shown for answer in answers if (shown := _violation(answer)) is not None]

    racing: dict[str, RacingVariable] = {}
    while found := violations(racing):
        variable = next((v for one in found if (v := _race(one)) is not None and v.name not in racing), None)
        if variable is None or len(racing) == MOST_VARIABLES:
            raise StillFails
        racing[variable.name] = variable
    for name in tuple(racing):
        if len(racing) > 1 and not violations(racing.keys() - {name}):
            del racing[name]
    return tuple(racing.values())


def _violation(answer: ModelAnswer) -> Counterexample | None:
    if answer.shown is None and answer.verdict is Verdict.VIOLATED:
        raise StillFails  # a run of store buffers that have nothing to buffer: of SC
    return answer.shown


def _race(found: Counterexample) -> RacingVariable | None:
    pair = found.race or found.after_race
    if pair is None:
        return None
    execution = found.execution
    events = [execution.events[number] for number in pair]
    items = [execution.code.item_at(event.place) for event in events if event.place[0] >= 0]
    spans = [span for item in items if isinstance(span := getattr(item, "origin", None) and item.origin.span, Span)]  # type: ignore[union-attr]
    known = tuple(dict.fromkeys(span for span in spans if span.source is not NOWHERE.source))
    return RacingVariable(execution.code.program.variables[events[0].variable or 0].name, known)


def with_strongest_orders(program: Program, atomic: frozenset[str] = frozenset()) -> Program:
    """`program` with seq_cst for every order, a full fence behind every access, and these variables atomic."""
    numbers = frozenset(n for n, variable in enumerate(program.variables) if variable.name in atomic)
    return replace(program, processes=tuple(_strongest(process, numbers) for process in program.processes))


def _strongest(process: Process, atomic: frozenset[int]) -> Process:
    locations, changed, added = list(process.locations), list[Transition](), list[Transition]()
    for number, step in enumerate(process.transitions):
        step = replace(step, ops=tuple(_with_strongest(op, atomic) for op in step.ops))
        if any(isinstance(op, Load | Store | Rmw) for op in step.ops) and not step.locked:
            locations.append(Location(f"fence{number}", span=step.span))
            fence = Fence("thread_fence", MemoryOrder.SEQ_CST)
            added.append(Transition(len(locations) - 1, step.target, (fence,), span=step.span))
            step = replace(step, target=len(locations) - 1)
        changed.append(step)
    return replace(process, locations=tuple(locations), transitions=(*changed, *added))


def _with_strongest(op: Op, atomic: frozenset[int]) -> Op:
    match op:
        case Rmw():
            return replace(op, order=MemoryOrder.SEQ_CST, failure_order=MemoryOrder.SEQ_CST)
        case Load() | Store() if op.order is not MemoryOrder.PLAIN or atomic & set(op.address.variables):
            return replace(op, order=MemoryOrder.SEQ_CST)
        case Fence("thread_fence"):
            return replace(op, order=MemoryOrder.SEQ_CST)
        case _:
            return op
