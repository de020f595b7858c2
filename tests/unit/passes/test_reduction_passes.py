"""What each reduction does to small programs; that it preserves what is observed is a property test."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memfence.api.check import check
from memfence.models.spec import SC, TSO, ModelSpec
from memfence.passes.liveness import dead_registers
from memfence.passes.private_locations import NOT_PRIVATE, PRIVATE_WHEN_DRAINED, private_locations
from memfence.passes.reductions import reduce
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import (
    TRUE,
    Address,
    At,
    Binary,
    BinaryOp,
    Const,
    Expr,
    Register,
    RegisterOf,
    negate,
    variable_address,
)
from memfence.program.facts.observation import Observed, observed_by
from memfence.program.ir import Assert, Assign, Assume, Domain, Fence, Load, Lock, Op, Program, SharedVar, Store, Unlock
from memfence.program.validate import validate

R, S, SCRATCH = 0, 1, 2
X, Y = variable_address(0), variable_address(1)
NOTHING = Observed()
SMALL = Domain(0, 3)


def equals(register: int, value: int, op: BinaryOp = "==") -> Expr:
    return Binary(op, Register(register), Const(value))


def program(*edges: tuple[int, int, Sequence[Op]], init: tuple[int, ...] = (0,), domain: Domain = SMALL) -> Program:
    """One process with registers r, s and a scratch register and the variables x, y."""
    builder = ProcessBuilder("p", "p")
    builder.register("r", domain, init)
    builder.register("s", domain, init)
    builder.scratch(0, domain)
    for _ in range(1 + max(max(a, b) for a, b, _ in edges)):
        builder.location()
    for source, target, ops in edges:
        builder.emit(source, target, *ops)
    variables = tuple(SharedVar(name, domain, init) for name in "xy")
    return Program("small", variables, (builder.build(0),))


def reduced(before: Program, name: str, observed: Observed = NOTHING, model: ModelSpec = TSO) -> list[tuple[Op, ...]]:
    """The ops of the transitions that are left."""
    after = reduce(before, observed, [name], model=model)
    validate(after)
    return [t.ops for t in after.processes[0].transitions]


# Dead registers


def test_a_register_is_dead_once_nothing_reads_it_before_it_is_set_again() -> None:
    steps = program((0, 1, [Load(R, X)]), (1, 2, [Store(Y, Register(R))]), (2, 3, [Load(R, Y)]))
    (dead,) = dead_registers(steps, NOTHING)
    assert [sorted(registers) for registers in dead] == [[R, S], [S], [R, S], [R, S]]
    assert all(R not in dead for dead in dead_registers(steps, Observed(registers=frozenset({(0, R)})))[0])


def test_a_register_is_reset_where_it_dies_and_only_there() -> None:
    steps = program((0, 1, [Load(R, X)]), (1, 2, [Store(Y, Register(R))]), (2, 3, [Fence()]))
    reset = Assign(R, Const(0))
    assert reduced(steps, "dead") == [(Load(R, X),), (Store(Y, Register(R)), reset), (Fence(),)]


def test_dead_registers_start_with_the_value_closest_to_zero() -> None:
    after = reduce(program((0, 1, [Load(R, X)]), init=(3, 2), domain=Domain(2, 3)), NOTHING, ["dead"], model=TSO)
    assert [r.init for r in after.processes[0].registers[:2]] == [(2,), (2,)]


# Fusion


def test_a_load_takes_the_branch_after_it_along() -> None:
    yes, no = Assume(equals(R, 1)), Assume(equals(R, 1, "!="))
    branch = program((0, 1, [Load(R, X)]), (1, 2, [yes]), (1, 3, [no]), (2, 4, [Store(Y, Const(1))]))
    assert reduced(branch, "fuse") == [(Load(R, X), yes), (Load(R, X), no), (Store(Y, Const(1)),)]


def test_origins_name_the_steps_in_order() -> None:
    chain = program((0, 1, [Load(R, X)]), (1, 2, [Assign(S, Register(R))]), (2, 3, []), (3, 4, [Load(R, Y)]))
    after = reduce(chain, NOTHING, ["fuse"], model=TSO)
    assert [(t.source, t.target, t.origin) for t in after.processes[0].transitions] == [(0, 3, (0, 1, 2)), (3, 4, (3,))]


def test_every_transition_has_an_origin_even_without_reductions() -> None:
    after = reduce(program((0, 1, [Load(R, X)]), (1, 2, [])), NOTHING, [], model=TSO)
    assert [t.origin for t in after.processes[0].transitions] == [(0,), (1,)]


STORE = Store(X, Const(1))


def test_a_store_is_not_fused_with_a_guard_that_may_fail() -> None:
    assert len(reduced(program((0, 1, [STORE]), (1, 2, [Assume(equals(R, 1))])), "fuse")) == 2


@pytest.mark.parametrize(
    "guards",
    [
        [equals(R, 1), negate(equals(R, 1))],
        [equals(R, 2, "<"), equals(R, 2, ">=")],
        [equals(R, value) for value in range(4)],
        [TRUE],
    ],
    ids=["negation", "opposite", "all values", "true"],
)
def test_a_store_is_fused_with_guards_that_cover_everything(guards: list[Expr]) -> None:
    edges: list[tuple[int, int, Sequence[Op]]] = [(0, 1, [STORE]), *((1, 2, [Assume(g)]) for g in guards)]
    assert reduced(program(*edges), "fuse") == [(STORE, Assume(guard)) for guard in guards]


def test_a_load_is_not_fused_with_a_guard_where_blocking_is_observed() -> None:
    wait = program((0, 1, [Load(R, X)]), (1, 2, [Assume(equals(R, 1))]))
    assert len(reduced(wait, "fuse")) == 1
    assert len(reduced(wait, "fuse", Observed(blocking=True))) == 2


@pytest.mark.parametrize(
    "observed",
    [
        Observed(locations=frozenset({(0, 1)})),
        Observed(registers=frozenset({(0, R), (0, S)})),
        Observed(locations=frozenset({(0, 0), (0, 2)})),
    ],
    ids=["location", "registers", "both ends"],
)
def test_steps_that_the_question_tells_apart_are_not_fused(observed: Observed) -> None:
    copy = program((0, 1, [Load(R, X)]), (1, 2, [Assign(S, Register(R))]))
    assert len(reduced(copy, "fuse")) == 1
    assert len(reduced(copy, "fuse", observed)) == 2


@pytest.mark.parametrize(
    "op",
    [Assume(At(0, frozenset({2}))), Assign(S, RegisterOf(0, R)), Load(S, Y), Store(Y, Const(1)), Lock(), Unlock()],
    ids=["location", "register", "load", "store", "lock", "unlock"],
)
def test_steps_that_others_can_interfere_with_are_not_fused(op: Op) -> None:
    assert len(reduced(program((0, 1, [Load(R, X)]), (1, 2, [op])), "fuse")) == 2


@pytest.mark.parametrize(("model", "kind", "left"), [(SC, "mfence", 1), (TSO, "mfence", 2), (TSO, "sfence", 1)])
def test_a_fence_that_does_nothing_in_the_model_is_a_local_step(model: str, kind: str, left: int) -> None:
    fence = Fence("mfence" if kind == "mfence" else "sfence")
    fenced = program((0, 1, [Load(R, X)]), (1, 2, [fence]))
    assert len(reduced(fenced, "fuse", model=model)) == left
    assert len(reduced(fenced, "fuse", Observed(accesses=True), model=model)) == 2
    assert len(reduced(fenced, "fuse", Observed(accesses=True, fences=False), model=model)) == left


def test_of_a_local_loop_one_location_stays() -> None:
    loop = program((0, 1, [Load(R, X)]), (1, 2, [Assign(S, Const(1))]), (2, 1, [Assign(S, Const(0))]), (1, 3, []))
    after = reduce(loop, NOTHING, ["fuse"], model=TSO).processes[0].transitions
    assert [(t.source, t.target) for t in after] == [(0, 2), (0, 3), (2, 2), (2, 3)]


def test_scratch_registers_do_not_leak_from_one_fused_step_into_the_next() -> None:
    leak = program((0, 1, [Load(SCRATCH, X)]), (1, 2, [Assign(R, Register(SCRATCH))]))
    assert reduced(leak, "fuse") == [(Load(SCRATCH, X), Assign(SCRATCH, Const(0)), Assign(R, Register(SCRATCH)))]


# Slicing


def test_what_nothing_depends_on_is_dropped_and_needs_no_bits() -> None:
    work = [Load(R, X), Assign(S, Register(R)), Store(Y, Register(S))]
    steps = program(*((n, n + 1, [op]) for n, op in enumerate(work)), init=(1, 2))
    after = reduce(steps, NOTHING, ["slice"], model=TSO)
    assert [t.ops for t in after.processes[0].transitions] == [(), (), ()]
    assert {v.domain.size for v in (*after.variables, *after.processes[0].registers)} == {1}
    assert {v.init for v in after.variables} == {(1,)}


def test_everything_that_a_guard_depends_on_stays() -> None:
    ops: list[tuple[Op, ...]] = [
        (Load(R, X),),
        (Assign(S, Register(R)),),
        (Store(Y, Register(S)),),
        (Load(SCRATCH, Y), Assume(equals(SCRATCH, 1))),
    ]
    assert reduced(program(*((n, n + 1, op) for n, op in enumerate(ops))), "slice") == ops


@pytest.mark.parametrize(
    "observed", [Observed(variables=frozenset({1})), Observed(accesses=True)], ids=["variable", "accesses"]
)
def test_what_is_observed_stays(observed: Observed) -> None:
    copy = program((0, 1, [Load(R, X), Store(Y, Register(R))]))
    assert reduced(copy, "slice", observed) == [(Load(R, X), Store(Y, Register(R)))]
    assert reduced(copy, "slice") == [()]


@pytest.mark.parametrize(
    "op",
    [
        Assign(S, Binary("+", Register(R), Const(1))),
        Assign(S, Binary("/", Const(1), Register(R))),
        Store(Y, Binary("+", Register(R), Const(1))),
        Store(Address(0, 2, Register(R)), Const(1)),
        Load(S, Address(0, 2, Register(R))),
        Assert(equals(R, 0)),
    ],
    ids=["overflow", "division", "overflow in memory", "store out of bounds", "load out of bounds", "assertion"],
)
def test_what_can_go_wrong_stays(op: Op) -> None:
    risky: list[Op] = [Load(R, X), op]
    assert reduced(program((0, 1, risky)), "slice") == [tuple(risky)]


@pytest.mark.parametrize(
    "other", [Store(Address(0, 2, Register(R)), Const(1)), Store(Y, Binary("+", Register(R), Const(1)))]
)
def test_all_stores_to_a_variable_stay_or_none(other: Op) -> None:
    steps = program((0, 1, [Store(Y, Const(1))]), (1, 2, [other]))
    assert reduced(steps, "slice", Observed(variables=frozenset({0}))) == [(Store(Y, Const(1)),), (other,)]


def test_accesses_that_wait_for_the_bus_lock_stay() -> None:
    lock = program((0, 1, [Lock()]), (1, 2, [Load(R, X)]), (2, 3, [Unlock()]))
    assert reduced(lock, "slice") == [(Lock(),), (Load(R, X),), (Unlock(),)]


def test_a_store_that_its_own_step_waits_for_stays() -> None:
    """The step is never possible; without its store it would be."""
    store, fence = Store(Y, Const(1)), Fence("mfence")
    assert reduced(program((0, 1, [store, fence])), "slice") == [(store, fence)]
    assert reduced(program((0, 1, [fence, store])), "slice") == [(fence,)]
    steps = program((0, 1, [store, fence]), (1, 2, [Assert(equals(R, 1))]))
    assert [check(steps, model=m).answer.verdict for m in ("sc", "tso", "pso")] == ["violated", "holds", "holds"]


def test_slicing_fusion_and_resets_work_together() -> None:
    work = [Load(R, X), Assign(S, Register(R)), Assume(equals(R, 1)), Store(Y, Const(1))]
    steps = program(*((n, n + 1, [op]) for n, op in enumerate(work)))
    after = reduce(steps, Observed(variables=frozenset({1})), ["dead", "fuse", "slice"], model=TSO)
    assert [(t.ops, t.origin) for t in after.processes[0].transitions] == [
        ((Load(R, X), Assume(equals(R, 1)), Assign(R, Const(0))), (0, 1, 2)),
        ((Store(Y, Const(1)),), (3,)),
    ]


@pytest.mark.parametrize(
    ("ops", "kind"),
    [
        ([Fence("mfence"), Store(Y, Const(1))], PRIVATE_WHEN_DRAINED),
        ([Store(Y, Const(1)), Fence("mfence")], NOT_PRIVATE),
        ([Fence("mfence"), Store(Y, Const(1)), Fence("mfence")], NOT_PRIVATE),
    ],
)
def test_only_a_fence_at_the_start_of_a_step_waits_for_what_was_pending_before_it(ops: list[Op], kind: int) -> None:
    """The last step has one fence twice, as one object: where it stands counts, not which it is."""
    assert private_locations(program((0, 1, ops)), TSO.bounded(2), NOTHING)[0][0] == kind


def test_equal_ops_of_a_process_are_one_object() -> None:
    first, second = program((0, 1, [Load(R, X)]), (1, 2, [Load(R, X)])).processes[0].transitions
    assert first.ops[0] is second.ops[0]


def test_what_processes_look_at_in_each_other_is_observed() -> None:
    spying = program((0, 1, [Assume(At(0, frozenset({1}))), Assign(S, RegisterOf(0, R))]))
    found = observed_by(spying, [])
    assert (found.locations, found.registers) == (frozenset({(0, 1)}), frozenset({(0, R)}))
