"""DVE: what each construct means, on the reference models; quirks of DiVinE 2 included."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from memfence.diagnostics import InputError
from memfence.frontends import dve
from memfence.frontends.dve.lowering import parse_state_expression
from memfence.models.sc import Sc
from memfence.models.state import State
from memfence.models.steps import MemoryModel, error_state, evaluate_in, successors
from memfence.passes.atomic_writes import AtomicWrite, WaitsFor, with_atomic_writes, writes_of
from memfence.program.expressions import TRUE, Binary, Const, Register, variable_address
from memfence.program.ir import Assign, Assume, Invariant, Load, Program, PropertyAutomaton, Store
from memfence.program.validate import validate
from memfence.source import SourceText
from support.canonical import same_meaning
from support.models import memory_model
from twins.reference_search import explore

EVERYTHING = Path(__file__).parents[2] / "golden" / "programs" / "dve" / "everything.dve"


def parse(text: str) -> Program:
    program = dve.parse(SourceText("test.dve", text))
    validate(program)
    return program


def one_process(body: str, declarations: str = "", states: str = "a, b", local: str = "") -> Program:
    return parse(f"{declarations} process P {{ {local} state {states}; init a; trans {body}; }} system async;")


def reachable(program: Program, model: MemoryModel | None = None) -> tuple[set[State], set[str]]:
    """Every reachable state, and the reasons of all errors; a run does not go on after one here."""
    found = explore(program, model or Sc())
    return found.states, {failure.reason for failure in found.failures}


def outcomes(program: Program, *expressions: str, model: MemoryModel | None = None) -> set[tuple[int, ...]]:
    """The values that the DVE expressions take in states where nothing more can happen."""
    wanted = [parse_state_expression(program, e) for e in expressions]
    states, _ = reachable(program, model)
    final = [s for s in states if not list(successors(program, model or Sc(), s))]
    return {tuple(evaluate_in(program, s, 0, e) for e in wanted) for s in final}


# Transitions


def test_effects_see_the_effects_before_them() -> None:
    program = one_process("a -> b { effect x = x + 1, y = x * 10, x = y; }", "byte x = 1, y;")
    assert outcomes(program, "x", "y") == {(20, 20)}


def test_a_variable_is_written_once_a_step() -> None:
    """The last value wins, so that a buffer with room for one store of a variable is enough."""
    program = one_process("a -> b { effect x = 1, y = x, x = 2; }", "byte x, y;")
    stores = [op for op in program.processes[0].transitions[0].ops if isinstance(op, Store)]
    assert [op.address.base for op in stores] == [1, 0]
    small = memory_model("tso", bound=1, per_variable=True)
    assert outcomes(program, "x", "y", model=small) == {(2, 1)}


def test_a_first_value_out_of_range_is_an_error_even_if_overwritten() -> None:
    assert reachable(one_process("a -> b { effect x = y + 256, x = 2; }", "byte x; int y;"))[1]


def test_reading_twice_loads_once() -> None:
    program = one_process("a -> b { guard x > 1 or x == y; effect y = x; }", "byte x, y;")
    ops = program.processes[0].transitions[0].ops
    assert [op.address.base for op in ops if isinstance(op, Load)] == [0, 1]


def test_a_guard_reads_the_second_conjunct_only_where_the_first_holds() -> None:
    program = one_process("a -> b { guard x == 1 and y == 0; }", "byte x, y;")
    kinds = [type(op) for op in program.processes[0].transitions[0].ops]
    assert kinds == [Load, Assume, Load, Assume]


def test_a_disjunct_is_read_only_where_the_one_before_it_fails() -> None:
    program = one_process("a -> b { guard x == 1 or y == 0; }", "byte x, y;")
    first, second, _ = program.processes[0].transitions[0].ops
    assert isinstance(first, Load) and isinstance(second, Load)
    assert second.when == Binary("!=", Register(first.register), Const(1))


def test_a_copy_of_a_global_is_loaded_straight_into_the_local_variable() -> None:
    program = one_process("a -> b { effect r = x[r]; }", "byte x[3];", local="byte r;")
    (load,) = program.processes[0].transitions[0].ops
    assert isinstance(load, Load) and load.register == 0


def test_local_guards_need_one_op() -> None:
    program = one_process("a -> b { guard r == 1 and s == 2 and t; }", local="byte r, s, t;")
    assert len(program.processes[0].transitions[0].ops) == 1


def test_constants_are_folded() -> None:
    constants = "const byte N = 2; const byte T[2] = {5, 7}; byte x;"
    program = one_process("a -> b { guard N == 2 and T[1] == 7; effect x = T[N - 1] * N; }", constants)
    assert program.processes[0].transitions[0].ops == (Store(variable_address(0), Const(14)),)


def test_an_omitted_source_is_that_of_the_transition_before() -> None:
    program = one_process("a -> b { }, -> c { }, b -> a { }, -> c { }", states="a, b, c")
    assert [(t.source, t.target) for t in program.processes[0].transitions] == [(0, 1), (0, 2), (1, 0), (1, 2)]


# Values


def test_and_or_imply_count_a_negative_right_operand_as_false() -> None:
    program = one_process(
        "a -> b { effect x = (x0 or n) + 2 * (1 and n) + 4 * (1 imply n) + 8 * (n and 1) + 16 * (x0 imply n); }",
        "byte x, x0; int n = -3;",
    )
    assert outcomes(program, "x") == {(8 + 16,)}


def test_a_guard_is_true_where_it_is_not_zero() -> None:
    assert outcomes(one_process("a -> b { guard n; }", "int n = -3;"), "P.b") == {(1,)}


def test_operators_bind_as_in_c() -> None:
    program = one_process(
        "a -> b { effect x = 1 + 2 * 3 - 4 - 1, y = 7 & 3 == 3, z = 1 << 2 + 1, w = -7 / 2 + 10, v = 0 - 7 % 3 + 9; }",
        "byte x, y, z, w, v;",
    )
    assert outcomes(program, "x", "y", "z", "w", "v") == {(2, 1, 8, 7, 8)}


def test_a_doubtful_mix_of_and_and_or_is_noted() -> None:
    assert one_process("a -> b { guard x or y and z; }", "byte x, y, z;").notes
    assert not one_process("a -> b { guard x and y or z; }", "byte x, y, z;").notes
    assert not one_process("a -> b { guard x or (y and z); }", "byte x, y, z;").notes


def test_an_array_without_index_is_its_first_element() -> None:
    program = one_process("a -> b { guard f == 3; effect f = f + 1; }", "byte f[2] = {3, 9};")
    assert outcomes(program, "f[0]", "f[1]") == {(4, 9)}


def test_initial_values_may_be_too_many_or_too_few() -> None:
    program = parse(
        "byte n = 2, f[2] = {1, n, 7}, g[3] = {n * 2};process P { byte r = n + 1; state a; init a; } system async;"
    )
    assert [v.init for v in program.variables] == [(2,), (1,), (2,), (4,), (0,), (0,)]
    assert [r.init for r in program.processes[0].registers] == [(3,)]


def test_a_local_name_hides_a_global_one() -> None:
    program = one_process("a -> b { effect x = 5; }", "byte x;", local="byte x;")
    assert outcomes(program, "x", "P->x") == {(0, 5)}


# Errors


@pytest.mark.parametrize(
    "step",
    [
        "guard f[k] == 0;",
        "guard r[k] == 0;",
        "guard 1 / x == 0;",
        "guard 1 % x == 0;",
        "effect f[k] = 1;",
        "effect r[k] = 1;",
        "effect x = k * 100;",
        "effect x = x - 1;",
        "effect k = k * 20000;",
    ],
)
def test_an_error_in_a_guard_or_effect_fails(step: str) -> None:
    program = one_process(f"a -> b {{ {step} }}", "byte f[2], x; int k = 3;", local="byte r[2];")
    states, failures = reachable(program)
    assert failures
    assert len(states) == 1


@pytest.mark.parametrize(
    "guard", ["k < 2 and f[k] == 0", "k >= 2 or f[k] == 0", "k < 2 imply f[k] == 0", "k < 2 and r[k] == 0"]
)
def test_an_operand_that_is_not_evaluated_cannot_fail(guard: str) -> None:
    program = one_process(f"a -> b {{ guard {guard}; }}", "byte f[2]; int k = 3;", local="byte r[2];")
    assert not reachable(program)[1]


def test_the_error_state_is_all_zero_with_the_first_process_nowhere() -> None:
    program = parse(
        "byte x = 3; process P { byte r = 1; state a, b; init b; } process Q { state a, b; init b; } system async;"
    )
    state = error_state(program, Sc())
    assert state == State((2, 0), ((0,), ()), (0,), ((), ()))
    assert not any(t.source == 2 for t in program.processes[0].transitions)


# Local arrays


def test_local_arrays_are_indexed_at_run_time() -> None:
    program = one_process("a -> a { guard k < 3; effect r[k] = k * k + 1, s = s + r[k], k = k + 1; }",
                          local="byte r[3], s, k;")  # fmt: skip
    assert outcomes(program, "P->r[0]", "P->r[1]", "P->r[2]", "P->s") == {(1, 2, 5, 8)}


def test_a_foreign_array_is_indexed_at_run_time() -> None:
    program = parse(
        "byte x, k = 1; process P { byte r[2] = {4, 6}; state a; init a; }"
        "process Q { state a, b; init a; trans a -> b { effect x = P->r[k]; }; } system async;"
    )
    assert outcomes(program, "x") == {(6,)}


# Rendezvous


def pair(sender: str, receiver: str, declarations: str = "channel c;", local: str = "byte r, k;") -> Program:
    return parse(
        f"{declarations} process S {{ {local} state a, b; init a; trans a -> b {{ {sender} }}; }}"
        f"process R {{ {local} state a, b; init a; trans a -> b {{ {receiver} }}; }} system async;"
    )


def test_a_rendezvous_moves_both_and_passes_the_value() -> None:
    program = pair("sync c!x + 2;", "sync c?r;", "channel c; byte x = 5;")
    assert outcomes(program, "R->r", "S.b", "R.b") == {(7, 1, 1)}


def test_guards_of_both_sides_are_read_before_either_acts() -> None:
    program = pair("guard x == 0; sync c!;", "guard x == 0; sync c?; effect x = 1;", "channel c; byte x;")
    assert outcomes(program, "x", "S.b") == {(1, 1)}


def test_the_receiver_acts_before_the_sender() -> None:
    program = pair("sync c!3; effect y = x;", "sync c?x; effect x = x + 1;", "channel c; byte x, y;")
    assert outcomes(program, "x", "y") == {(4, 4)}


def test_the_index_of_what_is_received_is_read_before_the_step() -> None:
    program = pair("sync c!{9, 1};", "sync c?{f[k], k};", "channel {byte, byte} c[0]; byte f[2];")
    assert outcomes(program, "f[0]", "f[1]", "R->k") == {(9, 0, 1)}


def test_a_received_value_out_of_range_is_an_error() -> None:
    assert reachable(pair("sync c!256;", "sync c?r;"))[1]


def test_a_typed_channel_casts_to_its_type() -> None:
    program = pair("sync c!{300, 40000};", "sync c?{r, m};", "channel {byte, int} c[0]; int m;")
    assert outcomes(program, "R->r", "m") == {(44, 40000 - 65536)}


def test_a_process_does_not_meet_itself() -> None:
    program = one_process("a -> b { sync c!; }, a -> b { sync c?; }", "channel c;")
    assert outcomes(program, "P.a") == {(1,)}


# Buffered channels


QUEUE = """
channel {{byte}} q[2];
process S {{ byte n; state a; init a; trans a -> a {{ guard n < 3; sync q!n + 1; effect n = n + 1; }}; }}
process R {{ byte got, sum; state a; init a; trans a -> a {{ {guard} sync q?got; effect sum = sum * 10 + got; }}; }}
system async;
"""


def test_a_buffered_channel_keeps_the_order() -> None:
    assert outcomes(parse(QUEUE.format(guard="")), "R->sum") == {(123,)}


def test_a_full_channel_blocks_the_sender_and_an_empty_one_the_receiver() -> None:
    assert outcomes(parse(QUEUE.format(guard="guard false;")), "S->n", "R->sum") == {(2, 0)}


def test_channels_are_not_delayed_by_store_buffers() -> None:
    program = parse(QUEUE.format(guard=""))
    assert len(reachable(program, memory_model("tso", bound=1))[0]) == len(reachable(program)[0])


def test_a_free_slot_of_a_channel_is_zero() -> None:
    states, _ = reachable(parse(QUEUE.format(guard="")))
    assert all(value == 0 for s in states for slot, value in enumerate(s.memory[1:]) if slot >= s.memory[0])


# States, properties


def test_only_committed_processes_move_while_there_is_one() -> None:
    text = (
        "byte x; process P {{ state a, b; init a; {commit} trans a -> b {{ effect x = x * 2 + 1; }}; }}"
        "process Q {{ state a, b; init a; trans a -> b {{ effect x = x + 10; }}; }} system async;"
    )
    assert outcomes(parse(text.format(commit="")), "x") == {(11,), (21,)}
    assert outcomes(parse(text.format(commit="commit a;")), "x") == {(11,)}


def test_an_assertion_holds_whenever_its_process_is_in_the_state() -> None:
    program = parse(
        "byte x; process P { byte r; state a, b; init a; assert b: x == r + 1;"
        "trans a -> b { effect x = 2; }; } system async;"
    )
    (invariant,) = program.properties
    assert isinstance(invariant, Invariant)
    values = {s.locations: evaluate_in(program, s, 0, invariant.expr) for s in reachable(program)[0]}
    assert values == {(0,): 1, (1,): 0}


def test_a_property_process_is_no_process_of_the_program() -> None:
    program = parse(EVERYTHING.read_text())
    assert [p.name for p in program.processes] == ["Worker", "Helper"]
    (automaton,) = (p for p in program.properties if isinstance(p, PropertyAutomaton))
    assert automaton.states == ("wait", "stuck")
    assert automaton.accepting == (frozenset((1,)),)
    assert [(e.source, e.target) for e in automaton.edges] == [(0, 0), (0, 1), (1, 1)]
    assert automaton.edges[0].guard == TRUE


def test_own_state_is_the_new_one_in_effects_and_the_old_one_in_guards() -> None:
    program = one_process("a -> b { guard P.a; effect x = P.b; }", "byte x;")
    assert outcomes(program, "x") == {(1,)}


# Atomic writes


BUFFERING = """
byte x, y;
process P { byte r; state a, b, c; init a; trans a -> b { effect x = 1; }, b -> c { effect r = y; }; }
process Q { byte r; state a, b, c; init a; trans a -> b { effect y = 1; }, b -> c { effect r = x; }; }
system async;
"""
TSO_VAR = memory_model("tso", bound=1, per_variable=True)


def test_one_atomic_write_is_enough_against_store_buffering_only_if_it_waits_for_all() -> None:
    """It waits for the other process's buffer too then: no x86 instruction does that."""
    program = parse(BUFFERING)
    assert (0, 0) in outcomes(program, "P->r", "Q->r", model=TSO_VAR)
    for write in writes_of(program):
        for_all, own = (with_atomic_writes(program, [write], waits_for=waits) for waits in ("all", "own"))
        assert (0, 0) not in outcomes(for_all, "P->r", "Q->r", model=TSO_VAR)
        assert (0, 0) in outcomes(own, "P->r", "Q->r", model=TSO_VAR)
    both = with_atomic_writes(program, writes_of(program))
    assert (0, 0) not in outcomes(both, "P->r", "Q->r", model=TSO_VAR)


