"""The eight families of the persistence paper's Fig. 16, as transition lists for any number of processes.

Written from the published algorithms; `tests/papers/test_families.py` compares them with the files of the corpus.
`python benchmarks/family_programs.py burns 10` prints one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence

Step = tuple[str, str, str]
"""From, to, what."""


def burns(processes: int) -> str:
    """Burns' mutual exclusion: lower numbers first. Address i: flag of i."""
    return _program(processes, [(f"t{i}", _burns(i, processes)) for i in range(processes)])


def _burns(me: int, processes: int) -> Iterable[Step]:
    lower, higher = range(me), range(me + 1, processes)
    yield "q0", "q1", f"write 0 {me}"
    yield from _look("q1", lower, "== {} 1", "!= {} 1", some="q0", none="q2")
    yield "q2", "q3", f"write 1 {me}"
    yield from _look("q3", lower, "== {} 1", "!= {} 1", some="q0", none="q4")
    yield from _look("q4", higher, "== {} 1", "!= {} 1", some="q4", none="q5")
    yield "q5", "q0", f"write 0 {me}"


def dijkstra(processes: int) -> str:
    """Dijkstra's mutual exclusion. Address i: flag of i; the last one: turn."""
    return _program(processes + 1, [(f"t{i}", _dijkstra(i, processes)) for i in range(processes)])


def _dijkstra(me: int, processes: int) -> Iterable[Step]:
    others = [i for i in range(processes) if i != me]
    yield "q0", "q1", f"write 1 {me}"
    yield "q1", "q2", f"read turn {processes}"
    yield "q2", "q3", f"check == turn {me}"
    yield "q2", "q21", f"check != turn {me}"
    yield "q21", "q22", "read flag_turn turn"
    yield "q22", "q1", "check != flag_turn 0"
    yield "q22", "q23", "check == flag_turn 0"
    yield "q23", "q1", f"write {me} {processes}"
    yield "q3", "q4", f"write 2 {me}"
    yield from _look("q4", others, "== {} 2", "!= {} 2", some="q0", none="q5")
    yield "q5", "q0", f"write 0 {me}"


def szymanski(processes: int) -> str:
    """Szymanski's mutual exclusion. Address i: flag of i."""
    return _program(processes, [(f"t{i}", _szymanski(i, processes)) for i in range(processes)])


def _szymanski(me: int, processes: int) -> Iterable[Step]:
    others = [i for i in range(processes) if i != me]
    yield "q0", "q1", f"write 1 {me}"
    yield from _look("q1", others, ">= {} 3", "< {} 3", some="q1", none="q2", name="flag")
    yield "q2", "q3", f"write 3 {me}"
    yield from _look("q3", others, "== {} 1", "!= {} 1", some="q4", none="q5", name="flag")
    yield "q4", "q41", f"write 2 {me}"
    yield from _look("q41", others, "== {} 4", "!= {} 4", some="q5", none="q41", at="q4", first=2, name="flag")
    yield "q5", "q6", f"write 4 {me}"
    yield from _look("q6", range(me), "> {} 1", "<= {} 1", some="q6", none="q7", name="flag")
    after = range(me + 1, processes)
    yield from _look("q7", after, "|| == {0} 3 == {0} 2", "|| < {0} 2 > {0} 3", some="q7", none="q8", name="flag")
    yield "q8", "q0", f"write 0 {me}"


def partial_dekker(processes: int) -> str:
    """Dekker's algorithm in a ring: only the neighbours exclude each other. Address 0: turn; i: flag of i."""
    return _program(processes + 1, [(f"t{i}", _partial_dekker(i, processes)) for i in range(1, processes + 1)])


def _partial_dekker(me: int, processes: int) -> Iterable[Step]:
    left, right = (me - 2) % processes + 1, me % processes + 1
    turn = me - 1
    yield "q0", "q1", f"write 1 {me}"
    yield "q1", "q2", f"read flag_i-1 {left}"
    yield "q2", "q3", f"read flag_i+1 {right}"
    yield "q3", "q4", "check || == flag_i+1 1 == flag_i-1 1"
    yield "q3", "q10", "check && != flag_i+1 1 != flag_i-1 1"
    yield "q4", "q5", "read turn 0"
    yield "q5", "q1", f"check == turn {turn}"
    yield "q5", "q6", f"check != turn {turn}"
    yield "q6", "q7", f"write 0 {me}"
    yield "q7", "q8", "read turn 0"
    yield "q8", "q9", f"check == turn {turn}"
    yield "q8", "q7", f"check != turn {turn}"
    yield "q9", "q1", f"write 1 {me}"
    yield "q10", "q11", f"write {me % processes} 0"
    yield "q11", "q12", f"write 0 {me}"
    yield "q12", "q0", "noop"


def dclocking(processes: int) -> str:
    """Double-checked locking. Address 0: what is initialised once; 1: the lock."""
    steps: list[Step] = [
        ("t0", "t1", "read p 0"),
        ("t1", "t2", "check == p 0"),
        ("t1", "t11", "check != p 0"),
        ("t2", "t3", "lock"),
        ("t3", "t4", "read l 1"),
        ("t4", "t5", "check == l 0"),
        ("t5", "t6", "write 1 1"),
        ("t6", "t7", "unlock"),
        ("t7", "t8", "read p 0"),
        ("t8", "t9", "check == p 0"),
        ("t8", "t10", "check != p 0"),
        ("t9", "t10", "write 1 0"),
        ("t10", "t11", "write 0 1"),
        ("t11", "t0", "read p 0"),
    ]
    return _program(2, [(f"t{i}", steps) for i in range(processes)], start="t0")


