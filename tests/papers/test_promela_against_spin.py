"""The same file under Spin and under memfence's reference SC model: same verdict, same number of states.

The numbers differ by what `count_as_spin_does` adds, and by nothing else: Spin's processes die in a step of their own,
and `init` is a process even if it does nothing but start others.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from random_promela import random_model, random_program, random_timeouts
from spin import (
    count_as_spin_does,
    needs_spin,
    outcomes,
    run_spin,
    spin_finds_deadlock,
    spin_outcomes,
    spin_refutes_claim,
)

from memfence.frontends.frontend import EditKind
from memfence.frontends.promela import insert_fences, parse
from memfence.models.steps import evaluate_in
from memfence.pipeline import load, load_text
from memfence.program.ir import Invariant, Program
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.models import memory_model
from twins.reference_search import explore

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.pml"))

# One model a construct; a name that starts with `init` has an `init` that only starts processes.
MODELS = {
    "goto chains": """
        byte g;
        active [2] proctype C() {
            goto second;
            first: g = 4; goto third;
            second: goto first;
            third: skip
        }""",
    "jumps that begin an option": """
        byte g;
        active [2] proctype P() {
            do
            :: g < 3 -> g++
            :: goto out
            :: break
            od;
            g = 7;
            out: printf("%d", g)
        }""",
    "a loop inside an option": """
        byte x;
        active proctype P() {
            byte k;
            if
            :: goto L
            :: do :: x == 1 -> break :: x == 0 -> x = 1; k = 2 od
            :: x == 2 -> x++
            fi;
            L: x = 2;
            mm: goto L
        }
        active proctype Q() { do :: x > 0 -> x-- od }""",
    "an else inside the only option": """
        byte x, y;
        active proctype P() {
            byte k;
            do
            :: if :: x == 0 -> x = 1 :: x == 1 -> x = 2 :: else -> k = 5; break fi
            od
        }
        active proctype Q() { y = 1; if :: do :: y == 1 -> y = 2 :: else -> break od fi }""",
    "choices inside choices": """
        byte x; bit y;
        active [2] proctype P() {
            do
            :: if :: x == 0 -> x = 1 :: y == 1 -> y = 0 fi
            :: x == 1 -> if :: y = 1 :: else -> skip fi; x = 2
            :: else -> break
            od
        }""",
    "for and select": """
        byte x; byte a[3];
        active [2] proctype P() {
            byte k, i;
            select (k : 1 .. 3);
            for (i : 0 .. 2) { a[i] = a[i] + k; if :: i == k -> break :: else fi };
            for (i in a) { x = x + a[i] }
        }""",
    "wrap of every type": """
        bit b = 1; bool c = 2; byte d = 255; short s = 32767; unsigned u : 3 = 7; int i = 2147483647;
        active proctype P() {
            b++; c++; d++; s++; u++; i++;
            assert(b == 0 && c == 1 && d == 0 && s == -32768 && u == 0 && i < 0);
            d--; u--; s = 70000; d = 1000;
            assert(u == 7 && s == 4464 && d == 232)
        }""",
    "declarations between statements": """
        byte x;
        inline f(v) { byte q; q = q + v; x = q }
        active proctype P() {
            byte first;
            { byte block; block = block + 1; x = block };
            byte t, u = 2; t = x + t; f(u); first = t;
            if :: x == 1 -> byte w; w = w + 1 :: else fi
            again: { byte inner, other = 3; inner = inner + x; other = other + 1; assert(inner <= 6 && other == 4) }
            if :: x > 4 -> skip :: else -> x++; goto again fi;
            atomic { byte z; z = x; x = z }
        }
        active proctype Q() { if :: byte w; w = 1; x = w fi }""",
    "statements without separators": """
        byte x; bool b;
        active proctype P() {
            int i;
            for (i : 1 .. 3) { x = i }
            if :: x == 3 -> b = true; :: else fi
            do :: b -> break; od
            end: do :: x > 0 -> x-- :: x == 0 -> break od;
            accept_it: (x == 0) -> printf("hi\\n");
            assert(x == 0 && !b || b);
            x = (b -> 1 : 2);
            L1: L2: x = 3; if :: goto L1 :: x = 4 fi;
        }""",
    "names of an mtype": """
        mtype = { one, two, three };
        mtype = { four, five };
        mtype m = two;
        active proctype P() {
            assert(three == 1 && m == 2 && one == 3 && five == 4 && four == 5);
            m = five;
            if :: m == five -> m = one :: m == one -> assert(false) fi
        }""",
    "arrays with initial values": """
        int z[3] = {1, 2}; int y[3] = 4;
        active [2] proctype P() {
            byte loc[3] = 5; byte i = 1;
            assert(z[0] == 1 && z[2] == 2 && y[2] == 4 && loc[2] == 5);
            loc[i + 1] = z[i]; i = loc[2]; loc[i] = 9; i--;
            assert(loc[0] == 5 && loc[1] == 5 && loc[2] == 9);
            z[i] = loc[i]
        }""",
    "inlines with arguments, locals and labels": """
        #define TWICE(v) v + v
        byte g;
        inline add(n, where) { byte t = n; if :: t == 3 -> goto out :: else fi; where = where + t; out: skip }
        active [2] proctype P() { g = TWICE(1); int z = 5; add(2, g); add(3, g); assert(z == 5) }""",
    "atomic and d_step": """
        byte x, y;
        active [2] proctype P() {
            do
            :: atomic { x < 3 -> x++; y = x }
            :: d_step { y > 1 -> y = 0; if :: x > 0 -> x-- :: else fi }
            :: atomic { else -> break }
            od
        }""",
    "jumps out of an atomic": """
        byte x;
        active [2] proctype P() {
            again: do
            :: atomic { x < 2 -> x++; if :: x == 2 -> break :: else -> goto again fi }
            :: x == 2 -> break
            od;
            x = 1
        }""",
    "an atomic that touches nothing shared": """
        byte x;
        active [2] proctype P() { byte r; x = 1; atomic { r = 2 }; x = r }""",
    "lock and unlock": """
        #include "memfence.h"
        byte x;
        active [2] proctype P() { byte r; lock(); r = x; x = r + 1; unlock(); mfence(); assert(x > r); sfence() }""",
    "short circuits": """
        byte i, a[2];
        active [2] proctype P() {
            do
            :: i < 2 && a[i] == 0 -> a[i] = 1; i++
            :: i >= 2 || a[i] == 1 -> break
            od;
            a[0] = (i > 1 -> a[1] : a[0])
        }""",
    "conditions that wait for each other": """
        byte turn;
        active [3] proctype P() { do :: turn == _pid -> turn = (turn + 1) % 3 od }""",
    "a failing assertion": """
        byte x;
        active [2] proctype P() { byte r; r = x; x = r + 1; if :: _pid == 1 -> assert(x == 1) :: else fi }""",
    "records": """
        typedef Slot { byte value = 1; bit used[2] };
        typedef Ring { Slot slots[2]; byte head };
        Ring ring, rings[2];
        active proctype Producer() {
            byte i;
            for (i : 0 .. 1) { ring.slots[i].value = i + 5; ring.slots[i].used[1 - i] = 1; rings[i].head++ }
        }
        active proctype Consumer() {
            Slot mine[2];
            ring.slots[ring.head].used[1] == 1 -> mine[ring.head].value = ring.slots[ring.head].value;
            rings[1 - ring.head].slots[1].value = mine[0].value + mine[1].value;
            assert(mine[0].value == 5 && mine[1].value == 1 && rings[1].slots[0].value == 1)
        }""",
    "timeout": """
        byte x, y;
        active proctype P() { byte i; do :: i < 2 -> x++; i++; y == i :: else -> break od }
        active proctype Q() { do :: timeout -> y++; if :: y > 2 -> break :: else fi od }""",
    "init starts processes": """
        byte x, total[2] = 3;
        proctype P(byte me; byte step) { x = x + step; total[me - 1] = x }
        proctype Q() { do :: x > 2 -> x = 0 :: x == 0 -> break od }
        init { atomic { x = 1; total[1] = 4; run P(1, 2); run P(2, 1); run Q() } }""",
    "init starts processes in a loop": """
        byte x;
        proctype P(byte me) { assert(_pid == me + 1); x = me }
        init { byte i; atomic { for (i : 0 .. 2) { run P(i) } } }""",
    "init breaks out of a loop": """
        byte x;
        proctype P(byte me) { x = x + me; assert(me < 2) }
        init {
            byte i;
            atomic { for (i : 0 .. 9) { { byte k = i; run P(k) }; if :: i == 1 -> break :: else fi } }
        }""",
    "the only process is the first one": """
        byte x;
        init { byte i; do :: i < 5 -> if :: i == 2 -> break :: else -> skip fi; i++ :: else -> break od; x = i }""",
}  # fmt: skip

# Their numbers of states differ: in Spin what is inside these is no state, and `timeout` is false while a process that
# has ended can still be removed.
LOOPS_INSIDE = {
    "timeout beside others": """byte x, y, a[2];
        active [2] proctype P() {
            if
            :: a[1] == 1 && x > 0 -> x = 3
            :: timeout -> a[y % 2] = 1; y++
            :: x == 2 && timeout -> x = 4
            fi
        }
        active proctype Q() { if :: timeout -> x = 1 :: x > 0 -> skip fi; atomic { timeout -> x = 2; a[0] = 0 } }""",
    "the first option of a d_step": """byte x, y;
        active proctype P() {
            byte i;
            d_step { if :: x == 1 -> y = 3 :: x < 3 -> x++ :: x > 0 -> y = 1 :: else -> y = 2 fi };
            d_step { do :: i < 3 -> i++ :: i < 3 -> i = i + 2 :: else -> break od; y = i + x };
            if :: d_step { select (x : 2 .. 4) } :: d_step { y = 5; if :: skip :: x = 0 fi } fi
        }
        active proctype Q() { x++ }""",
    "an atomic with a loop that waits at its beginning": """byte x, y;
        active proctype P() { byte i; atomic { x == 1 -> do :: i < 2 -> i++ :: else -> break od; x = 2 } }
        active proctype Q() { x = 1; if :: atomic { do :: x == 2 -> x = 3; break :: y == 1 -> break od } :: y = 1 fi }
        active proctype R() { y++ }""",
    "a choice in a d_step beside other options": """byte x, y;
        active [2] proctype P() {
            if
            :: d_step { if :: x == 0 -> x = 2 :: x == 2 -> x = 3 :: x > 1 -> y = 7 fi }
            :: x == 2 -> d_step { do :: y > 2 -> break :: y == 1 -> y = 4 :: y < 2 -> y++ :: y = 5; break od; skip }
            :: else -> y = 1
            fi
        }""",
}  # fmt: skip


def violates(program: Program) -> bool:
    """Whether an assertion or an invariant fails under SC."""
    invariants = [prop.expr for prop in program.properties if isinstance(prop, Invariant)]
    found = explore(program, memory_model("sc"))
    return bool(found.failures) or any(
        not evaluate_in(program, s, 0, expr) for s in found.states for expr in invariants
    )


def write_model(name: str, folder: Path) -> Path:
    (folder / "memfence.h").write_text((EXAMPLES[0].parent / "memfence.h").read_text())
    path = folder / "model.pml"
    path.write_text(MODELS[name])
    return path


@needs_spin
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_as_many_states_and_the_same_verdict_as_under_spin(path: Path, tmp_path: Path) -> None:
    program = load(path)
    spin = run_spin(path, tmp_path, claim=bool(program.properties))
    assert (spin.errors > 0) == violates(program)
    # The claim of an invariant that holds never leaves its first state: it adds none.
    assert spin.states == count_as_spin_does(program)


@needs_spin
def test_spin_reads_what_fences_were_written_into(tmp_path: Path) -> None:
    text = (EXAMPLES[0].parent / "chase_lev.pml").read_text()
    source = SourceText("chase_lev.pml", text)
    places = [place for p in parse(source).processes for place in (*p.locations, *p.transitions)]
    points = dict.fromkeys(place.point for place in places if place.point is not None)
    kinds: tuple[EditKind, ...] = ("mfence", "sfence")
    fenced = insert_fences(source, [(point, kinds[i % 2]) for i, point in enumerate(points)])
    assert fenced.count("mfence();") > 3
    (tmp_path / "memfence.h").write_text((EXAMPLES[0].parent / "memfence.h").read_text())
    (tmp_path / "fenced.pml").write_text(fenced)
    spin = run_spin(tmp_path / "fenced.pml", tmp_path, claim=True)
    assert (spin.states, spin.errors) == (count_as_spin_does(load(tmp_path / "fenced.pml")), 0)


@needs_spin
@pytest.mark.parametrize("name", MODELS)
def test_a_model_has_as_many_states_and_the_same_verdict_as_under_spin(name: str, tmp_path: Path) -> None:
    path = write_model(name, tmp_path)
    program = load(path)
    spin = run_spin(path, tmp_path, claim=False)
    assert (spin.errors > 0) == violates(program)
    if not spin.errors:  # with -c0 Spin goes on behind a failed assertion, the models do not
        assert spin.states == count_as_spin_does(program, has_init=name.startswith("init"))


@needs_spin
@pytest.mark.parametrize("name", LOOPS_INSIDE)
def test_a_model_with_loops_in_atomic_steps_ends_as_under_spin(name: str, tmp_path: Path) -> None:
    program = parse(SourceText("model.pml", LOOPS_INSIDE[name]))
    found = spin_outcomes(LOOPS_INSIDE[name], ["x", "y"], tmp_path)
    assert found.values
    assert found == outcomes(program, ["x", "y"])


@needs_spin
@pytest.mark.parametrize(
    "formula",
    [
        "[] (x <= 1) && (y == 0)",
        "[] (x == 1) -> (y == 1)",
        "always ((x == 1) -> (y == 1))",
        "[] !(x == 1) || (y == 1)",
        "[] (y == 0) <-> (x == 0)",
        "!([] (y == 0)) && <> (x == 1)",
    ],
)
def test_a_formula_holds_if_it_does_under_spin(formula: str, tmp_path: Path) -> None:
    text = f"byte x, y; active proctype P() {{ y = 1; x = 1 }} ltl f {{ {formula} }}"
    result = check(load_text(SourceText("model.pml", text)), CheckOptions(model="sc"))
    assert (result.verdict is Verdict.VIOLATED) == spin_refutes_claim(text, tmp_path)


@needs_spin
@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(n, marks=pytest.mark.slow) for n in range(8, 300))])
def test_a_random_program_ends_as_under_spin(seed: int, tmp_path: Path) -> None:
    text = random_program(seed)
    names = ["x", "y", "a[0]", "a[1]"]
    found, mine = spin_outcomes(text, names, tmp_path), outcomes(parse(SourceText("model.pml", text)), names)
    assert found.fails == mine.fails, text
    if not found.fails:  # Spin goes on behind a failed assertion, the models do not
        assert found.values == mine.values, text


@needs_spin
@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(n, marks=pytest.mark.slow) for n in range(4, 200))])
def test_a_random_program_with_timeouts_ends_as_under_spin(seed: int, tmp_path: Path) -> None:
    text, names = random_timeouts(seed), ["x", "y", "a[0]", "a[1]"]
    assert spin_outcomes(text, names, tmp_path).values == outcomes(load_text(SourceText("m.pml", text)), names).values


@needs_spin
@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(n, marks=pytest.mark.slow) for n in range(4, 100))])
@pytest.mark.parametrize("label", ["L", "end_L"])
def test_a_random_model_has_a_deadlock_if_it_has_one_under_spin(label: str, seed: int, tmp_path: Path) -> None:
    text = random_model(seed).replace("L", label)
    program = load_text(SourceText("model.pml", text))
    result = check(program, CheckOptions(model="sc", deadlock=True))
    assert (result.verdict is Verdict.VIOLATED) == spin_finds_deadlock(text, tmp_path), text


@needs_spin
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_a_random_model_has_as_many_states_as_under_spin(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "model.pml"
    path.write_text(random_model(seed))
    assert run_spin(path, tmp_path, claim=False).states == count_as_spin_does(load(path))
