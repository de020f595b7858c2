"""The language of the persistence paper: what is read, printed and patched."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.diagnostics import InputError
from memfence.frontends import persist, trencher
from memfence.frontends.frontend import EditKind
from memfence.frontends.persist.edits import write_program
from memfence.program.expressions import Binary, Conditional, Const, Expr, Register, Unary, variable_address
from memfence.program.ir import (
    UNDECLARED,
    Assert,
    Assign,
    Assume,
    Domain,
    Fence,
    FencePoint,
    Forbidden,
    Invariant,
    Load,
    Program,
    Rmw,
    Store,
)
from memfence.source import SourceText
from memfence.synthesis.apply_edits import insert
from support.canonical import canonical, same_meaning
from support.corpus import needs_corpus, transition_lists
from support.models import memory_model
from twins.reference_search import explore

PROGRAMS = Path(__file__).parents[2] / "golden" / "programs" / "persist"

EVERYTHING = """\
program everything   // the name
vars x, y = -2 : [-2:3] z
procs
process p
regs $r, s = 1 : [0:7]
init 1
begin
  1: x = $r + 1; goto q2      # a write
  q2: $r = y; goto q3;        // a read
  q3: s = r * 2; goto q3
  q3: fence; goto q4
  q4: sfence; goto q5
  q5: arw(z, s, r + 1); goto q6
  q6: skip; goto q7
  q7: assume !($r == 0) && s < 5; goto q8
  q8: assert s >= -1; goto q9
  q9: locked x = 1; goto q10
  q10: locked $r = x; goto 1
end
process idle regs init q begin end
forbid p@q6 && x == 1;
invariant p.s < 8;
"""

LOOPS = """\
program loops vars x y procs
process p regs $r
init a
begin
    a: x = 1; goto b
    c: x = 2; goto b;   // back
    b: $r = y; goto c
    b: assume $r == 0; goto b