def increase_sequence(processes: int) -> str:
    """One process counts in address 0, the others look twice."""
    counts: list[Step] = [
        ("q0", "q1", "local limit 10"),
        ("q1", "q2", "local i 1"),
        ("q2", "q3", "check <= i limit"),
        ("q3", "q4", "write i 0"),
        ("q4", "q3", "noop"),
        ("q3", "q5", "local i + 1 i"),
        ("q5", "q2", "noop"),
    ]
    looks: list[Step] = [("q0", "q1", "write 0 0"), ("q1", "q2", "read lval1 0"), ("q2", "q3", "read lval2 0")]
    return _program(1, [("t0", counts), *((f"t{i}", looks) for i in range(1, processes))])


def pgsql(processes: int) -> str:
    """Latches of PostgreSQL: half of the processes wait, half wake them. Address 0: latch; 1: work to do."""
    waiter: list[Step] = [
        ("q0", "q1", "write 0 0"),
        ("q1", "q2", "read toDo 1"),
        ("q2", "q3", "check == toDo 1"),
        ("q3", "q4", "write 0 1"),
        ("q2", "q4", "check != toDo 1"),
        ("q4", "q5", "read latch 0"),
        ("q5", "q4", "check == latch 0"),
        ("q5", "q6", "check != latch 0"),
        ("q6", "q0", "noop"),
    ]
    waker: list[Step] = [
        ("q0", "q1", "write 1 1"),
        ("q1", "q2", "read latch 0"),
        ("q2", "q3", "check != latch 1"),
        ("q3", "q4", "write 1 0"),
        ("q2", "q4", "check == latch 1"),
        ("q4", "q0", "noop"),
    ]
    waiting = processes // 2
    waiters = [(f"waiter{i + 1}", waiter) for i in range(waiting)]
    return _program(2, [*waiters, *((f"waker{i + 1}", waker) for i in range(processes - waiting))])


def seqlock(processes: int) -> str:
    """Sequence locks: one reader, all others write. Address 0: counter; 1 and 2: data."""
    writer: list[Step] = [
        ("q0", "q1", "read counter 0"),
        ("q1", "q2", "write + 1 counter 0"),
        ("q2", "q3", "write 1 1"),
        ("q3", "q4", "write 1 2"),
        ("q4", "q5", "write + 2 counter 0"),
        ("q5", "q0", "noop"),
    ]
    reader: list[Step] = [
        ("q0", "q1", "read c0 0"),
        ("q1", "q1_0", "local c01 & c01 1"),
        ("q1_0", "q2", "check == c01 0"),
        ("q1_0", "q0", "check != c0 0"),
        ("q2", "q3", "read data1 1"),
        ("q3", "q4", "read data2 2"),
        ("q4", "q5", "read c01 0"),
        ("q5", "q0", "check != c01 c0"),
        ("q5", "q6", "check == c01 c0"),
        ("q6", "q0", "noop"),
    ]
    return _program(3, [*((f"writer{i}", writer) for i in range(1, processes)), ("reader1", reader)])


def _look(
    here: str,
    flags: Sequence[int],
    is_met: str,
    is_not: str,
    *,
    some: str,
    none: str,
    name: str = "flag_",
    at: str = "",
    first: int = 1,
) -> Iterable[Step]:
    """Read the flags one by one; go to `some` if one of them meets the condition, else to `none`."""
    if not flags:
        yield here, none, "noop"
        return
    places = [here, *(f"{at or here}{n}" for n in range(first, first + len(flags)))]
    for flag, before, after in zip(flags, places, places[1:], strict=False):
        yield before, after, f"read {name}{flag} {flag}"
    met = [is_met.format(f"{name}{flag}") for flag in flags]
    unmet = [is_not.format(f"{name}{flag}") for flag in flags]
    yield places[-1], some, f"check {_joined('||', met)}"
    yield places[-1], none, f"check {_joined('&&', unmet)}"


def _joined(operator: str, parts: list[str]) -> str:
    return " ".join([*([operator] * (len(parts) - 1)), *parts])


def _program(memory: int, threads: Iterable[tuple[str, Iterable[Step]]], *, start: str = "q0") -> str:
    lines = [f"memory_size {memory}"]
    for name, steps in threads:
        lines += ["", f"thread {name}", f"initial {start}"]
        lines += [f"transition {source} {target} {what}" for source, target, what in steps]
        lines.append("end")
    return "\n".join(lines) + "\n"


FAMILIES: dict[str, Callable[[int], str]] = {
    "burns": burns,
    "dclocking": dclocking,
    "dijkstra": dijkstra,
    "increase-sequence": increase_sequence,
    "partial-dekker": partial_dekker,
    "pgsql": pgsql,
    "seqlock": seqlock,
    "szymanski": szymanski,
}

if __name__ == "__main__":
    sys.stdout.write(FAMILIES[sys.argv[1]](int(sys.argv[2])))
