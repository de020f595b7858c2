"""Remmex's dialect of Promela: what is read, what blocks, and how fences are written back."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.diagnostics import InputError
from memfence.frontends import remmex
from memfence.frontends.catalogue import choose_language
from memfence.frontends.frontend import EditKind
from memfence.models.spec import ModelName
from memfence.models.steps import evaluate_in
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.program.expressions import At, RegisterOf, Shared, conjunction, variable_address
from memfence.program.ir import Load, Program
from memfence.source import SourceText
from memfence.synthesis.apply_edits import insert
from support.canonical import canonical, same_meaning
from support.exploration import values_of
from support.models import memory_model
from support.points import every_point, store_points
from twins.reference_search import reachable

PROGRAMS = sorted((Path(__file__).parents[2] / "golden" / "programs" / "remmex").glob("*.remmex"))


def read(text: str) -> Program:
    return remmex.parse(SourceText("program.remmex", text))


def ends(text: str) -> set[tuple[int, int]]:
    """The values of x and r in all SC states where the only process is at its end."""
    program = fuse_lock_regions(read(f"int x = 1; int a[2] = {{5, 6}}; proctype p {{ int r; {text} END: }}"))
    (process,) = program.processes
    (end,) = (n for n, location in enumerate(process.locations) if "END" in location.labels)
    states = [s for s in reachable(program, memory_model("sc")) if s.locations[0] == end]
    return {values_of(program, s, (Shared(variable_address(0)), RegisterOf(0, 0))) for s in states}  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("skip;", {(1, 0)}),
        ("store(x, 7); r = loadval(x);", {(7, 7)}),
        ("r = loadval(a[1]) + 1;", {(1, 7)}),
        ("r = 1; r = loadval(a[r]);", {(1, 6)}),
        ("load(x, 1); r = 2;", {(1, 2)}),
        ("load(x, 2); r = 2;", set()),
        ("load(x, 0) || load(x, 1) -> r = 2;", {(1, 2)}),
        ("!load(x, 0) && !load(x, 1) -> r = 2;", set()),
        ("if :: load(x, 0) -> r = 1; :: load(x, 1) -> r = 2; :: r == 0 -> r = 3; fi;", {(1, 2), (1, 3)}),
        ("if :: r == 1 -> skip; fi;", set()),
        ("if :: r == 1 -> skip; :: else -> r = 4; fi;", {(1, 4)}),
        ("if :: load(x, 0) -> skip; :: load(x, 2) -> skip; :: else -> r = 4; fi;", {(1, 4)}),
        ("do :: r < 3 -> r = r + 1; :: r == 3 -> break; od; store(x, r);", {(3, 3)}),
        ("do :: do :: break; od; break; od", {(1, 0)}),
        ("LOCK r = loadval(x); store(x, r + 1); UNLOCK", {(2, 1)}),
        ("L: r = r + 1; if :: r < 3 -> goto L; :: r >= 3 -> skip; fi", {(1, 3)}),
        ("r = -7 / 2; r = r - (2 * -1) % 3;", {(1, -1)}),
        ("bool b; b = true; if :: b -> r = 1; :: !b -> r = 2; fi;", {(1, 1)}),
        ("byte c = 255; c = c + 1; r = c;", {(1, 0)}),
        ("{ r = 1; { skip } }", {(1, 1)}),
        ("mfence; sfence; mfence();", {(1, 0)}),
        ("assert(r == 0); assert(r == 1);", set()),
    ],
)  # fmt: skip
def test_what_a_statement_does(text: str, expected: set[tuple[int, int]]) -> None:
    assert ends(text) == expected


def test_a_guard_loads_its_variable_once_however_often_it_names_it() -> None:
    program = read("int x; proctype p { load(x, 1) || load(x, 2) || !load(x, 3); }")
    (transition,) = program.processes[0].transitions
    assert sum(isinstance(op, Load) for op in transition.ops) == 1


def test_what_needs_no_load_is_tested_before_it() -> None:
    assert ends("r = 2; if :: r < 2 && load(a[r], 0) -> skip; :: r == 2 -> r = 9; fi;") == {(1, 9)}


def test_every_proctype_runs_once_and_two_may_have_the_same_name() -> None:
    program = read("proctype p { skip } proctype q() { skip; } proctype p { skip }")
    assert [(p.name, p.template) for p in program.processes] == [("p", "p"), ("q", "q"), ("p_1", "p_1")]


def test_arrays_are_flattened() -> None:
    program = read("bool f[2] = {true, false}; int g[3] = 4; int h; proctype p { skip }")
    assert [(v.name, v.init) for v in program.variables] == [
        ("f[0]", (1,)), ("f[1]", (0,)), ("g[0]", (4,)), ("g[1]", (4,)), ("g[2]", (4,)), ("h", (0,)),
    ]  # fmt: skip


def test_comments_are_ignored() -> None:
    text = "int x; proctype p { store(x, 1); }"
    assert same_meaning(read(text), read(text.replace(";", "; // one\n /* two\n lines */")))


def test_line_ends_of_windows_mean_the_same() -> None:
    text = PROGRAMS[0].read_text()
    assert same_meaning(read(text), read(text.replace("\n", "\r\n")))


def test_the_language_is_told_from_the_content() -> None:
    language = choose_language("peterson.txt", PROGRAMS[1].read_text())
    assert language is not None and language.name == "remmex"


def both_in_critical_section(program: Program, model: ModelName) -> bool:
    sections = []
    for number, process in enumerate(program.processes):
        places = frozenset(n for n, location in enumerate(process.locations) if "CS" in location.labels)
        sections.append(At(number, places))
    states = reachable(program, memory_model(model, bound=2))
    return any(evaluate_in(program, state, 0, conjunction(*sections)) for state in states)


def test_peterson_needs_a_fence_under_tso() -> None:
    source = SourceText("peterson.remmex", PROGRAMS[1].read_text())
    program = remmex.parse(source)
    assert [both_in_critical_section(program, model) for model in ("sc", "tso")] == [False, True]
    after_turn = [point for point in store_points(program) if "turn" in point.after]
    fixed = read(remmex.insert_fences(source, [(point, "mfence") for point in after_turn]))
    assert not both_in_critical_section(fixed, "tso")


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
@pytest.mark.parametrize("kind", ["mfence", "sfence"])
def test_a_patched_text_is_read_as_the_program_with_the_fence(path: Path, kind: EditKind, newline: str) -> None:
    source = SourceText(path.name, path.read_text().replace("\n", newline))
    program = remmex.parse(source)
    points = every_point(program)
    for chosen in [*([point] for point in points), points]:
        patched = remmex.insert_fences(source, [(point, kind) for point in chosen])
        expected = insert(program, [(point, kind) for point in chosen])
        assert canonical(read(patched)) == canonical(expected), patched


def test_a_locked_store_is_read_as_a_locked_transition() -> None:
    source = SourceText("peterson.remmex", PROGRAMS[1].read_text())
    program = remmex.parse(source)
    for point in store_points(program):
        patched = read(remmex.insert_fences(source, [(point, "locked")]))
        assert canonical(fuse_lock_regions(patched)) == canonical(insert(program, [(point, "locked")]))


def test_a_fence_is_one_line_below_its_statement() -> None:
    text = "int x;\nproctype p {\n\tstore(x, 1); // here\n\tskip;\n}\n"
    program = read(text)
    (point,) = store_points(program)
    patched = remmex.insert_fences(program.source, [(point, "mfence")])
    assert patched == text.replace("// here\n", "// here\n\tmfence;\n")


def test_only_a_store_can_be_locked() -> None:
    program = read("int x; proctype p { load(x, 0); }")
    with pytest.raises(InputError):
        remmex.insert_fences(program.source, [(every_point(program)[0], "locked")])
