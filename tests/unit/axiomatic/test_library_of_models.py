"""Models by name: how they see C's orders, and what they say of the classic programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.axiomatic.code import Barrier, Code, End, Item, Read, Thread, Write
from memfence.axiomatic.library import models_named
from memfence.diagnostics import InputError
from memfence.program.expressions import Const, variable_address
from memfence.program.ir import BIT, Program, SharedVar
from memfence.program.orders import MemoryOrder
from twins.enumeration import executions, judged_executions

X, Y = variable_address(0), variable_address(1)
ONE = Const(1)
PLAIN, RELAXED, ACQUIRE, RELEASE = MemoryOrder.PLAIN, MemoryOrder.RELAXED, MemoryOrder.ACQUIRE, MemoryOrder.RELEASE
SEQ_CST = MemoryOrder.SEQ_CST


def code(*threads: tuple[Item, ...]) -> Code:
    program = Program("test", (SharedVar("x", BIT), SharedVar("y", BIT)), ())
    end = End(ONE, (0, 1))
    return Code(program, tuple(Thread(f"P{n}", (*items, end), 2) for n, items in enumerate(threads)), 1)


def store_buffering(store: MemoryOrder, load: MemoryOrder, *fences: Item) -> Code:
    return code(
        (Write(X, ONE, order=store), *fences, Read(0, Y, order=load)),
        (Write(Y, ONE, order=store), *fences, Read(0, X, order=load)),
    )


def message_passing(data: MemoryOrder, store: MemoryOrder, load: MemoryOrder) -> Code:
    return code(
        (Write(X, ONE, order=data), Write(Y, ONE, order=store)),
        (Read(0, Y, order=load), Read(1, X, order=data)),
    )


def load_buffering(order: MemoryOrder) -> Code:
    return code(
        (Read(0, X, order=order), Write(Y, ONE, order=order)), (Read(0, Y, order=order), Write(X, ONE, order=order))
    )


def allowing(program: Code, *registers: tuple[int, int]) -> set[str]:
    """The models that allow this end; for ARMv8 with the choice of instructions."""
    found = set()
    for name in ("sc", "tso", "pso", "rc11", "armv8"):
        for model in models_named(name):
            if any(execution.registers == registers for execution in executions(program, model)):
                found.add(f"{name} {model.variant}".strip())
    return found


ARMV8 = {"armv8 ldar, lse", "armv8 ldar, llsc", "armv8 ldapr, lse", "armv8 ldapr, llsc"}
LDAPR = {"armv8 ldapr, lse", "armv8 ldapr, llsc"}


@pytest.mark.parametrize(
    ("program", "registers", "expected"),
    [
        (store_buffering(RELAXED, RELAXED), ((0, 0), (0, 0)), {"tso", "pso", "rc11"} | ARMV8),
        (store_buffering(RELEASE, ACQUIRE), ((0, 0), (0, 0)), {"tso", "pso", "rc11"} | LDAPR),
        (store_buffering(SEQ_CST, SEQ_CST), ((0, 0), (0, 0)), set()),
        (store_buffering(RELAXED, RELAXED, Barrier("thread_fence", SEQ_CST)), ((0, 0), (0, 0)), set()),
        (message_passing(RELAXED, RELAXED, RELAXED), ((0, 0), (1, 0)), {"pso", "rc11"} | ARMV8),
        (message_passing(RELAXED, RELEASE, ACQUIRE), ((0, 0), (1, 0)), set()),
        (message_passing(RELAXED, RELEASE, RELAXED), ((0, 0), (1, 0)), {"rc11"} | ARMV8),
        (load_buffering(RELAXED), ((1, 0), (1, 0)), ARMV8),
        (load_buffering(ACQUIRE), ((1, 0), (1, 0)), set()),
    ],
)
def test_classic_programs(program: Code, registers: tuple[tuple[int, int], ...], expected: set[str]) -> None:
    assert allowing(program, *registers) == expected


def test_a_race_is_flagged_and_synchronisation_prevents_it() -> None:
    (rc11,) = models_named("rc11")
    racing = {
        bool(found.judgement.flags) for found in judged_executions(message_passing(PLAIN, RELAXED, RELAXED), rc11)
    }
    assert racing == {True}
    synchronised = judged_executions(message_passing(PLAIN, RELEASE, ACQUIRE), rc11)
    flagged = {found.execution.registers[1][0] for found in synchronised if found.judgement.flags}
    assert flagged == {0}  # whoever has not seen the flag reads too early


def test_a_stronger_order_is_in_more_sets() -> None:
    (rc11,) = models_named("rc11")
    thread = code(()).threads[0]
    orders = (RELAXED, ACQUIRE, SEQ_CST)
    sets = [rc11.tags(thread, Read(0, X, order=order)) for order in orders]
    assert sets[0] < sets[1] < sets[2]
    assert rc11.tags(thread, Write(X, ONE, order=MemoryOrder.ACQ_REL)) == {"RLX", "REL"}
    assert rc11.tags(thread, Read(0, X)) == {"NA"}


def test_programs_in_assembly_have_made_the_choice_of_instructions() -> None:
    (model,) = models_named("armv8", language="aarch64")
    thread = code(()).threads[0]
    assert model.tags(thread, Read(0, X, order=ACQUIRE)) == {"Q"}
    assert model.tags(thread, Read(0, X, order=SEQ_CST)) == {"A"}
    assert model.tags(thread, Read(0, X, order=ACQUIRE, exclusive=True)) == {"A", "X"}
    assert model.tags(thread, Barrier("dmb.ld")) == {"DMB.LD"}


def test_a_users_text_is_a_model(tmp_path: Path) -> None:
    path = tmp_path / "mine.cat"
    path.write_text('"mine"\nacyclic po | com as total\n')
    (mine,) = models_named(str(path))
    (sc,) = models_named("sc")
    program = store_buffering(RELAXED, RELAXED)
    assert {e.registers for e in executions(program, mine)} == {e.registers for e in executions(program, sc)}
    path.write_text('"mine"\nacyclic po; [A] | rf | [L]; po as odd\n')
    assert [model.variant for model in models_named(str(path))] == [
        name.removeprefix("armv8 ")
        for name in ("armv8 ldar, lse", "armv8 ldar, llsc", "armv8 ldapr, lse", "armv8 ldapr, llsc")
    ]
    path.write_text('"mine"\nacyclic pi\n')
    with pytest.raises(InputError, match="MF208"):
        models_named(str(path))
    with pytest.raises(InputError, match="MF002"):
        models_named(str(tmp_path / "absent.cat"))
