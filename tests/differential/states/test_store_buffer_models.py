"""The paper's transformed DVE model under SC against the source under TSO/var(1): the same reachable states.

A state of the transformed model is read back as one of the source: the ring `queue_P` from `head_P` to `tail_P` with
the values in `sb_x_P` is the store buffer of P. Rotations of the ring are one state then.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from memfence.diagnostics import InputError
from memfence.frontends import dve
from memfence.models.sc import Sc
from memfence.models.spec import ModelName
from memfence.models.state import State
from memfence.passes.atomic_writes import AtomicWrite, WaitsFor, with_atomic_writes, writes_of
from memfence.program.ir import Ltl, Program
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from memfence.translation.dve import render_store_buffer_model
from support.corpus import CORPUS
from support.models import memory_model
from twins.reference_search import explore, reachable

TSO_VAR = memory_model("tso", bound=1, per_variable=True)

FIGURE_1 = """
int x = 0, y = 0;
process A { state q0, q1, q2; init q0; trans q0 -> q1 { effect x = 1; }, q1 -> q2 { effect y = 1; }; }
process B { state q0, q1; init q0; trans q0 -> q1 { guard x == 1; effect y = y * 2; }; }
system async;
"""
FIGURE_6 = """
byte x = 0; byte y = 0;
process A { state a1, a2, a3; init a1; trans a1 -> a2 { effect x = x + 1; }, a2 -> a3 { effect y = y + 1; }; }
process B { state b1, b2, b3; init b1; trans b1 -> b2 { effect x = x + 1; }, b2 -> b3 { effect y = y + 1; }; }
system async;
"""
PETERSON = """
byte flag[2], turn;
process P { state n, w, q, cs; init n; trans
  n -> w { effect flag[0] = 1; }, w -> q { effect turn = 1; },
  q -> cs { guard flag[1] == 0 or turn == 0; }, cs -> n { effect flag[0] = 0; }; }
process Q { state n, w, q, cs; init n; trans
  n -> w { effect flag[1] = 1; }, w -> q { effect turn = 0; },
  q -> cs { guard flag[0] == 0 or turn == 1; }, cs -> n { effect flag[1] = 0; }; }
system async;
"""
SEVERAL_EFFECTS = """
byte x, y = 1, a[2], k;
process P { byte r; state s, t; init s; trans
  s -> t { guard x + y < 9 and a[k] < 3; effect x = y, y = x + 1, x = x + y, r = x; },
  t -> s { guard r - 1; effect a[k] = r % 3, r = a[k] + a[0] + 1, k = 1 - k; }; }
process Q { byte r; state s, t; init s; trans
  s -> t { guard a[1] == 0; effect a[1] = 2, r = a[1] + x; }, t -> s { guard x > 2; effect x = 1, r = 0; }; }
system async;
"""
CHANNELS = """
channel c; channel {byte} d[1]; byte x, f[2];
process S { byte n; state s, t; init s; trans s -> t { guard n < 2; sync c!x + n; effect n = n + 1; },
  t -> s { sync d!x; effect x = 1; }; }
process R { byte k, r; state s, t; init s; trans s -> t { sync c?f[k]; effect k = 1 - k; },
  t -> s { sync d?x; effect r = x + f[0]; }; }
