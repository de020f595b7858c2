"""Litmus tests made from cycles: prediction, axioms, explicit engine and litmus front end agree on every outcome."""

from __future__ import annotations

from collections import Counter

import pytest

from memfence import CheckOptions, check
from memfence.models.spec import SPECS, ModelName
from memfence.pipeline import load_text
from memfence.program.expressions import At, conjunction
from memfence.program.ir import Final, Program
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.task import Safety, Task
from support.engines import LIMITS, answers, outcomes_of
from support.generators.cycles import EDGES, REGISTERS, Cycle, cycles
from twins import axiomatic
from twins.reference_search import Outcome

MODELS: tuple[ModelName, ...] = ("sc", "tso", "pso")
SHARP = [edge for name, edge in EDGES.items() if not name.startswith(("MFencedR", "SFencedR", "Pos"))]
"""Without fences that order what is in order already: for cycles that are long, and many."""
PARTS = 8


def chosen(size: int) -> list[Cycle]:
    return list(cycles(size) if size <= 5 else cycles(size, SHARP))


def by_litmus(cycle: Cycle, program: Program, model: ModelName) -> set[Outcome]:
    """The final states that a check of the litmus test lists."""
    (condition,) = (stated for stated in program.properties if isinstance(stated, Final))
    result = check(program, CheckOptions(model=model))
    assert result.final_states is not None
    registers, memory = cycle.witness()
    names = [name for name, _ in condition.observed]
    states = [dict(zip(names, values, strict=True)) for values, _ in result.final_states]
    return {
        (
            tuple(tuple(s[f"{p}:{REGISTERS[n]}"] for n in range(len(values))) for p, values in enumerate(registers)),
            tuple(s[f"[x{n}]"] for n in range(len(memory))),
        )
        for s in states
    }


def check_cycle(cycle: Cycle) -> None:
    program, text = cycle.program(), cycle.litmus()
    from_text = load_text(SourceText(f"{cycle.name}.litmus", text))
    expected = axiomatic.outcomes(program)
    for model in MODELS:
        where = f"{cycle.name} under {model}\n{text}"
        assert (cycle.witness() in expected[model]) == cycle.is_allowed(model), where
        assert outcomes_of(program, SPECS[model]) == expected[model], where
        assert by_litmus(cycle, from_text, model) == expected[model], where


@pytest.mark.parametrize("part", range(PARTS))
def test_cycles_of_up_to_six_edges_are_seen_exactly_where_a_model_gives_up_an_edge(part: int) -> None:
    for cycle in [cycle for size in (3, 4, 5, 6) for cycle in chosen(size)][part::PARTS]:
        check_cycle(cycle)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_long_cycles_are_seen_exactly_where_a_model_gives_up_an_edge(part: int) -> None:
    for cycle in [*cycles(6), *chosen(7), *chosen(8)[::10]][part::PARTS]:
        check_cycle(cycle)


@pytest.mark.parametrize(("size", "count", "tso", "pso"), [(3, 4, 0, 0), (4, 156, 36, 69), (5, 340, 90, 154)])
def test_a_good_part_of_the_cycles_tells_the_models_apart(size: int, count: int, tso: int, pso: int) -> None:
    found = chosen(size)
    assert [sum(cycle.is_allowed(model) for cycle in found) for model in MODELS] == [0, tso, pso]
    assert len(found) == count


# The same with loops, so that buffers have no bound and no search over states is a proof.


def check_looping_cycle(cycle: Cycle) -> Counter[str]:
    """How many questions each engine has answered, rightly."""
    program = cycle.looping_program()
    last = [len(process.locations) - 1 for process in program.processes]
    goal = Safety(bad=conjunction(*(At(p, frozenset({at})) for p, at in enumerate(last))), failures=False)
    answered: Counter[str] = Counter()
    for name in MODELS:
        for engine, answer in answers(Task(program, SPECS[name], goal, LIMITS)).items():
            found = answer.verdict is Verdict.VIOLATED
            assert found == cycle.is_allowed(name), f"{engine}: {program.name} under {name}"
            answered[engine] += 1
    return answered


def check_looping_cycles(found: list[Cycle]) -> None:
    answered = sum((check_looping_cycle(cycle) for cycle in found), Counter[str]())
    assert answered["auto"] == 3 * len(found), answered
    assert answered["symbolic"] == 2 * len(found), answered
    assert answered["dual"] == len(found), answered


@pytest.mark.parametrize("size", [4, 5])
def test_with_loops_every_engine_says_what_the_cycle_predicts(size: int) -> None:
    check_looping_cycles([cycle for cycle in chosen(size) if cycle.is_seen_by_reads])


@pytest.mark.slow
def test_with_loops_every_engine_says_what_long_cycles_predict() -> None:
    check_looping_cycles([cycle for cycle in chosen(6) if cycle.is_seen_by_reads])


# Tests that everybody knows, by the names of the x86 literature, with the models that allow them.
KNOWN: dict[str, tuple[str, str]] = {
    "SB": ("PodWR Fre PodWR Fre", "tso pso"),
    "SB with one mfence": ("MFencedWR Fre PodWR Fre", "tso pso"),
    "SB with both mfences": ("MFencedWR Fre MFencedWR Fre", ""),
    "SB with sfences": ("SFencedWR Fre SFencedWR Fre", "tso pso"),
    "SB with exchanges": ("LockedWR Fre LockedWR Fre", ""),
    "SB with own reads": ("RfiPodRR Fre RfiPodRR Fre", "tso pso"),
    "MP": ("PodWW Rfe PodRR Fre", "pso"),
    "MP with sfence": ("SFencedWW Rfe PodRR Fre", ""),
    "LB": ("PodRW Rfe PodRW Rfe", ""),
    "R": ("PodWW Coe PodWR Fre", "tso pso"),
    "S": ("PodWW Rfe PodRW Coe", "pso"),
    "2+2W": ("PodWW Coe PodWW Coe", "pso"),
    "WRC": ("PodRW Rfe PodRR Fre Rfe", ""),
    "RWC": ("PodRR Fre PodWR Fre Rfe", "tso pso"),
    "IRIW": ("PodRR Fre Rfe PodRR Fre Rfe", ""),
    "CoRR": ("PosRR Fre Rfe", ""),
    "CoWR": ("PosWR Fre Coe", ""),
}


@pytest.mark.parametrize("name", KNOWN)
def test_the_prediction_for_a_known_test_is_the_known_one(name: str) -> None:
    edges, models = KNOWN[name]
    cycle = Cycle(tuple(EDGES[edge] for edge in edges.split()))
    assert [model for model in MODELS if cycle.is_allowed(model)] == models.split()
    check_cycle(cycle)


def test_the_text_of_a_cycle_is_a_litmus_test_as_people_write_it() -> None:
    cycle = Cycle(tuple(EDGES[name] for name in ("LockedWR", "Fre", "SFencedWW", "Coe")))
    assert cycle.litmus() == (
        "X86 LockedWR+Fre+SFencedWW+Coe\n"
        "{ }\n"
        " P0             | P1             ;\n"
        " MOV EAX,$2     | MOV [x0],$1    ;\n"
        " XCHG [x1],EAX  | SFENCE         ;\n"
        " MOV EBX,[x0]   | MOV [x1],$1    ;\n"
        "exists (0:EAX=1 /\\ 0:EBX=0 /\\ x0=1 /\\ x1=2)\n"
    )
