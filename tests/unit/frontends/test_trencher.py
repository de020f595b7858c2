"""Transition lists: what is read, printed and patched."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.diagnostics import InputError
from memfence.frontends import trencher
from memfence.frontends.catalogue import choose_language
from memfence.frontends.frontend import EditKind
from memfence.frontends.trencher.edits import write_program
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.program.expressions import Address, Binary, Const, Register, Unary, variable_address
from memfence.program.ir import UNDECLARED, Assign, Assume, Fence, FencePoint, Load, Lock, Program, Store, Unlock
from memfence.source import SourceText
from memfence.synthesis.apply_edits import insert
from support.canonical import canonical, same_meaning
from support.corpus import needs_corpus, transition_lists

PROGRAMS = Path(__file__).parents[2] / "golden" / "programs" / "trencher"

EVERYTHING = """\
# every instruction once
memory_size 8

thread t
initial q0
transition q0 q1 write 1 0         # a comment inside a thread
transition q1 q2 read r + 1 * 2 r
transition q2 q3 local s - r 1
transition q3 q4 check && ! == s 0 <= r 5
transition q4 q5 mfence
transition q5 q6 sfence
transition q6 q7 noop
transition q7 q8 lock
transition q8 q9 unlock
end
"""

LOOPS = """\
thread t 2
initial a
  transition a b write 1 0
  transition c b write 2 0\t# back
  transition b c read r 1
  transition b b check == r 0