system async;
"""
TEXTS = {
    "figure 1": FIGURE_1,
    "figure 6": FIGURE_6,
    "peterson": PETERSON,
    "several effects": SEVERAL_EFFECTS,
    "channels": CHANNELS,
}


def without_scratch(program: Program, state: State, processes: int) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(v for r, v in zip(program.processes[p].registers, state.registers[p], strict=True) if not r.transient)
        for p in range(processes)
    )


def read_back(source: Program, transformed: Program, state: State) -> object:
    """The state of the source that a state of the transformed model stands for."""
    value = {variable.name: state.memory[n] for n, variable in enumerate(transformed.variables)}
    buffers = []
    for process in source.processes:
        ring = [v for n, v in value.items() if n.startswith(f"queue_{process.name}[")]
        entries = []
        place = value.get(f"head_{process.name}", 0)
        while place != value.get(f"tail_{process.name}", 0):
            name = source.variables[ring[place]].name
            stem, bracket, index = name.partition("[")
            assert value[f"i_{stem}_{process.name}{bracket}{index}"] == 1
            entries.append((ring[place], value[f"sb_{stem}_{process.name}{bracket}{index}"]))
            place = (place + 1) % len(ring)
        buffers.append(tuple(entries))
    count = len(source.processes)
    memory = tuple(value[variable.name] for variable in source.variables)
    return state.locations[:count], without_scratch(transformed, state, count), memory, tuple(buffers)


def check_same_states(
    source: Program, atomic: Iterable[AtomicWrite] = (), waits_for: WaitsFor = "own"
) -> tuple[int, int]:
    """Check that both sides reach the same states; how many, on each side."""
    atomic = tuple(atomic)
    text = render_store_buffer_model(source, atomic, waits_for=waits_for)
    transformed = dve.parse(SourceText("transformed.dve", text))
    expected = explore(with_atomic_writes(source, atomic, waits_for=waits_for), TSO_VAR)
    found = explore(transformed, Sc())
    count = len(source.processes)
    ours = {
        (s.locations, without_scratch(source, s, count), s.memory, tuple(b for (b,) in s.buffers))
        for s in expected.states
    }
    assert {read_back(source, transformed, state) for state in found.states} == ours
    assert bool(expected.failures) == bool(found.failures)
    return len(ours), len(found.states)


@pytest.mark.parametrize("name", TEXTS)
def test_the_transformed_model_reaches_the_same_states(name: str) -> None:
    states, _ = check_same_states(dve.parse(SourceText("source.dve", TEXTS[name])))
    assert states > 10


@pytest.mark.parametrize("waits_for", ["own", "all"])
@pytest.mark.parametrize("name", TEXTS)
def test_it_does_so_with_any_one_write_atomic(name: str, waits_for: WaitsFor) -> None:
    program = dve.parse(SourceText("source.dve", TEXTS[name]))
    for write in writes_of(program):
        check_same_states(program, [write], waits_for)


@pytest.mark.parametrize("name", TEXTS)
def test_with_all_writes_atomic_only_the_states_of_sc_are_left(name: str) -> None:
    program = dve.parse(SourceText("source.dve", TEXTS[name]))
    every = {AtomicWrite(write.process, write.transition) for write in writes_of(program)}
    states, transformed = check_same_states(program, every)
    assert states == transformed == len(reachable(program, Sc()))


QUESTIONS = [
    ("figure 6", "F (x == 2 && y > 0)"),
    ("figure 6", "F (x > 0 && y > 0)"),
    ("figure 1", "G (y == 1 -> F y != 1)"),
    ("peterson", "G !(P@cs && Q@cs)"),
    ("peterson", "G (P@q -> F P@cs)"),
    ("peterson", "GF (P@q || Q@q)"),
]


@pytest.mark.parametrize("atomic", [0, 1, 2])
@pytest.mark.parametrize(("name", "formula"), QUESTIONS)
def test_both_get_the_same_verdict(name: str, formula: str, atomic: int) -> None:
    """The transformed model is fair by premise: formula V of the paper."""
    source = dve.parse(SourceText("source.dve", TEXTS[name]))
    writes = writes_of(source)[:atomic]
    text = render_store_buffer_model(source, writes)
    transformed = dve.parse(SourceText("transformed.dve", text))
    indicators = [variable.name for variable in transformed.variables if variable.name.startswith("i_")]
    premises = " && ".join(f"GF ({name} == 0)" for name in indicators)
    ours = verdict(with_atomic_writes(source, writes), "tso", formula)
    theirs = verdict(transformed, "sc", f"({premises}) -> ({formula})")
    assert ours == theirs


def verdict(program: Program, model: ModelName, formula: str) -> bool:
    ltl = Ltl("ltl", formula)
    result = check(program, CheckOptions(model=model, ltl=ltl, buffer_bound=None if model == "sc" else 1))
    assert result.verdict is not Verdict.UNKNOWN
    return result.verdict is Verdict.VIOLATED


def test_reading_from_either_place_makes_two_transitions_of_one() -> None:
    text = render_store_buffer_model(dve.parse(SourceText("source.dve", FIGURE_6)))
    process = text[text.index("process A") : text.index("process B")]
    assert process.count("->") == 2  # each reads what it writes, and waits: only one place is possible
    peterson = render_store_buffer_model(dve.parse(SourceText("source.dve", PETERSON)))
    process = peterson[peterson.index("process P") : peterson.index("process Q")]
    assert process.count("q -> cs") == 2  # `turn` may be pending; `flag[1]` is never written by P
    assert "guard (i_turn_P == 1) and ((flag[1] == 0) or (sb_turn_P == 0))" in process


SMALL = [
    "anderson/anderson.2",
    "bakery/bakery.2",
    "fischer/fischer.1",
    "mcs/mcs.2",
    "phils/phils.1",
    "needham/needham.1",
]


@pytest.mark.parametrize("name", SMALL)
def test_corpus_models_are_transformed_and_read_again(name: str) -> None:
    path = CORPUS / "beem" / f"{name}.dve"
    if not path.exists():
        pytest.skip("corpus not found at ../shared/corpus")
    program = dve.parse(SourceText(str(path), path.read_text()))
    text = render_store_buffer_model(program)
    transformed = dve.parse(SourceText("transformed.dve", text))
    assert len(transformed.processes) == len(program.processes) + 1


def test_what_cannot_be_transformed_is_refused() -> None:
    commit = "process P { state a; init a; commit a; } system async;"
    index = "byte a[2], k; process P { state s; init s; trans s -> s { effect k = 1 - k, a[k] = 1; }; } system async;"
    for text in (commit, index):
        with pytest.raises(InputError):
            render_store_buffer_model(dve.parse(SourceText("source.dve", text)))
    with pytest.raises(InputError):
        render_store_buffer_model(Program("other", (), (), source=SourceText("other.pml", "x")))