COUNTING = """
byte x, y;
process A { state a1, a2, a3; init a1; trans a1 -> a2 { effect x = x + 1; }, a2 -> a3 { effect y = y + 1; }; }
process B { state b1, b2, b3; init b1; trans b1 -> b2 { effect x = x + 1; }, b2 -> b3 { effect y = y + 1; }; }
system async;
"""


@pytest.mark.parametrize(("waits_for", "needed"), [("own", [("x", "x")]), ("all", [("x",), ("x",)])])
def test_the_papers_example_needs_both_writes_to_x_if_they_wait_for_their_own_process(
    waits_for: WaitsFor, needed: list[tuple[str, ...]]
) -> None:
    """Barnat, Brim and Havel, Fig. 6: F(x = 2 and y > 0). Under their rule 3, waiting for all, one is enough."""
    program = parse(COUNTING)
    writes = writes_of(program)
    minimal: list[set[AtomicWrite]] = []
    for chosen in (set(c) for size in range(5) for c in combinations(writes, size)):
        atomic = with_atomic_writes(program, chosen, waits_for=waits_for)
        holds = outcomes(atomic, "x == 2 and y > 0", model=TSO_VAR) == {(1,)}
        if holds and not any(smaller <= chosen for smaller in minimal):
            minimal.append(chosen)
    assert [tuple(write.variable for write in chosen) for chosen in minimal] == needed


