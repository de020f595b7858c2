"""Promela: what its constructs become in the IR. (Control flow and values are compared with Spin in tests/papers.)"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memfence.codes import Code
from memfence.diagnostics import InputError
from memfence.frontends.promela import parse
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.program.expressions import At, Const, RegisterOf, variable_address, walk
from memfence.program.ir import (
    Assert,
    Assume,
    Fence,
    FencePoint,
    Invariant,
    Load,
    Lock,
    Ltl,
    Op,
    Program,
    Store,
    Transition,
)
from memfence.program.load_options import DEFAULT_OPTIONS, LoadOptions
from memfence.source import SourceText
from support.exploration import fails as fails_under
from support.models import memory_model


def read(text: str, options: LoadOptions = DEFAULT_OPTIONS) -> Program:
    return parse(SourceText("model.pml", text), options)


def transitions(program: Program) -> Iterator[Transition]:
    return (transition for process in program.processes for transition in process.transitions)


def step(program: Program, text: str) -> Transition:
    """The only transition of the statement that reads `text`."""
    (found,) = (transition for transition in transitions(program) if transition.span.text == text)
    return found


def kinds(transition: Transition) -> list[type[Op]]:
    return [type(op) for op in transition.ops]


def fence_points(program: Program) -> set[FencePoint]:
    places = (place for p in program.processes for place in (*p.locations, *p.transitions))
    return {place.point for place in places if place.point is not None}


def fails(program: Program) -> bool:
    """Whether some SC run fails."""
    return fails_under(program, memory_model("sc"))


# Reads and writes


def test_counting_up_a_global_is_one_unlocked_step_that_loads_and_stores() -> None:
    program = read("byte x; active proctype P() { x++ }")
    assert kinds(step(program, "x++")) == [Load, Store]
    assert not step(program, "x++").locked


def test_a_variable_is_loaded_once_a_step_however_often_it_is_mentioned() -> None:
    program = read("byte x; active proctype P() { x > 1 && x < 5 }")
    assert kinds(step(program, "x > 1 && x < 5")) == [Load, Assume]


def test_the_second_operand_of_a_conjunction_is_loaded_only_if_the_first_is_true() -> None:
    program = read("byte x, y; active proctype P() { x == 1 && y == 2 }")
    first, second, _ = step(program, "x == 1 && y == 2").ops
    assert isinstance(first, Load) and first.when is None
    assert isinstance(second, Load) and second.when is not None


def test_locals_are_registers_and_never_touch_memory() -> None:
    program = read("byte x; active proctype P() { byte r; r = 3; r > 2; x = r }")
    assert [kinds(step(program, text)) for text in ("r > 2", "x = r")] == [[Assume], [Store]]
    assert [register.name for register in program.processes[0].registers] == ["r"]


def test_a_local_that_nothing_assigns_to_is_a_constant() -> None:
    program = read("byte flag[2]; active [2] proctype P() { byte other = 1 - _pid; flag[other] = 1 }")
    stores = [op.address.variable for t in transitions(program) for op in t.ops if isinstance(op, Store)]
    assert stores == [1, 0]
    assert all(process.registers == () for process in program.processes)


def test_a_wrong_index_of_a_local_array_fails() -> None:
    assert fails(read("active proctype P() { byte a[2], i; i = 2; a[i] = 1 }"))
    assert fails(read("byte x; active proctype P() { byte a[2], i; a[0] = 1; i = 2; x = a[i] }"))
    assert not fails(read("byte x; active proctype P() { byte a[2], i; a[0] = 1; i = 2; i < 2 && a[i] == 1 -> x = 1 }"))


def test_the_smallest_int_can_be_written() -> None:
    program = read("int x = -2147483648; active proctype P() { x == -2147483648 -> x--; assert(x == 2147483647) }")
    assert program.variables[0].init == (-(2**31),)
    assert not fails(program)
    for text in ("2147483648", "-2147483649", "-(2147483648)", "1 - 2147483648"):
        with pytest.raises(InputError):
            read(f"int x = {text}; active proctype P() {{ x = 1 }}")


# Several reads in one step


def test_a_statement_that_reads_two_globals_is_warned_about() -> None:
    text = "byte x, y; active [2] proctype P() { x = x; x == y; atomic { x = y } }"
    (warning,) = read(text).warnings
    assert read(text, LoadOptions(split_reads=True)).warnings == ()
    assert (warning.code, warning.severity, warning.at.span.text) == (Code.SEVERAL_READS, "warning", "x == y")


def test_split_reads_leave_at_most_one_load_a_step() -> None:
    text = "byte x, y, z; active proctype P() { do :: x == y && z == 1 -> break :: else -> z = x + y od }"
    loads = [sum(isinstance(op, Load) for op in t.ops) for t in transitions(read(text, LoadOptions(split_reads=True)))]
    assert max(loads) == 1
    assert max(sum(isinstance(op, Load) for op in t.ops) for t in transitions(read(text))) == 3


def test_a_split_condition_that_is_false_is_read_again() -> None:
    program = read(
        "byte x, y; active proctype P() { x + y == 1 } active proctype Q() { y = 1 }", LoadOptions(split_reads=True)
    )
    process = program.processes[0]
    assert [t.target for t in process.transitions].count(process.initial) == 1


def test_split_reads_show_a_race_that_one_atomic_step_hides() -> None:
    text = """byte x, y;
              active proctype P() { byte r; r = x * 10 + y; assert(r != 1) }
              active proctype Q() { x = 1; y = 1 }"""
    assert not fails(read(text))
    assert fails(read(text, LoadOptions(split_reads=True)))


# Control flow


def test_an_option_that_begins_with_a_labelled_jump_can_be_taken() -> None:
    assert fails(read("byte x; active proctype P() { if :: L: goto M :: x == 7 -> skip fi; x = 3; M: assert(x == 3) }"))
    assert fails(read("byte x; active proctype P() { do :: L: break :: x == 7 -> skip od; assert(x == 3) }"))


def test_a_labelled_else_waits_for_the_other_options() -> None:
    text = "byte x = 1, y; active proctype P() { if :: x == 1 -> skip :: L: else -> y = 2 fi; assert(y == 0) }"
    assert not fails(read(text))
    assert fails(read(text.replace("x = 1", "x = 2")))


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("if :: y = 1 :: y = 2 fi", 1),
        ("if :: x == 1 -> y = 1 :: x == 2 -> y = 2 :: x > 1 -> y = 3 fi", 2),
        ("if :: else -> y = 1 :: x > 2 -> y = 2 :: x > 1 -> y = 3 fi", 3),
        ("do :: i < 3 -> i++ :: i < 3 -> i = i + 2 :: else -> break od; y = i", 3),
        ("do :: i < 3 -> i++ :: x == 2 -> break od; y = i", 3),
        ("if :: if :: x == 1 -> y = 1 :: x == 2 -> y = 2 fi :: x == 2 -> y = 3 fi", 2),
        ("if :: do :: x == 2 -> y++; if :: y == 3 -> break :: else fi od :: y = 7 fi", 3),
        ("atomic { if :: y = 1 :: y = 2 fi }; y++", 2),
        ("select (y : 4 .. 6)", 4),
    ],
)
def test_a_d_step_takes_the_first_option_that_is_possible(body: str, outcome: int) -> None:
    text = f"byte x = 2, y; active proctype P() {{ byte i; d_step {{ {body} }}; assert(y != {outcome}) }}"
    assert fails(read(text))
    assert not fails(read(text.replace("!=", "==")))


def test_what_follows_a_d_step_is_not_deterministic() -> None:
    assert fails(
        read("byte x; active proctype P() { d_step { x = 1; x = 2 }; if :: x = 1 :: x = 3 fi; assert(x == 1) }")
    )


# Locked steps


def test_an_atomic_that_touches_globals_becomes_one_locked_transition() -> None:
    program = fuse_lock_regions(read("bit l; active proctype P() { atomic { l == 0 -> l = 1 } }"))
    (only,) = transitions(program)
    assert only.locked
    assert kinds(only) == [Load, Assume, Store]


def test_an_atomic_that_touches_only_locals_is_not_locked() -> None:
    program = read("bit l; active proctype P() { byte r; atomic { r = 1; r = r + 1 }; l = r }")
    assert not any(isinstance(op, Lock) for t in transitions(program) for op in t.ops)


def test_an_atomic_with_a_loop_takes_the_lock_together_with_its_first_statement() -> None:
    program = read(
        "byte x; active proctype P() { byte i; atomic { x == 1 -> do :: i < 2 -> i++ :: else -> break od } }"
    )
    assert kinds(step(program, "x == 1")) == [Lock, Load, Assume]
    program = read("byte x; active proctype P() { atomic { do :: x == 1 -> x = 2 :: x == 2 -> break od } }")
    process = program.processes[0]
    assert [kinds(t)[0] for _, t in process.leaving(process.initial)] == [Lock, Lock]
    assert sum(isinstance(op, Lock) for t in process.transitions for op in t.ops) == 2


def test_a_jump_out_of_an_atomic_gives_the_lock_back() -> None:
    text = """byte x;
              active proctype P() {
                  do :: atomic { x == 0 -> x = 1; break } od;
                  out: x = 2; atomic { x = 3; goto out }
              }"""
    program = fuse_lock_regions(read(text))
    assert [t.locked for t in transitions(program)].count(True) == 2
    assert not any(isinstance(op, Lock) for t in transitions(program) for op in t.ops)


def test_fences_are_steps_of_their_own() -> None:
    program = read("byte x; active proctype P() { x = 1; mfence(); x = 2; sfence() }")
    assert step(program, "mfence()").ops == (Fence("mfence"),)
    assert step(program, "sfence()").ops == (Fence("sfence"),)


# Processes


def test_processes_are_called_after_their_proctype_and_spins_number() -> None:
    program = read("byte x; active [2] proctype P() { x = 1 } active proctype Q() { x = 2 }")
    assert [process.name for process in program.processes] == ["P_0", "P_1", "Q"]
    assert [process.template for process in program.processes] == ["P", "P", "Q"]


def test_an_init_that_only_starts_processes_vanishes() -> None:
    program = read("byte x; proctype P(byte a) { x = a } init { byte i = 3; x = i; atomic { run P(i); run P(i + 1) } }")
    assert [process.name for process in program.processes] == ["P_1", "P_2"]
    assert program.variables[0].init == (3,)
    assert [t.ops[0].value for t in transitions(program) if isinstance(t.ops[0], Store)] == [Const(3), Const(4)]


def test_what_init_does_afterwards_is_a_process() -> None:
    program = read(
        "byte x; proctype P() { x = 1 } init { byte i; i = 7; run P(); x == 1 -> i = i + 1; assert(i == 8) }"
    )
    assert [process.name for process in program.processes] == ["init", "P"]
    assert program.processes[0].registers[0].init == (7,)
    assert not fails(program)


def test_an_assignment_of_init_that_others_can_see_is_not_done_beforehand() -> None:
    program = read("byte x; active proctype P() { x = 1 } init { x = 2 }")
    assert program.variables[0].init == (0,)
    assert [process.name for process in program.processes] == ["P", "init"]


@pytest.mark.parametrize(
    "loop",
    [
        "for (i : 0 .. 3) { if :: i == 1 -> break :: else -> skip fi; run P(i) }",
        "do :: i < 4 -> if :: i == 1 -> break :: else fi; run P(i); i++ :: else -> break od",
        "do :: i < 4 -> { atomic { run P(i); i = 3; break } }; run P(i) od",
    ],
)
def test_a_break_inside_a_choice_leaves_the_loop_of_init(loop: str) -> None:
    program = read(f"byte x; proctype P(byte a) {{ x = a }} init {{ byte i; {loop} }}")
    assert [process.name for process in program.processes] == ["P"]


def test_names_of_a_block_of_init_end_with_it() -> None:
    model = "byte g; proctype P(byte k) { g = k; assert(k != 3) }"
    assert not fails(read(f"{model} init {{ byte i = 1; {{ byte i = 3; skip }}; run P(i) }}"))
    assert fails(read(f"{model} init {{ byte i = 1; {{ byte i = 3; run P(i) }} }}"))
    with pytest.raises(InputError):
        read(f"{model} init {{ {{ byte i = 3; skip }}; run P(i) }}")


def test_a_declaration_of_init_behind_what_was_executed_reads_memory_when_control_passes_it() -> None:
    program = read("byte g; proctype P() { g = 1 } init { { byte i = 5; run P() }; byte i = g; assert(i != 0) }")
    assert [process.name for process in program.processes] == ["init", "P"]
    assert fails(program)


def test_an_init_without_other_processes_is_a_process() -> None:
    program = read("init { byte i = 2; i++; assert(i == 3) }")
    assert [process.name for process in program.processes] == ["init"]
    assert not fails(program)


# Properties


def test_always_a_state_formula_is_an_invariant() -> None:
    program = read(
        "byte x; active [2] proctype P() { byte r; r = x; cs: x = 1 } ltl m { [] !(P[0]@cs && P[1]:r == 2) }"
    )
    (invariant,) = program.properties
    assert isinstance(invariant, Invariant)
    assert invariant.text == "!(P[0]@cs && P[1]:r == 2)"
    leaves = {node for node in walk(invariant.expr) if isinstance(node, At | RegisterOf)}
    (cs,) = (i for i, place in enumerate(program.processes[0].locations) if place.labels == ("cs",))
    assert leaves == {At(0, frozenset({cs})), RegisterOf(1, 0)}


def test_numbers_in_formulas_are_process_numbers() -> None:
    program = read("byte x; proctype P() { cs: x = 1 } init { atomic { run P(); run P() } } ltl m { always !P[2]@cs }")
    (invariant,) = program.properties
    assert isinstance(invariant, Invariant)
    assert [node.process for node in walk(invariant.expr) if isinstance(node, At)] == [1]


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("<> (x == 1)", "<> ( x == 1 )"),
        ("[] (P[0]@cs -> <> P[1]@cs)", "[] ( P_0@cs -> <> P_1@cs )"),
        ("always eventually P[1]:r == 3", "[] <> P_1.r == 3"),
        ("(x == red) until (x > 1 implies P[0]:me == 0)", "( x == 2 ) U ( x > 1 -> 0 == 0 )"),
    ],
)
def test_other_formulas_are_kept_as_text_with_the_names_of_the_ir(formula: str, text: str) -> None:
    model = "mtype = {red, green}; byte x; active [2] proctype P() { byte r, me = _pid; r = 1; cs: x = r }"
    assert read(f"{model} ltl f {{ {formula} }}").properties == (Ltl("f", text),)


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("[] (x <= 1) && (y == 0)", "[] ( x <= 1 ) && ( y == 0 )"),
        ("always (x <= 1) || (y == 0)", "[] ( x <= 1 ) || ( y == 0 )"),
        ("[] !(x == 3) -> (y == 0)", "[] ! ( x == 3 ) -> ( y == 0 )"),
        ("[] x == 3 implies y == 0", "[] x == 3 -> y == 0"),
        ("[] (x == 3) <-> (y == 0)", "[] ( x == 3 ) <-> ( y == 0 )"),
    ],
)
def test_always_binds_tighter_than_a_logical_operator(formula: str, text: str) -> None:
    program = read(f"byte x, y; active proctype P() {{ y = 1; x = 1 }} ltl f {{ {formula} }}")
    assert program.properties == (Ltl("f", text),)


@pytest.mark.parametrize("formula", ["[] !(x == 3 && y == 0)", "[] ((x == 3) -> (y == 0))", "[] x <= 1"])
def test_always_of_one_operand_is_an_invariant(formula: str) -> None:
    program = read(f"byte x, y; active proctype P() {{ y = 1; x = 1 }} ltl f {{ {formula} }}")
    assert [type(prop) for prop in program.properties] == [Invariant]


def test_an_implication_binds_weaker_than_a_disjunction() -> None:
    program = read("byte x; active proctype P() { x = 1 } ltl m { [] (x == 0 || x == 1 -> x < 2 -> x < 3) }")
    (invariant,) = program.properties
    assert isinstance(invariant, Invariant)
    assert not fails(program)


# Preprocessor, inlines and places


def test_macros_are_replaced_also_inside_each_other() -> None:
    program = read(
        "#define N 3\n#define ADD(a, b) ((a) + (b))\nbyte x;\nactive proctype P() { x = ADD(ADD(1, N), N) }\n"
    )
    assert step(program, "x = ADD(ADD(1, N), N)").ops[0] == Store(variable_address(0), Const(7))


def test_conditional_text_counts_only_where_its_condition_holds() -> None:
    text = """#ifdef MEMFENCE
    byte x;
    #else
    chan x;
    #endif
    #ifndef FAST
    #if 0
    typedef
    #endif
    active proctype P() { x = 1 }
    #endif
    """
    assert len(read(text).processes) == 1


def test_an_included_file_is_read_beside_the_file_that_includes_it(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "shared.pml").write_text('#include "deeper.pml"\nbyte x;\n')
    (tmp_path / "parts" / "deeper.pml").write_text("byte y;\n")
    main = tmp_path / "main.pml"
    main.write_text('#include "parts/shared.pml"\nactive proctype P() { x = y }\n')
    program = parse(SourceText(str(main), main.read_text()))
    assert [variable.name for variable in program.variables] == ["y", "x"]


def test_a_mistake_in_an_included_file_is_shown_there(tmp_path: Path) -> None:
    (tmp_path / "part.pml").write_text("byte x;\nactive proctype P() { y = 1 }\n")
    main = SourceText(str(tmp_path / "main.pml"), '#include "part.pml"\n')
    with pytest.raises(InputError) as caught:
        parse(main)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.at.span.place == f"{tmp_path / 'part.pml'}:2"


def test_a_file_that_includes_itself_is_refused(tmp_path: Path) -> None:
    main = tmp_path / "main.pml"
    main.write_text('#include "main.pml"\n')
    with pytest.raises(InputError) as caught:
        parse(SourceText(str(main), main.read_text()))
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == [Code.RECURSION]


def test_no_fence_is_proposed_in_an_included_file(tmp_path: Path) -> None:
    (tmp_path / "part.pml").write_text("byte x;\nproctype P() { x = 1; x = 2 }\n")
    program = parse(SourceText(str(tmp_path / "main.pml"), '#include "part.pml"\ninit { run P() }\n'))
    assert fence_points(program) == set()


def test_no_fence_is_proposed_between_the_statements_of_a_macro() -> None:
    program = read("#define BOTH x = 1; y = 1\nbyte x, y;\nactive proctype P() { BOTH; x = 2; skip }\n")
    assert [t.point is not None for t in transitions(program)] == [False, True, True, False]
    assert {t.span.text for t in transitions(program)} == {"BOTH", "x = 2", "skip"}


def test_all_callers_of_an_inline_share_its_fence_points() -> None:
    program = read(
        "byte x[2];\ninline set(i, v) {\n    x[i] = v;\n    x[1 - i] = v\n}\n"
        "active proctype P() { set(0, 1); set(1, 2) }\nactive proctype Q() { set(1, 3) }\n"
    )
    assert {(p.template, p.after) for p in fence_points(program)} == {
        ("inline set", "x[i] = v"), ("inline set", "x[1 - i] = v"),
    }  # fmt: skip


def test_a_name_in_an_argument_means_what_it_means_at_the_call() -> None:
    with pytest.raises(InputError) as caught:
        read("byte x;\ninline set(v) { x = v }\nactive proctype P() { set(nowhere) }\n")
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.at.span.text, diagnostic.at.span.line) == ("nowhere", 3)


def test_every_transition_keeps_the_place_of_its_statement() -> None:
    program = read("byte x;\nactive proctype P() {\n    x = 1;\n    x == 1 -> assert(x != 2)\n}\n")
    assert {t.span.text for t in transitions(program)} == {"x = 1", "x == 1", "assert(x != 2)"}
    assert kinds(step(program, "assert(x != 2)")) == [Load, Assert]


@pytest.mark.parametrize("waits", ["", "timeout; "])
def test_a_statement_may_have_very_many_options(waits: str) -> None:
    options = "".join(f":: x == {n % 200} && x != {n % 7 + 1} -> skip\n" for n in range(1500))
    program = read(f"byte x;\nactive proctype A() {{ if\n{options}fi }}\nactive proctype B() {{ {waits}x = 1 }}\n")
    process = program.processes[0]
    assert sum(1 for _ in process.leaving(process.initial)) == 1500
