"""Proofs under models without states for any number of rounds: SC is safe, and the model allows no more than SC.

docs/theory/rc11-robustness.md has the theorem, and the argument for processors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memfence.axiomatic.synchronised import synchronised
from memfence.axiomatic.unrolling.refusal import NotUnrolled
from memfence.digraph import components
from memfence.engines.axiomatic.violations import goal_of
from memfence.engines.rc11.beyond_sc import ROUNDS, execution_beyond_sc
from memfence.engines.rc11.single_events import with_single_events
from memfence.models.catalogue import knows, model_of
from memfence.models.spec import Axioms
from memfence.program.ir import Load, Process, Program, Property, Rmw
from memfence.program.orders import MemoryOrder
from memfence.questions.safety import check_safety
from memfence.strategy.portfolio import decide
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import OnlySc, SeesThePast
from memfence.tasks.options import CheckOptions
from memfence.tasks.task import Keeps, Task

MOST_STATES = 3_000_000
"""Of the search with the monitor: seconds."""
SECONDS = 30.0
"""Of a proof, or of looking for an execution beyond SC, where the user sets no limit. Where there is one, a proof takes
half of what is left at most."""


def can_be_proved(program: Program, name: str, stated: Sequence[Property]) -> bool:
    """Whether a proof is worth a try: the model and what is asked allow it."""
    model = model_of(name)
    if model is None or not model.robust or not knows(name, program.language) or program.is_cut_off:
        return False
    return all(goal_of(prop) is not None for prop in stated) and any(map(has_loops, program.processes))


def has_loops(process: Process) -> bool:
    """Whether control comes back anywhere."""
    after: list[list[int]] = [[] for _ in process.locations]
    for step in process.transitions:
        after[step.source].append(step.target)
    part = components(len(after), after.__getitem__)
    return any(part[step.source] == part[step.target] for step in process.transitions)


def prove(program: Program, name: str, stated: tuple[Property, ...], options: CheckOptions) -> Answer | None:
    """A proof for any number of rounds; None where there is none."""
    seconds = SECONDS if options.limits.deadline.left is None else options.limits.deadline.left / 2
    try:
        shown = synchronised(replace(program, properties=stated))
        if model_of(name).robust != "everywhere" and not every_load_acquires(shown):  # type: ignore[union-attr]
            return None
        single = with_single_events(shown)
    except NotUnrolled:
        return None
    limits = options.limits.within(most_states=MOST_STATES, timeout_seconds=seconds)
    robust = decide(Task(replace(program, properties=stated), Axioms(name), Keeps(Criterion.ROBUST), limits))
    if robust.verdict is not Verdict.HOLDS:
        return None
    cost = robust.cost
    for searched in (program, single):  # of threads that wait for ever, the steps of the text show more
        under_sc = check_safety(searched, replace(options, model="sc", buffer_bound=None))
        if under_sc.verdict is not Verdict.HOLDS:
            return None
        cost += under_sc.answer.cost
    return replace(robust, evidence=OnlySc(name, is_safe=True), cost=cost)


def robustness(program: Program, name: str, options: CheckOptions, unrolled: int | None = None) -> Answer:
    """Whether the model allows no more than SC; VIOLATED with an execution, loops `unrolled` so often."""
    answer = decide(Task(program, Axioms(name), Keeps(Criterion.ROBUST), options.limits, frozenset(options.reduce)))
    if not isinstance(answer.evidence, SeesThePast) or answer.evidence.is_race:
        return answer
    seconds = SECONDS if options.limits.deadline.left is None else None
    limits = options.limits.within(timeout_seconds=seconds)
    found = execution_beyond_sc(program, name, limits, ROUNDS if unrolled is None else (unrolled,))
    return answer if found is None else replace(answer, verdict=Verdict.VIOLATED, evidence=found)


def every_load_acquires(program: Program) -> bool:
    """Whether all atomic reads acquire: then the standard mappings keep every read before what follows it."""
    reads = (op for p in program.processes for t in p.transitions for op in t.ops if isinstance(op, Load | Rmw))
    return all(op.order.acquires or op.order is MemoryOrder.PLAIN for op in reads)