end
process q regs r init a begin
a: y = 1; goto b  b: r = x; goto c
c: skip; goto a
end
"""


def read(text: str) -> Program:
    return persist.parse(SourceText("text.pst", text))


def statement(text: str) -> tuple[object, ...]:
    """The ops of one statement of a process with registers $a, $b, $c and variables x, y."""
    program = read(f"program t vars x, y procs process p regs $a, $b, $c init q begin q: {text}; goto q end")
    return program.processes[0].transitions[0].ops


def expression(text: str) -> Expr:
    (op,) = statement(f"assume {text}")
    assert isinstance(op, Assume)
    return op.condition


A, B, C = Register(0), Register(1), Register(2)


def test_every_statement_has_its_meaning() -> None:
    program = read(EVERYTHING)
    r, s, scratch = 0, 1, 2
    x, y, z = (variable_address(n) for n in range(3))
    assert [(t.locked, *t.ops) for t in program.processes[0].transitions] == [
        (False, Store(x, Binary("+", Register(r), Const(1)))),
        (False, Load(r, y)),
        (False, Assign(s, Binary("*", Register(r), Const(2)))),
        (False, Fence("mfence")),
        (False, Fence("sfence")),
        (
            False,
            Rmw(scratch, z, "compare_exchange", Binary("+", Register(r), Const(1)), Register(s)),
            Assume(Binary("==", Register(scratch), Register(s))),
        ),
        (False,),
        (
            False,
            Assume(
                Binary(
                    "&&", Unary("!", Binary("==", Register(r), Const(0))), Binary("<", Register(s), Const(5))
                )
            ),
        ),
        (False, Assert(Binary(">=", Register(s), Const(-1)))),
        (True, Store(x, Const(1))),
        (True, Load(r, x)),
    ]  # fmt: skip


def test_declarations_give_ranges_and_initial_values() -> None:
    program = read(EVERYTHING)
    assert [(v.name, v.domain, v.init) for v in program.variables] == [
        ("x", UNDECLARED, (0,)),
        ("y", Domain(-2, 3), (-2,)),
        ("z", UNDECLARED, (0,)),
    ]
    assert [(r.name, r.domain, r.init, r.transient) for r in program.processes[0].registers] == [
        ("r", UNDECLARED, (0,), False),
        ("s", Domain(0, 7), (1,), False),
        ("%0", UNDECLARED, (0,), True),
    ]


def test_initial_value_and_range_may_come_in_either_order() -> None:
    assert same_meaning(
        read("program t vars x = 2 : [1:3] procs process p init q begin end"),
        read("program t vars x : [1:3] = 2 procs process p init q begin end"),
    )


def test_properties_are_read_with_the_program() -> None:
    forbidden, invariant = read(EVERYTHING).properties
    assert isinstance(forbidden, Forbidden) and forbidden.text == "p@q6 && x == 1"
    assert isinstance(invariant, Invariant) and invariant.text == "p.s < 8"


def test_a_label_without_instruction_ends_the_process() -> None:
    process = read("program t vars x procs process p regs init a begin a: x = 1; goto over end").processes[0]
    assert [place.name for place in process.locations] == ["a", "over"]
    assert not list(process.leaving(1))


def test_the_dollar_tells_a_register_from_a_variable_of_the_same_name() -> None:
    program = read("program t vars x procs process p regs $x init a begin a: $x = x; goto b b: x = $x; goto a end")
    assert [t.ops for t in program.processes[0].transitions] == [
        (Load(0, variable_address(0)),),
        (Store(variable_address(0), Register(0)),),
    ]


UP_TO_31_BITS = Conditional(Binary("<=", B, Const(31)), B, Const(-1))


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("a + b * c", Binary("+", A, Binary("*", B, C))),
        ("a - b - c", Binary("-", Binary("-", A, B), C)),
        ("(a - (b - c))", Binary("-", A, Binary("-", B, C))),
        ("a == b && b < c || c", Binary("||", Binary("&&", Binary("==", A, B), Binary("<", B, C)), C)),
        ("a | b & c == 1", Binary("|", A, Binary("&", B, Binary("==", C, Const(1))))),
        ("-a - -1", Binary("-", Unary("-", A), Const(-1))),
        ("!a == ~b", Binary("==", Unary("!", A), Unary("~", B))),
        ("a ? b : c ? 1 : 2", Conditional(A, B, Conditional(C, Const(1), Const(2)))),
        ("add($a, mul($b, 2))", Binary("+", A, Binary("*", B, Const(2)))),
        ("not(eq(a, b))", Unary("!", Binary("==", A, B))),
        ("neg(a) << 1 >> b", Binary(">>", Binary("<<", Unary("-", A), Const(1)), UP_TO_31_BITS)),
        ("min(a, b)", Conditional(Binary("<=", A, B), A, B)),
        ("max(a, b) % 3", Binary("%", Conditional(Binary(">=", A, B), A, B), Const(3))),
        ("ite(a, b, c)", Conditional(A, B, C)),
    ],
)
def test_an_expression_is_read_as_in_c(text: str, meaning: Expr) -> None:
    assert expression(text) == meaning


def test_an_atomic_read_write_waits_for_its_value() -> None:
    program = read("""
        program t vars x : [0:2] procs
        process p regs init a begin a: arw(x, 1, 2); goto b end
        process q regs init a begin a: x = 1; goto b end""")
    found = explore(program, memory_model("tso"))
    assert not found.failures
    assert {(state.locations[0], state.memory) for state in found.states} == {(0, (0,)), (0, (1,)), (1, (2,))}


@pytest.mark.parametrize("text", [EVERYTHING, LOOPS], ids=["everything", "loops"])
def test_printed_text_is_read_as_the_same_program(text: str) -> None:
    program = read(text)
    assert same_meaning(program, read(write_program(program)))


@pytest.mark.parametrize(
    "source", ["a + (b + c)", "(a && b) == c", "-(a + 1) * b", "(a ? b : c) + 1", "-(-1)", "!(!a)"]
)
def test_a_printed_expression_is_read_as_the_same(source: str) -> None:
    program = read(f"program t vars x procs process p regs a b c init q begin q: x = {source}; goto q end")
    assert same_meaning(program, read(write_program(program)))


@needs_corpus
@pytest.mark.parametrize("path", transition_lists(), ids=lambda path: path.stem)
def test_a_transition_list_can_be_printed_in_this_language(path: Path) -> None:
    program = trencher.parse(SourceText(str(path), path.read_text()))
    try:
        text = write_program(program)
    except InputError:
        pytest.skip("uses lock regions or computed addresses, or never starts")
    assert [[t.ops for t in p.transitions] for p in read(text).processes] == [
        [t.ops for t in p.transitions] for p in program.processes
    ]


@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.pst")), ids=lambda path: path.stem)
def test_a_golden_program_is_read_and_printed_and_read_as_the_same_program(path: Path) -> None:
    program = persist.parse(SourceText(path.name, path.read_text()))
    printed = read(write_program(program))
    assert [(p.name, p.registers, p.locations, p.transitions) for p in printed.processes] == [
        (p.name, p.registers, p.locations, p.transitions) for p in program.processes
    ]
    assert (printed.variables, printed.properties) == (program.variables, program.properties)


def every_point(program: Program) -> list[FencePoint]:
    points = [place.point for process in program.processes for place in process.locations]
    points += [transition.point for process in program.processes for transition in process.transitions]
    return list(dict.fromkeys(point for point in points if point is not None))


@pytest.mark.parametrize("text", [EVERYTHING, LOOPS, LOOPS.replace("\n", "\r\n")], ids=["all", "loops", "windows"])
@pytest.mark.parametrize("kind", ["mfence", "sfence"])
def test_a_patched_text_is_read_as_the_program_with_the_fence(text: str, kind: EditKind) -> None:
    program = read(text)
    for point in every_point(program):
        patched = persist.insert_fences(program.source, [(point, kind)])
        assert canonical(read(patched)) == canonical(insert(program, [(point, kind)])), (point, patched)
        assert canonical(read(patched)) != canonical(program)


def test_all_fences_and_a_lock_at_once_are_read_as_the_program_with_all_of_them() -> None:
    program = read(LOOPS)
    kinds: tuple[EditKind, ...] = ("mfence", "sfence")
    chosen = [(point, kinds[n % 2]) for n, point in enumerate(every_point(program))]
    write = program.processes[0].transitions[1].point
    assert write is not None
    chosen.append((write, "locked"))
    patched = read(persist.insert_fences(program.source, chosen))
    assert canonical(patched) == canonical(insert(program, chosen))


def test_a_patch_changes_one_line_and_adds_one() -> None:
    program = read(LOOPS)
    point = program.processes[0].transitions[1].point
    assert point is not None
    assert persist.insert_fences(program.source, [(point, "mfence")]) == LOOPS.replace(
        "    c: x = 2; goto b;   // back\n",
        "    c: x = 2; goto b__fence;   // back\n    b__fence: fence; goto b;\n",
    )


def test_a_locked_write_changes_one_word() -> None:
    program = read(LOOPS)
    point = program.processes[0].transitions[0].point
    assert point is not None
    patched = persist.insert_fences(program.source, [(point, "locked")])
    assert patched == LOOPS.replace("a: x = 1;", "a: locked x = 1;")
