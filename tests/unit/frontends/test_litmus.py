"""x86 litmus tests: what is read, what instructions mean, and how fences are written back."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.diagnostics import InputError
from memfence.frontends import litmus
from memfence.frontends.catalogue import choose_language
from memfence.frontends.frontend import EditKind
from memfence.models.spec import ModelName
from memfence.program.ir import Final, Program, Store
from memfence.program.text.steps import print_ops
from memfence.report.formats.herd import observation
from memfence.source import SourceText
from memfence.synthesis.apply_edits import insert
from support.canonical import canonical, same_meaning
from support.exploration import final_states
from support.points import every_point

PROGRAMS = sorted((Path(__file__).parents[2] / "golden" / "programs" / "litmus").glob("*.litmus"))

SB = """\
X86 SB
{ }
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MOV EAX,[y] | MOV EAX,[x] ;
exists (0:EAX=0 /\\ 1:EAX=0)
"""


def read(text: str) -> Program:
    return litmus.parse(SourceText("test.litmus", text))


def one_thread(*rows: str, condition: str = "exists (x=0)", init: str = "", architecture: str = "X86") -> Program:
    body = "".join(f" {row} ;\n" for row in rows)
    return read(f"{architecture} t\n{{ {init} }}\n P0 ;\n{body}{condition}\n")


def two_threads(*rows: str, condition: str, init: str = "") -> Program:
    body = "".join(f" {row} ;\n" for row in rows)
    return read(f"X86 t\n{{ {init} }}\n P0 | P1 ;\n{body}{condition}\n")


def condition_of(program: Program) -> Final:
    (condition,) = program.properties
    assert isinstance(condition, Final)
    return condition


def seen(program: Program, model: ModelName = "sc") -> str:
    return observation(condition_of(program), final_states(program, model))


def test_store_buffering_is_seen_under_tso_only() -> None:
    assert [seen(read(SB), model) for model in ("sc", "tso", "pso")] == ["Never", "Sometimes", "Sometimes"]


def test_x86_names_the_destination_first_and_x86_64_last() -> None:
    intel = one_thread("MOV EAX,$3", "MOV [x],EAX", condition="forall (x=3)")
    att = one_thread("movq $3,%rax", "movq %rax,(x)", condition="forall (x=3)", architecture="X86_64")
    assert seen(intel) == seen(att) == "Always"


@pytest.mark.parametrize("written", ["[x]", "[ x ]", "(x)", "x(%rip)"])
def test_a_location_may_be_written(written: str) -> None:
    assert seen(one_thread(f"MOV {written},$1", condition="forall (x=1)")) == "Always"


def test_32_and_64_bit_names_are_one_register() -> None:
    program = one_thread("movl $7,%eax", "movq %rax,(x)", condition="forall (x=7 /\\ 0:eax=7)", architecture="X86_64")
    assert seen(program) == "Always"
    assert [name for name, _ in condition_of(program).observed] == ["0:rax", "[x]"]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["INC EAX"], 6),
        (["DEC EAX"], 4),
        (["ADD EAX,$10"], 15),
        (["ADD EAX,[x]"], 7),
        (["SUB EAX,$7"], -2),
        (["AND EAX,$4"], 4),
        (["OR EAX,$2"], 7),
        (["XOR EAX,EAX"], 0),
        (["XCHG EAX,EBX"], 9),
        (["XCHG [x],EAX"], 2),
        (["XADD EAX,EBX"], 14),
        (["LOCK XADD [x],EAX"], 2),
        (["LOCK XADD [x],EAX", "MOV EAX,[x]"], 7),
        (["LOCK SUB [x],EAX", "MOV EAX,[x]"], -3),
        (["LOCK OR [x],EAX", "MOV EAX,[x]"], 7),
        (["LOCK DEC [x]", "MOV EAX,[x]"], 1),
        (["LOCK CMPXCHG [x],EBX"], 2),
        (["MOV EAX,$2", "LOCK CMPXCHG [x],EBX", "MOV EAX,[x]"], 9),
        (["CMPXCHG [x],EBX"], 2),
        (["MOV EAX,$2", "CMPXCHG [x],EBX", "MOV EAX,[x]"], 9),
        (["MOV EAX,0x10"], 16),
        (["NOP", "LFENCE"], 5),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)  # fmt: skip
def test_what_an_instruction_leaves_in_eax(rows: list[str], expected: int) -> None:
    program = one_thread(*rows, init="x=2; 0:EAX=5; 0:EBX=9", condition="exists (0:EAX=0)")
    assert final_states(program, "tso") == {(expected,)}


@pytest.mark.parametrize(
    ("jump", "taken"),
    [
        ("JE", (False, True, False)), ("JZ", (False, True, False)), ("JNE", (True, False, True)),
        ("JNZ", (True, False, True)), ("JL", (True, False, False)), ("JS", (True, False, False)),
        ("JLE", (True, True, False)), ("JG", (False, False, True)), ("JGE", (False, True, True)),
        ("JNS", (False, True, True)), ("JMP", (True, True, True)),
    ],
)  # fmt: skip
def test_a_jump_is_taken_after_comparing_with(jump: str, taken: tuple[bool, ...]) -> None:
    for value, expected in zip((4, 5, 6), taken, strict=True):
        program = one_thread(f"CMP [x],${5}", f"{jump} END", "MOV [x],$0", "END:", init=f"x={value}")
        assert final_states(program, "tso") == {(value if expected else 0,)}, value


def test_arithmetic_sets_the_flags() -> None:
    program = one_thread("L: INC [x]", "DEC EAX", "JNE L", init="0:EAX=3", condition="forall (x=3)")
    assert seen(program) == "Always"


@pytest.mark.parametrize(
    ("row", "printed"),
    [
        ("XCHG [x],EAX", "EAX := xchg(x, EAX)"),
        ("LOCK XADD [x],EBX", "%0 := fetch_add(x, EBX); EBX := %0"),
        ("LOCK INC [x]", "fetch_add(x, 1)"),
        ("LOCK AND [x],EAX", "fetch_and(x, EAX)"),
        ("LOCK CMPXCHG [x],EBX", "%0 := cas(x, EAX, EBX); EAX := %0"),
    ],
)
def test_a_locked_instruction_is_one_read_modify_write(row: str, printed: str) -> None:
    program = one_thread(row)
    (step,) = program.processes[0].transitions
    assert print_ops(program, 0, step) == printed


@pytest.mark.parametrize("lock", ["", "LOCK "])
def test_a_locked_instruction_sets_the_flags(lock: str) -> None:
    rows = [f"{lock}DEC [x]", "JNE END", "MOV [x],$9", "END:"]
    assert final_states(one_thread(*rows, init="x=1"), "tso") == {(9,)}
    assert final_states(one_thread(*rows, init="x=3"), "tso") == {(2,)}
    rows = [f"{lock}CMPXCHG [x],EBX", "JNE END", "MOV [x],$9", "END:"]
    assert final_states(one_thread(*rows, init="x=1; 0:EAX=1; 0:EBX=4"), "tso") == {(9,)}
    assert final_states(one_thread(*rows, init="x=3; 0:EAX=1; 0:EBX=4"), "tso") == {(3,)}


def test_a_failed_cmpxchg_does_not_write() -> None:
    program = one_thread("CMPXCHG [x],EBX", init="x=1; 0:EBX=7", condition="forall (x=1 /\\ 0:EAX=1)")
    assert seen(program) == "Always"


@pytest.mark.parametrize(("increment", "expected"), [("INC [x]", {(1,), (2,)}), ("LOCK INC [x]", {(2,)})])
def test_an_increment_is_atomic_only_with_lock(increment: str, expected: set[tuple[int, ...]]) -> None:
    program = two_threads(f"{increment} | {increment}", condition="exists (x=1)")
    assert final_states(program, "sc") == expected


def test_an_exchange_with_memory_drains_the_buffer_without_lock() -> None:
    program = two_threads(
        "XCHG [x],EBX | XCHG [y],EBX",
        "MOV EAX,[y] | MOV EAX,[x]",
        init="0:EBX=1; 1:EBX=1",
        condition="exists (0:EAX=0 /\\ 1:EAX=0)",
    )
    assert [seen(program, model) for model in ("tso", "pso")] == ["Never", "Never"]


@pytest.mark.parametrize(("fence", "expected"), [("NOP", "Sometimes"), ("SFENCE", "Never"), ("MFENCE", "Never")])
def test_fences_order_stores_under_pso(fence: str, expected: str) -> None:
    program = two_threads(
        "MOV [x],$1 | MOV EAX,[y]", f"{fence} | MOV EBX,[x]", "MOV [y],$1 |", condition="exists (1:EAX=1 /\\ 1:EBX=0)"
    )
    assert (seen(program, "pso"), seen(program, "tso")) == (expected, "Never")


def test_a_register_may_hold_the_address_of_a_location() -> None:
    program = one_thread("MOV [EDI],$4", "MOV EAX,[EDI]", init="0:EDI=x; int y = 1", condition="forall (x=4 /\\ y=1)")
    assert seen(program) == "Always"


def test_the_initial_state_may_have_types_brackets_and_any_case() -> None:
    init = "int x = 1; uint64_t y; [z] = 0x10; P0:eax = -3; int 0:EBX = 2"
    program = one_thread("mov [w], 1", init=init, condition="forall (x=1 /\\ y=0 /\\ z=16 /\\ 0:EAX=-3 /\\ w=1)")
    assert seen(program) == "Always"


def test_implication_binds_tighter_than_conjunction() -> None:
    program = one_thread("MOV [x],$0", condition="forall (x=1 => x=2 /\\ x=1)")
    assert condition_of(program).text == "forall ([x]=1 => [x]=2 /\\ [x]=1)"
    assert seen(program) == "Never"


def test_negation_binds_tightest_and_inequality_is_known() -> None:
    program = one_thread("MOV [x],$1", condition="forall (not x=0 /\\ x != 2 /\\ ~(x=3) /\\ true)")
    assert seen(program) == "Always"


@pytest.mark.parametrize(
    ("text", "quantifier"),
    [
        ("exists (x=1)", "exists"),
        ("~exists x=1", "not exists"),
        ("~ exists (x=1);", "not exists"),
        ("forall x=1 << show 0 >>", "forall"),
        ("final (x=1);\nwith\ncc: exists;\ntso: ~exists;\ndefault: exists;", "not exists"),
        ("final (x=1); with default: ~exists; cc: exists;", "not exists"),
        ("final (x=1)", "exists"),
    ],
)
def test_the_quantifier_of(text: str, quantifier: str) -> None:
    assert condition_of(one_thread("MOV [x],$1", condition=text)).quantifier == quantifier


def test_final_states_list_registers_in_order_then_locations() -> None:
    condition = "locations [z; 0:ECX;] exists (z=0 /\\ 1:EAX=1 /\\ [a]=0 /\\ 0:EBX=0)"
    program = two_threads("MOV [z],$1 | MOV [a],$1", condition=condition)
    names = [name for name, _ in condition_of(program).observed]
    assert names == ["0:EBX", "0:ECX", "1:EAX", "[a]", "[z]"]


def test_comments_nest_and_blocks_at_the_end_are_ignored() -> None:
    text = SB.replace("{ }", "(* a (* b *) ; *) { (* x=1; *) }") + "\n<<\nshow all\n>>\n(* end *)"
    assert same_meaning(read(text), read(SB))


def test_line_ends_of_windows_mean_the_same() -> None:
    assert same_meaning(read(SB), read(SB.replace("\n", "\r\n")))


def test_a_condition_with_many_cases_is_no_problem() -> None:
    many = " \\/ ".join(f"x={n}" for n in range(5000))
    assert seen(one_thread("MOV [x],$4999", condition=f"forall ({many})")) == "Always"


def test_every_step_knows_its_cell() -> None:
    program = read(SB)
    assert [t.span.text for t in program.processes[1].transitions] == ["MOV [y],$1", "MOV EAX,[x]"]


def test_only_what_the_text_says_is_stored() -> None:
    ops = [op for process in read(SB).processes for t in process.transitions for op in t.ops]
    assert sum(isinstance(op, Store) for op in ops) == 2


def test_the_language_is_told_from_the_content() -> None:
    language = choose_language("test.txt", SB)
    assert language is not None and language.name == "litmus"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
@pytest.mark.parametrize("kind", ["mfence", "sfence"])
def test_a_patched_text_is_read_as_the_program_with_the_fence(path: Path, kind: EditKind) -> None:
    source = SourceText(path.name, path.read_text())
    program = litmus.parse(source)
    points = every_point(program)
    assert points
    for chosen in [*([point] for point in points), points]:
        patched = litmus.insert_fences(source, [(point, kind) for point in chosen])
        expected = insert(program, [(point, kind) for point in chosen])
        assert canonical(read(patched)) == canonical(expected), patched
        if len(chosen) == 1:
            assert len(patched.splitlines()) == len(source.text.splitlines()) + 1


def test_a_fence_is_a_row_in_line_with_the_others() -> None:
    program = read(SB)
    (point,) = (p for p in every_point(program) if p.template == "P1" and p.after == "MOV [y],$1")
    patched = litmus.insert_fences(program.source, [(point, "mfence")])
    assert patched == SB.replace(" MOV EAX,[y]", "             | MFENCE      ;\n MOV EAX,[y]")


def test_fences_of_two_threads_share_a_row() -> None:
    program = read(SB.lower().replace("x86 sb", "X86 SB").replace("p0", "P0").replace("p1", "P1"))
    points = [p for p in every_point(program) if p.after.endswith("$1")]
    patched = litmus.insert_fences(program.source, [(point, "mfence") for point in points])
    assert " mfence      | mfence      ;\n" in patched
    assert len(patched.splitlines()) == len(SB.splitlines()) + 1


def test_a_litmus_test_has_no_locked_form_of_a_write() -> None:
    program = read(SB)
    with pytest.raises(InputError):
        litmus.insert_fences(program.source, [(every_point(program)[0], "locked")])
