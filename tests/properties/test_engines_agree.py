"""Every registered engine that takes a task gives the answer of every other one, and so does the portfolio of them all.

A new engine is tested by its line in the registry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from random import Random

import pytest

from memfence.engines.registry import ENGINES, engine_named
from memfence.models.spec import PSO, SC, TSO, ModelSpec
from memfence.program.expressions import FALSE, At, Binary, Const, Expr, RegisterOf, conjunction
from memfence.program.ir import Assume, Location, Program, Transition
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.task import Keeps, Safety, Task
from support.engines import LIMITS, answers, outcomes_of
from support.generators.cycles import looping_cycles
from support.generators.cyclic_programs import cyclic_program
from support.generators.racing_programs import racing_program

MODELS = (SC, TSO, PSO)
BOUNDED = (TSO.bounded(1), TSO.bounded(2), TSO.bounded(1, per_variable=True), PSO.bounded(1), PSO.bounded(2))
RACING = range(80)
FOUND, PROVED = Verdict.VIOLATED, Verdict.HOLDS
ALONE = {
    "any number", "buchi", "cluster", "executions", "fair buffers", "graphs", "rc11 monitor", "sc attacks", "sc races",
}  # fmt: skip
"""Each the only one that takes its goals, or tasks that name a cluster: their twins test them."""


def ends(program: Program) -> list[Expr]:
    """Every process stands at a location without transitions."""
    halts = [
        frozenset(n for n in range(len(process.locations)) if not any(process.leaving(n)))
        for process in program.processes
    ]
    return [At(p, places) for p, places in enumerate(halts)]


def registers_are(registers: tuple[tuple[int, ...], ...]) -> list[Expr]:
    facts = ((p, r, value) for p, values in enumerate(registers) for r, value in enumerate(values))
    return [Binary("==", RegisterOf(p, r), Const(value)) for p, r, value in facts]


def is_never(*facts: Expr) -> Safety:
    return Safety(bad=conjunction(*facts), failures=False)


def racing_tasks(
    seed: int, models: Iterable[ModelSpec], made: Callable[[int], Program] = racing_program
) -> Iterator[Task]:
    """An outcome of each model that the stronger ones do not have, where there is one, and one that nobody has."""
    program, random = made(seed), Random(seed)
    seen = [{registers for registers, _ in outcomes_of(program, model)} for model in MODELS]
    new = [seen[0], seen[1] - seen[0], seen[2] - seen[1]]
    wanted = [random.choice(sorted(these)) for these in new if these]
    wanted += [tuple(tuple(random.randint(0, 4) for _ in values) for values in registers) for registers in wanted[:1]]
    goals = [is_never(*ends(program), *registers_are(registers)) for registers in wanted]
    return (Task(program, model, goal, LIMITS) for goal in goals for model in models)


def looping_programs() -> list[Program]:
    return [*looping_cycles(4), *map(cyclic_program, range(1_000, 1_060))]


def looping_tasks(program: Program) -> Iterator[Task]:
    """Whether some place is reached by all processes at once; the more of them are at their last one, the better."""
    random = Random(program.name)
    last = [len(process.locations) - 1 for process in program.processes]
    for model in MODELS:
        at = [here if random.random() < 0.7 else random.randint(0, here) for here in last]
        yield Task(program, model, is_never(*(At(p, frozenset({here})) for p, here in enumerate(at))), LIMITS)


def pair_tasks(seed: int) -> Iterator[Task]:
    """How two of three processes may end, whatever the third one does."""
    program = racing_program(seed)
    if len(program.processes) == 3:
        for registers, _ in sorted(outcomes_of(program, PSO))[:2]:
            goal = is_never(*ends(program)[:2], *registers_are(registers[:2]))
            yield from (Task(program, model, goal, LIMITS) for model in MODELS)


def dead_tasks(program: Program) -> Iterator[Task]:
    """Whether a place is reached to which no way is open."""
    first, *others = program.processes
    dead = len(first.locations)
    closed = Transition(first.initial, dead, (Assume(FALSE),))
    changed = replace(first, locations=(*first.locations, Location("dead")), transitions=(*first.transitions, closed))
    whole = replace(program, processes=(changed, *others))
    return (Task(whole, model, is_never(At(0, frozenset({dead}))), LIMITS) for model in MODELS)


def state_robustness(program: Program) -> Iterator[Task]:
    return (Task(program, model, Keeps(Criterion.STATE_ROBUST), LIMITS) for model in (TSO, PSO))


def weaker_criteria(program: Program) -> Iterator[Task]:
    return (Task(program, TSO, Keeps(criterion), LIMITS) for criterion in (Criterion.POVSO, Criterion.PO))


def check_agreement(tasks: Iterable[Task]) -> Counter[tuple[str, Verdict]]:
    """How often each engine found something, and how often it proved that there is nothing."""
    said: Counter[tuple[str, Verdict]] = Counter()
    for task in tasks:
        verdicts = {name: answer.verdict for name, answer in answers(task).items()}
        assert len(set(verdicts.values())) <= 1, f"{task.program.name} under {task.model}: {verdicts}, {task.goal}"
        said.update(verdicts.items())
    return said


def check_share(said: Counter[tuple[str, Verdict]], least: int, *names: str) -> None:
    """Each of the engines has found something, and proved something, so many times."""
    for name in names:
        assert min(said[name, FOUND], said[name, PROVED]) >= least, (name, said)


def test_engines_agree_on_programs_without_loops() -> None:
    said = check_agreement(task for seed in RACING for task in racing_tasks(seed, MODELS))
    check_share(said, 20, "auto", "explicit", "symbolic", "dual", "implied", "axiomatic")


def test_engines_agree_where_buffers_have_a_bound() -> None:
    said = check_agreement(task for seed in range(40) for task in racing_tasks(seed, BOUNDED))
    check_share(said, 20, "auto", "explicit")


def test_engines_agree_on_programs_with_loops() -> None:
    said = check_agreement(task for program in looping_programs() for task in looping_tasks(program))
    check_share(said, 20, "auto", "symbolic", "dual")


def test_engines_agree_on_two_of_three_processes() -> None:
    said = check_agreement(task for seed in RACING for task in pair_tasks(seed))
    assert said["two processes", FOUND] >= 20


def test_engines_agree_on_places_without_a_way_to_them() -> None:
    programs = [racing_program(seed) for seed in range(10)] + looping_programs()[::10]
    said = check_agreement(task for program in programs for task in dead_tasks(program))
    assert said["control flow", PROVED] == said["auto", PROVED] == 3 * len(programs)


def test_engines_agree_on_state_robustness() -> None:
    programs = [racing_program(seed) for seed in RACING] + looping_programs()[::4]
    said = check_agreement(task for program in programs for task in state_robustness(program))
    check_share(said, 10, "auto", "explicit non-SC states", "symbolic non-SC states")
    assert said["implied", PROVED] >= 10


def test_engines_agree_on_povso_and_po() -> None:
    said = check_agreement(task for seed in RACING for task in weaker_criteria(racing_program(seed)))
    check_share(said, 10, "auto", "program orders")
    assert said["implied", PROVED] >= 10


def test_every_registered_engine_is_asked_here() -> None:
    tasks = [*racing_tasks(0, MODELS), *dead_tasks(racing_program(0))]
    tasks += [
        *weaker_criteria(racing_program(0)),
        *state_robustness(racing_program(0)),
        *(task for seed in range(10) for task in pair_tasks(seed)),
    ]
    taken = {name for task in tasks for name in ENGINES if engine_named(name).obstacle(task) is None}
    assert taken | ALONE == set(ENGINES)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(2_000, 4_000, 500))
def test_engines_agree_on_many_programs(start: int) -> None:
    seeds = range(start, start + 500)
    assert check_agreement(task for seed in seeds for task in racing_tasks(seed, (*MODELS, *BOUNDED)))
    assert check_agreement(task for seed in seeds for task in looping_tasks(cyclic_program(seed)))
    assert check_agreement(task for seed in seeds for task in state_robustness(racing_program(seed)))