def test_an_atomic_write_can_wait_for_the_buffers_of_all_processes() -> None:
    program = with_atomic_writes(parse(BUFFERING), [AtomicWrite(0, 0, "x")], waits_for="all")
    for state in reachable(program, TSO_VAR)[0]:
        if state.locations[0] == 0 and any(state.buffers[1]):
            moved = [s for _, s in successors(program, TSO_VAR, state) if isinstance(s, State) and s.locations[0] == 1]
            assert not moved


def test_marking_a_write_in_the_text_is_making_it_atomic() -> None:
    source = SourceText("test.dve", BUFFERING)
    program = dve.parse(source)
    point = program.processes[0].transitions[0].point
    assert point is not None
    text = dve.insert_fences(source, [(point, "locked")])
    assert "effect /*@atomic*/ x = 1;" in text
    marked = parse(text)
    assert same_meaning(marked, with_atomic_writes(program, [AtomicWrite(0, 0, "x")]))
    again = marked.processes[0].transitions[0].point
    assert again is None or dve.insert_fences(SourceText("test.dve", text), [(again, "locked")]) == text


def test_a_received_global_is_marked_at_the_receive() -> None:
    sender = "process S { state a; init a; trans a -> a { sync c!1; }; }"
    receiver = "process R { byte r; state a; init a; trans a -> a { sync c?x; effect r = 1; }; }"
    source = SourceText("test.dve", f"channel c; byte x; {sender} {receiver} system async;")
    program = dve.parse(source)
    point = program.processes[1].transitions[0].point
    assert point is not None
    marked = parse(dve.insert_fences(source, [(point, "locked")]))
    assert any(isinstance(op, Store) and op.direct for op in marked.processes[1].transitions[0].ops)


def test_dve_has_no_fences() -> None:
    source = SourceText("test.dve", BUFFERING)
    point = dve.parse(source).processes[0].transitions[0].point
    assert point is not None
    with pytest.raises(InputError, match="no fence instruction"):
        dve.insert_fences(source, [(point, "mfence")])


def test_one_of_everything_is_read() -> None:
    program = parse(EVERYTHING.read_text())
    assert len(program.processes[0].transitions) == 4
    assert not any(isinstance(op, Assign) and op.value == Register(op.register) for op in _ops(program))
    states, _ = reachable(program)
    assert len(states) > 3


def _ops(program: Program) -> list[object]:
    return [op for p in program.processes for t in p.transitions for op in t.ops]
