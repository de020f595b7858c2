"""A program and what it is for the hardware have the same runs, and every engine agrees with the reference on it."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import strategies as st

from memfence.engines.native.dual import explore_dual, supports
from memfence.engines.native.explicit import explore
from memfence.engines.native.symbolic import explore_symbolic
from memfence.models.accesses import accesses
from memfence.models.spec import PSO, SC, TSO, ModelSpec
from memfence.models.state import State
from memfence.models.steps import evaluate_in, starts, successors
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.passes.orders import as_written, for_hardware
from memfence.program.expressions import At, conjunction
from memfence.program.ir import Domain, Fence, Program, Rmw
from memfence.program.orders import MemoryOrder
from memfence.program.validate import validate
from memfence.tasks.limits import Limits
from memfence.tasks.task import ALL_REDUCTIONS, Safety
from support.generators.cyclic_programs import cyclic_program
from support.generators.programs import EVERYTHING, Shape, programs
from support.sampling import sampled
from support.symbolic_limit import explicit_limit

MODELS = (
    SC, TSO, PSO, TSO.bounded(1), TSO.bounded(2), TSO.bounded(1, per_variable=True), PSO.bounded(1), PSO.bounded(3),
)  # fmt: skip
MOST_STATES = 1_500
FEATURES = EVERYTHING | {"assertions", "errors"}
ALONE = Shape(statements=(2, 4), features=frozenset({"orders", "rmw", "fences", "sfences", "steps", "arithmetic"}))
SHAPES = (
    Shape(statements=(1, 3), features=FEATURES),
    Shape(statements=(1, 3), features=FEATURES | {"regions"}),
    ALONE,
    Shape(statements=(2, 4), features=ALONE.features | {"addresses", "locked"}, domain=Domain(-2, 1, "wrap")),
    Shape(statements=(2, 4), features=ALONE.features | {"counting"}, domain=Domain(0, 4, "wrap")),
)
SUBJECTS = st.one_of(*(programs(shape) for shape in SHAPES), programs(SHAPES[1]).map(fuse_lock_regions))
REDUCTIONS = frozenset(ALL_REDUCTIONS)


def has_orders(program: Program) -> bool:
    ops = [op for p in program.processes for t in p.transitions for op in t.ops]
    return any(isinstance(op, Rmw) or getattr(op, "order", MemoryOrder.PLAIN) is not MemoryOrder.PLAIN for op in ops)


def check_step_by_step(program: Program, spec: ModelSpec) -> None:
    """From every state that is reached: the same steps, with the same accesses, to the same states or failures."""
    model, hardware = spec.definition, for_hardware(program, spec)
    validate(hardware)
    assert not has_orders(hardware)
    todo = list(starts(hardware, model))
    assert [as_written(program, state) for state in todo] == list(starts(program, model))
    seen = set(todo)
    while todo and len(seen) < MOST_STATES:
        state = todo.pop()
        written = as_written(program, state)
        there, here = dict(successors(hardware, model, state)), dict(successors(program, model, written))
        assert here == {s: as_written(program, a) if isinstance(a, State) else a for s, a in there.items()}
        for step, after in there.items():
            assert accesses(program, model, written, step) == accesses(hardware, model, state, step)
            if isinstance(after, State) and after not in seen:
                seen.add(after)
                todo.append(after)


@pytest.mark.parametrize("spec", MODELS, ids=lambda spec: spec.definition.name)
@sampled(quick=60, slow=3_000, program=SUBJECTS)
def test_every_step_is_one_of_the_program_as_written(spec: ModelSpec, program: Program) -> None:
    check_step_by_step(program, spec)


# Loops that store: buffers of any length


def random_question(program: Program, random: Random) -> Safety:
    """Locations of some processes, all at once."""
    at = [At(p, frozenset({random.randrange(len(q.locations))})) for p, q in enumerate(program.processes)]
    return Safety(bad=conjunction(*random.sample(at, random.randint(1, len(at)))), failures=False)


def check_symbolic(seed: int, model: ModelSpec) -> bool:
    """Whether the limit of the explicit engine was known, and then that the symbolic engine reaches the same places."""
    program = cyclic_program(seed, ordered=True)
    limits = Limits(most_states=20_000, timeout_seconds=20)
    found = explore_symbolic(program, model, Safety(failures=False), limits=limits)
    limit = explicit_limit(program, model)
    if not found.complete or not limit.is_stable:
        return False
    assert found.reachable_locations() == limit.locations, (seed, model)
    reduced = explore_symbolic(program, model, Safety(failures=False), limits=limits, reductions=REDUCTIONS)
    assert reduced.reachable_locations() <= limit.locations, (seed, model)
    return True


def check_questions(seed: int) -> bool:
    """Dual, symbolic and explicit search say the same under TSO, and show a run of the program as written."""
    program, random = cyclic_program(seed, ordered=True), Random(seed)
    question = random_question(program, random)
    assert supports(program, question)
    dual = explore_dual(program, question, reductions=REDUCTIONS)
    explicit = explore(program, TSO.bounded(6), question, reductions=REDUCTIONS)
    assert dual.complete and (dual.found == (explicit.finding is not None) or explicit.refused)
    symbolic = explore_symbolic(program, TSO, question, limits=Limits(most_states=20_000), reductions=REDUCTIONS)
    assert not symbolic.complete or symbolic.found == dual.found, seed
    if explicit.finding is not None:
        assert dual.found
        for trace in (explicit.trace(), dual.trace()):
            assert trace.program is program and question.bad is not None
            assert evaluate_in(program, trace.end, 0, question.bad)
    return dual.found


@pytest.mark.parametrize("model", [TSO, PSO], ids=lambda model: model.name)
def test_symbolic_search_reaches_the_limit_of_the_explicit_one(model: ModelSpec) -> None:
    assert sum(check_symbolic(seed, model) for seed in range(120)) > 90


def test_all_engines_answer_alike_under_tso() -> None:
    answers = [check_questions(seed) for seed in range(150)]
    assert 20 < sum(answers) < 140  # neither answer is rare


@pytest.mark.slow
@pytest.mark.parametrize("block", range(8))
def test_all_engines_answer_alike_on_many_programs(block: int) -> None:
    for seed in range(1_000 + 200 * block, 1_200 + 200 * block):
        check_questions(seed)
        for model in (TSO, PSO):
            check_symbolic(seed, model)


def test_the_generators_draw_what_this_is_about() -> None:
    ops = [
        op
        for seed in range(50)
        for p in cyclic_program(seed, ordered=True).processes
        for t in p.transitions
        for op in t.ops
    ]
    kinds = {op.kind for op in ops if isinstance(op, Rmw | Fence)}
    assert {"exchange", "compare_exchange", "thread_fence"} <= kinds
    assert {MemoryOrder.RELEASE, MemoryOrder.SEQ_CST, MemoryOrder.ACQUIRE} <= {getattr(op, "order", None) for op in ops}