end
thread u
initial a
transition a b write r 1 transition b c read r 0
transition c a noop
end
"""


def read(text: str) -> Program:
    return trencher.parse(SourceText("list.txt", text))


def ops_of(program: Program, process: int = 0) -> list[object]:
    return [op for transition in program.processes[process].transitions for op in transition.ops]


def test_every_instruction_has_its_meaning() -> None:
    r, s = Register(0), Register(1)
    assert ops_of(read(EVERYTHING)) == [
        Store(variable_address(0), Const(1)),
        Load(0, Address(0, 8, Binary("+", Const(1), Binary("*", Const(2), r)))),
        Assign(1, Binary("-", r, Const(1))),
        Assume(Binary("&&", Unary("!", Binary("==", s, Const(0))), Binary("<=", r, Const(5)))),
        Fence("mfence"),
        Fence("sfence"),
        Lock(),
        Unlock(),
    ]


def test_the_memory_has_the_declared_size_and_no_declared_range() -> None:
    variables = read(EVERYTHING).variables
    assert [v.name for v in variables] == [f"mem[{i}]" for i in range(8)]
    assert {(v.domain, v.init) for v in variables} == {(UNDECLARED, (0,))}


def test_without_memory_size_the_largest_constant_address_counts() -> None:
    assert len(read("thread t initial a transition a b write 1 3 end").variables) == 4
    assert len(read("thread t initial a end").variables) == 0


def test_without_memory_size_a_computed_address_is_bounded_by_the_guards_before_it() -> None:
    text = """
        thread t
        initial a
        transition a b local i 0
        transition b c check < i 5
        transition c d write 1 + 2 i
        transition d b local i + i 1
        end"""
    assert len(read(text).variables) == 7


def test_without_memory_size_an_address_read_from_memory_is_bounded_by_what_is_written() -> None:
    text = "thread t initial a transition a b write 4 0 transition b c read p 0 transition c d read r p end"
    assert len(read(text).variables) == 5


def test_without_memory_size_constant_addresses_count_though_they_are_never_used() -> None:
    text = "thread t initial a transition a b check 0 transition b c write 1 6 transition c d read r & r 0 end"
    assert len(read(text).variables) == 7


def test_copies_are_named_by_number_and_share_their_template() -> None:
    processes = read("thread t 3 initial a transition a b noop end thread u initial a end").processes
    assert [(p.name, p.template) for p in processes] == [("t", "t"), ("t_1", "t"), ("t_2", "t"), ("u", "u")]
    assert processes[0].transitions[0].point == processes[2].transitions[0].point


@pytest.mark.parametrize("name", ["lock", "end", "read", "transition", "0", "q'!", "thread"])
def test_a_state_may_be_called(name: str) -> None:
    program = read(f"thread t\ninitial {name}\ntransition {name} q1 noop\ntransition q1 {name} noop\nend")
    assert program.processes[0].locations[0].labels == (name,)


def test_a_register_may_be_called_anything_without_spaces() -> None:
    program = read("thread t initial a transition a b read flag_i-1 0 transition b c check == flag_i-1 1 end")
    assert [r.name for r in program.processes[0].registers] == ["flag_i-1"]


def test_an_initial_state_without_transitions_is_accepted() -> None:
    process = read("thread t initial 0 transition q0 q1 noop end").processes[0]
    assert process.locations[process.initial].name == "0"
    assert not list(process.leaving(process.initial))


def test_the_order_of_initial_and_transitions_does_not_matter() -> None:
    first = read("thread t initial a transition a b noop end")
    assert same_meaning(first, read("thread t transition a b noop initial a end"))


def test_line_ends_of_windows_mean_the_same() -> None:
    assert same_meaning(read(EVERYTHING), read(EVERYTHING.replace("\n", "\r\n")))


def test_every_transition_knows_its_text() -> None:
    assert read(EVERYTHING).processes[0].transitions[1].span.text == "transition q1 q2 read r + 1 * 2 r"


def test_the_language_is_told_from_the_content() -> None:
    language = choose_language("list.txt", EVERYTHING)
    assert language is not None and language.name == "trencher"


@pytest.mark.parametrize("text", [EVERYTHING, LOOPS], ids=["everything", "loops"])
def test_printed_text_is_read_as_the_same_program(text: str) -> None:
    program = read(text)
    printed = read(write_program(program))
    assert [p.name for p in printed.processes] == [p.name for p in program.processes]
    assert printed.variables == program.variables
    assert [(p.registers, p.locations, p.initial, p.transitions) for p in printed.processes] == [
        (p.registers, p.locations, p.initial, p.transitions) for p in program.processes
    ]


@needs_corpus
def test_there_are_more_than_seventy_files_in_the_corpus() -> None:
    assert len(transition_lists()) > 70


@needs_corpus
@pytest.mark.parametrize("path", transition_lists(), ids=lambda path: path.stem)
def test_a_file_of_the_corpus_is_read_and_printed_and_read_as_the_same_program(path: Path) -> None:
    program = trencher.parse(SourceText(str(path), path.read_text()))
    assert same_meaning(program, read(write_program(program)))


def test_what_the_format_cannot_express_is_refused() -> None:
    division = Binary("/", Const(1), Const(2))
    program = read("thread t initial a transition a b local r 1 end")
    process = program.processes[0]
    odd = Program("", (), (type(process)("t", "t", process.registers, process.locations, 0, (
        type(process.transitions[0])(0, 1, (Assign(0, division),)),)),))  # fmt: skip
    with pytest.raises(InputError):
        write_program(odd)


@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.txt")), ids=lambda path: path.stem)
def test_a_golden_program_is_read_and_printed_and_read_as_the_same_program(path: Path) -> None:
    program = trencher.parse(SourceText(path.name, path.read_text()))
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
        patched = trencher.insert_fences(program.source, [(point, kind)])
        assert canonical(read(patched)) == canonical(insert(program, [(point, kind)])), (point, patched)
        assert canonical(read(patched)) != canonical(program)


def test_all_fences_at_once_are_read_as_the_program_with_all_of_them() -> None:
    program = read(LOOPS)
    kinds: tuple[EditKind, ...] = ("mfence", "sfence")
    chosen = [(point, kinds[n % 2]) for n, point in enumerate(every_point(program))]
    patched = read(trencher.insert_fences(program.source, chosen))
    assert canonical(patched) == canonical(insert(program, chosen))


def test_a_locked_write_is_read_as_a_locked_transition_even_next_to_fences() -> None:
    program = read(LOOPS)
    first = program.processes[0]
    write, target = first.transitions[0].point, first.locations[1].point
    assert write is not None and target is not None
    chosen: list[tuple[FencePoint, EditKind]] = [(write, "locked"), (write, "sfence"), (target, "mfence")]
    patched = fuse_lock_regions(read(trencher.insert_fences(program.source, chosen)))
    assert canonical(patched) == canonical(insert(program, chosen))


def test_a_patch_changes_one_line_and_adds_one() -> None:
    program = read(LOOPS)
    point = program.processes[0].transitions[1].point
    assert point is not None
    patched = trencher.insert_fences(program.source, [(point, "mfence")])
    assert patched == LOOPS.replace(
        "  transition c b write 2 0\t# back\n",
        "  transition c b__fence write 2 0\t# back\n  transition b__fence b mfence\n",
    )


def test_the_fence_of_a_state_is_shared_by_all_transitions_that_lead_there() -> None:
    program = read(LOOPS)
    point = program.processes[0].locations[1].point
    assert point is not None
    patched = trencher.insert_fences(program.source, [(point, "mfence")])
    assert patched.count("mfence") == 1
    assert patched.count("b__fence") == 4


def test_new_states_do_not_take_the_name_of_another() -> None:
    program = read("thread t\ninitial a\ntransition a b noop\ntransition b b__fence noop\nend\n")
    point = program.processes[0].transitions[0].point
    assert point is not None
    patched = trencher.insert_fences(program.source, [(point, "mfence")])
    assert "transition a b__fence2 noop\ntransition b__fence2 b mfence\n" in patched
