"""Memorax's RMM: what is read, what blocks, and how fences are written back."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.diagnostics import InputError
from memfence.frontends import rmm
from memfence.frontends.catalogue import choose_language
from memfence.frontends.frontend import EditKind
from memfence.models.spec import ModelName
from memfence.models.steps import evaluate_in
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.program.expressions import RegisterOf, Shared, variable_address
from memfence.program.ir import UNDECLARED, Domain, Forbidden, Program
from memfence.source import SourceText
from memfence.synthesis.apply_edits import insert
from support.canonical import canonical, same_meaning
from support.exploration import values_of
from support.models import memory_model
from support.points import every_point, store_points
from twins.reference_search import reachable

PROGRAMS = sorted((Path(__file__).parents[2] / "golden" / "programs" / "rmm").glob("*.rmm"))


def read(text: str) -> Program:
    return rmm.parse(SourceText("program.rmm", text))


def ends(text: str, data: str = "x = 0 : [0:3]", registers: str = "$r = 0 : [0:3]") -> set[tuple[int, int]]:
    """The values of x and $r in all SC states where the only process is at its end, marked by END."""
    program = fuse_lock_regions(read(f"forbidden END data {data} process registers {registers} text {text}; END: nop"))
    (goal,) = program.properties
    assert isinstance(goal, Forbidden)
    states = [s for s in reachable(program, memory_model("sc")) if evaluate_in(program, s, 0, goal.expr)]
    return {values_of(program, s, (Shared(variable_address(0)), RegisterOf(0, 0))) for s in states}  # type: ignore[misc]


def is_violated(program: Program, model: ModelName, bound: int = 2) -> bool:
    exprs = [p.expr for p in program.properties if isinstance(p, Forbidden)]
    states = reachable(fuse_lock_regions(program), memory_model(model, bound=bound))
    return any(evaluate_in(program, state, 0, expr) for state in states for expr in exprs)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nop", {(0, 0)}),
        ("write: x := 2; read: $r := x", {(2, 2)}),
        ("read: x = 0; $r := 1", {(0, 1)}),
        ("read: x = 1; $r := 1", set()),
        ("cas(x, 0, 2)", {(2, 0)}),
        ("cas(x, 1, 2)", set()),
        ("locked write: x := 3", {(3, 0)}),
        ("syncwr: x := 3", {(3, 0)}),
        ("assume: $r = 0 && not $r > 1", {(0, 0)}),
        ("assume: $r != 0", set()),
        ("if $r = 0 then write: x := 1 else write: x := 2", {(1, 0)}),
        ("if $r != 0 then write: x := 1", {(0, 0)}),
        ("while $r < 3 do $r := $r + 1", {(0, 3)}),
        ("either { $r := 1 or $r := 2; write: x := $r or read: x = 1 }", {(0, 1), (2, 2)}),
        ("either { while $r < 2 do $r := $r + 1 or write: x := 1 }", {(0, 2), (1, 0)}),
        ("locked { read: $r := x; write: x := $r + 1 or write: x := 2 }", {(1, 0), (2, 0)}),
        ("L: $r := $r + 1; if $r != 2 then goto L", {(0, 2)}),
        ("goto M; write: x := 1; M: nop", {(0, 0)}),
        ("{ $r := 1; { write: x := $r + (3 - 2) } }", {(2, 1)}),
        ("[0]", None),
        ("write: [$r] := 2; read: $r := [0]", {(2, 2)}),
        ("$r := me; write: x := $r + 1", {(1, 0)}),
        ("fence; sfence", {(0, 0)}),
    ],
)  # fmt: skip
def test_what_a_statement_does(text: str, expected: set[tuple[int, int]] | None) -> None:
    if expected is None:
        with pytest.raises(InputError):
            ends(text)
    else:
        assert ends(text) == expected


@pytest.mark.parametrize(
    "text",
    ["write: x := 4", "write: x := $r - 1", "$r := 3 + 1", "$r := -1", "cas(x, 0, 7)", "read: $r := [$r + 1]",
     "$r := 1; write: [$r + 1] := 0", "locked write: x := 9"],
)  # fmt: skip
def test_what_leaves_a_domain_or_the_memory_blocks(text: str) -> None:
    data = "x = 0 : [0:3], y = 9 : [0:9]"
    assert ends(text, data=data) == set()


def test_a_value_without_declared_domain_is_not_limited() -> None:
    assert ends("write: x := 400; read: $r := x", data="x = 0", registers="$r = 0 : Z") == {(400, 400)}


def test_any_initial_value_is_one_initial_state_each() -> None:
    assert ends("nop", data="x = * : [1:3]") == {(1, 0), (2, 0), (3, 0)}
    assert ends("write: x := $r", registers="$r = * : [2:3]") == {(2, 2), (3, 3)}


def test_any_initial_value_of_a_register_that_is_written_first_costs_nothing() -> None:
    registers = "$r = * : Z $s = * : [0:1000] $t = * : [2:3]"
    program = read(f"data x = 0 process registers {registers} text read: $r := x; $s := 1; assume: $s = 1")
    assert [r.init for r in program.processes[0].registers] == [(0,), (0,), (2,)]
    assert [r.unset for r in program.processes[0].registers] == [UNDECLARED, Domain(0, 1000), Domain(2, 3)]


def test_others_are_counted_without_oneself() -> None:
    program = read("process(3) data f = 0 registers $r = 0 text read: $r := f[0]; read: $r := f[1]; write: f[my] := 1")
    assert [v.name for v in program.variables] == ["f[0]", "f[1]", "f[2]"]
    accessed = [
        [op.address.base for t in reversed(p.transitions) for op in t.ops if hasattr(op, "address")]
        for p in program.processes
    ]
    assert accessed == [[1, 2, 0], [0, 2, 1], [0, 1, 2]]


def test_copies_share_their_template_and_forbidden_counts_them() -> None:
    program = read("forbidden A * B process(2) text A: nop process text B: nop")
    assert [(p.name, p.template) for p in program.processes] == [
        ("P0", "process1"), ("P1", "process1"), ("P2", "process2"),
    ]  # fmt: skip
    assert [p.text for p in program.properties if isinstance(p, Forbidden)] == ["P0@A && P2@B"]


def test_domains_are_kept() -> None:
    program = read("data x = 1 : [-2:5], y = 0 process text nop")
    assert [v.domain for v in program.variables] == [Domain(-2, 5), UNDECLARED]


def test_a_macro_means_its_body() -> None:
    text = """
        forbidden END data x = 0 : [0:3]
        macro set(v) write: x := v endmacro
        macro both(v, r) set(v); read: r := x endmacro
        macro main(r) process registers r = 0 : [0:3] text both(2, r); END: nop endmacro
        main($q)
    """
    plain = """
        forbidden END data x = 0 : [0:3]
        process registers $q = 0 : [0:3] text write: x := 2; read: $q := x; END: nop
    """
    expanded = read(text)
    assert canonical(expanded)[0] == canonical(read(plain))[0]  # type: ignore[index]
    assert [t.ops for t in expanded.processes[0].transitions] == [t.ops for t in read(plain).processes[0].transitions]


def test_places_in_a_macro_are_places_in_its_definition() -> None:
    program = read("data x = 0\nmacro set(v)\n  write: x := v\nendmacro\nprocess text set(1); set(2)")
    spans = [t.span for t in program.processes[0].transitions]
    assert [(span.line, span.text) for span in spans] == [(3, "write: x := v")] * 2


def test_a_fence_in_a_macro_is_in_all_its_uses() -> None:
    text = "data x = 0\nmacro set(v)\n  write: x := v\nendmacro\nprocess text set(1); set(2)\nprocess text set(3)\n"
    program = read(text)
    (point,) = every_point(program)
    patched = rmm.insert_fences(program.source, [(point, "mfence")])
    assert patched == text.replace("write: x := v\n", "write: x := v;\n  fence\n")
    assert canonical(read(patched)) == canonical(insert(program, [(point, "mfence")]))


def test_store_buffering_breaks_the_handshake_and_a_fence_repairs_it() -> None:
    source = SourceText("handshake.rmm", PROGRAMS[1].read_text())
    program = rmm.parse(source)
    assert [is_violated(program, model) for model in ("sc", "tso", "pso")] == [False, True, True]
    first = [p for p in store_points(program) if "work := 1" in p.after or "waiting := 1" in p.after]
    fixed = rmm.parse(SourceText("fixed.rmm", rmm.insert_fences(source, [(point, "mfence") for point in first])))
    assert not is_violated(fixed, "pso")


def test_line_ends_of_windows_mean_the_same() -> None:
    text = PROGRAMS[0].read_text()
    assert same_meaning(read(text), read(text.replace("\n", "\r\n")))


def test_the_language_is_told_from_the_content() -> None:
    language = choose_language("program.txt", PROGRAMS[0].read_text())
    assert language is not None and language.name == "rmm"


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
@pytest.mark.parametrize("kind", ["mfence", "sfence"])
def test_a_patched_text_is_read_as_the_program_with_the_fence(path: Path, kind: EditKind, newline: str) -> None:
    source = SourceText(path.name, path.read_text().replace("\n", newline))
    program = rmm.parse(source)
    points = every_point(program)
    for chosen in [*([point] for point in points), points]:
        patched = rmm.insert_fences(source, [(point, kind) for point in chosen])
        expected = insert(program, [(point, kind) for point in chosen])
        assert canonical(read(patched)) == canonical(expected), patched


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_locked_write_is_read_as_a_locked_transition(path: Path) -> None:
    source = SourceText(path.name, path.read_text())
    program = rmm.parse(source)
    for point in store_points(program):
        patched = rmm.insert_fences(source, [(point, "locked")])
        assert patched.count("locked write") == source.text.count("locked write") + 1
        assert canonical(read(patched)) == canonical(insert(program, [(point, "locked")]))


def test_a_fence_is_one_line_below_its_statement() -> None:
    text = "data x = 0\nprocess text\n  L: write: x := 1; /* here */\n     nop\n"
    program = read(text)
    (point,) = store_points(program)
    patched = rmm.insert_fences(program.source, [(point, "mfence")])
    assert patched == text.replace("/* here */\n", "/* here */\n     fence;\n")


def test_only_a_write_can_be_locked() -> None:
    program = read("data x = 0 process registers $r = 0 text read: $r := x")
    with pytest.raises(InputError):
        rmm.insert_fences(program.source, [(every_point(program)[0], "locked")])
