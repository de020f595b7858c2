"""Programs as C: what the processor does with them is what the models allow."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings

from memfence.diagnostics import InputError
from memfence.models.spec import TSO
from memfence.pipeline import load
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import TRUE, At, Const, Expr, RegisterOf, Shared, variable_address
from memfence.program.ir import Assume, Domain, Program, SharedVar, Store
from memfence.questions import check
from memfence.report.describe import hardware
from memfence.silicon.c_code import expression, literal, wide
from memfence.silicon.conform import conform
from memfence.silicon.from_run import experiment_of_run
from memfence.silicon.harness import WRAPPED, Experiment, render_harness
from memfence.silicon.machine import build, processors, read_counts, run
from memfence.silicon.reproduce import Seen, StressOptions, reproduce, stressed
from memfence.source import NOWHERE
from memfence.tasks.options import CheckOptions
from support.generators.cycles import cycles
from support.generators.programs import EVERYTHING, Shape, programs
from support.generators.wide_expressions import REGISTERS, WHOLE, random_expression, random_value, value_of
from twins.reference_search import outcomes

ROOT = Path(__file__).resolve().parents[3]
BRIEFLY = StressOptions(seconds=0.02)
ALONE = Shape(processes=(1, 1), statements=(3, 5), features=EVERYTHING - {"loops", "waits", "choices", "initial"})

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def looking_at_everything(program: Program) -> Experiment:
    """Every register, then every variable: what the reference search calls an outcome."""
    registers: list[tuple[str, Expr]] = [
        (f"{process.name}.{register.name}", RegisterOf(p, r))
        for p, process in enumerate(program.processes)
        for r, register in enumerate(process.registers)
        if not register.transient
    ]
    memory = [(v.name, Shared(variable_address(n))) for n, v in enumerate(program.variables)]
    return Experiment(program, (*registers, *memory), TRUE)


def expected(program: Program) -> set[tuple[int, ...]]:
    return {
        (*(v for own in registers for v in own), *memory) for registers, memory in outcomes(program, TSO.definition)
    }


@given(programs(ALONE))
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_one_process_computes_what_the_model_says(program: Program) -> None:
    try:
        text = render_harness(looking_at_everything(program), "a test")
    except InputError:
        return
    counted = stressed(text, "alone", BRIEFLY)
    assert {values for values, _, _ in counted.outcomes} == expected(program)


@pytest.mark.parametrize("cycle", list(cycles(4))[::40], ids=lambda cycle: cycle.name)
def test_nothing_is_seen_that_the_model_does_not_allow(cycle) -> None:
    program = cycle.program()
    counted = stressed(render_harness(looking_at_everything(program), cycle.name), "cycle", BRIEFLY)
    assert counted.rounds > 0
    assert {values for values, _, _ in counted.outcomes} <= expected(program)


def test_the_c_file_stands_alone_and_has_no_warnings(tmp_path: Path) -> None:
    shapes = [cycle.program() for cycle in list(cycles(4))[::60]]
    for number, program in enumerate(shapes):
        source = tmp_path / f"test{number}.c"
        source.write_text(render_harness(looking_at_everything(program), "a test"))
        command = ["cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-c", "-o", "/dev/null"]
        done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_the_run_that_was_found_is_what_is_looked_for() -> None:
    result = check(load(ROOT / "examples" / "lost_wakeup.pml"), CheckOptions(model="tso"))
    assert result.trace is not None
    experiment = experiment_of_run(result.trace)
    assert [name.split(" (")[0] for name, _ in experiment.observed] == ["waiter reads work", "producer reads waiting"]
    allowed = outcomes(experiment.program, TSO.definition)
    assert (((0,), (0,)), (1, 1)) in {(registers, memory[:2]) for registers, memory in allowed}
    assert experiment.program.processes[0].name == "waiter"


def test_somebody_who_only_looks_at_the_end_need_not_run_beside_the_others() -> None:
    if not (ROOT / "examples" / "c").is_dir() or importlib.util.find_spec("ziglang") is None:
        pytest.skip("no clang")
    result = check(load(ROOT / "examples" / "c" / "postgresql_latch.c"), CheckOptions(model="tso"))
    assert result.trace is not None and len(result.program.processes) == 3
    experiment = experiment_of_run(result.trace)
    assert [process.name for process in experiment.program.processes] == ["set_latch", "wait_loop"]


def test_a_program_that_holds_has_nothing_to_reproduce() -> None:
    program = load(ROOT / "examples" / "message_passing.pml")
    found = reproduce(program, CheckOptions(model="tso"), BRIEFLY)
    assert found.verdict is Seen.NEVER and found.counted is None


def test_a_step_that_looks_at_others_is_refused_by_name() -> None:
    looks, other = ProcessBuilder("P", "P"), ProcessBuilder("Q", "Q")
    looks.emit(looks.location(), looks.location(), Assume(At(1, frozenset({0}))))
    other.emit(other.location(), other.location(), Store(variable_address(0), Const(1)))
    program = Program("made", (SharedVar("x", Domain(0, 1)),), (looks.build(0), other.build(0)))
    with pytest.raises(InputError, match="looks at other processes"):
        render_harness(looking_at_everything(program), "a test")


def test_a_litmus_test_is_compared_with_both_models(tmp_path: Path) -> None:
    chosen = next(cycle for cycle in cycles(4) if cycle.is_allowed("tso") and not cycle.is_allowed("sc"))
    path = tmp_path / "sb.litmus"
    path.write_text(chosen.litmus())
    found = conform(path, BRIEFLY, timeout_seconds=10)
    assert found.refused == "" and found.outside == ()
    assert found.sc < found.tso
    assert replace(found, tso=frozenset()).outside == tuple(values for values, _ in found.observed)


def test_what_is_no_litmus_test_is_not_run() -> None:
    found = conform(ROOT / "examples" / "lost_wakeup.pml", BRIEFLY)
    assert found.refused and found.observed == ()


def test_counts_are_read_as_they_are_written() -> None:
    counted = read_counts("strategy in step|10|3|0.5\nstrategy packed|5|0|0.25\noutcome 3 1 0 -1\noutcome 12 0 1 1\n")
    assert (counted.rounds, counted.wanted, counted.seconds, counted.best.name) == (15, 3, 0.75, "in step")
    assert counted.outcomes == (((0, -1), 3, True), ((1, 1), 12, False))


def test_a_compiler_that_refuses_is_a_message(tmp_path: Path) -> None:
    (tmp_path / "bad.c").write_text("int main(void) { return }\n")
    with pytest.raises(InputError, match="the C compiler refuses"):
        build(tmp_path / "bad.c", tmp_path / "bad")


def test_a_number_of_runs_is_a_limit(tmp_path: Path) -> None:
    program = next(iter(cycles(4))).program()
    source = tmp_path / "few.c"
    source.write_text(render_harness(looking_at_everything(program), "few"))
    build(source, tmp_path / "few")
    assert run(tmp_path / "few", 60.0, 1, runs=20_000).rounds < 2_000_000


def test_with_one_processor_nothing_is_concluded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = [conform(ROOT / "examples" / "lost_wakeup.pml", BRIEFLY)]
    assert "nothing can be concluded" not in hardware.conformance_text(found, width=100) or processors() < 2
    monkeypatch.setattr(hardware, "processors", lambda: 1)
    assert "nothing can be concluded" in hardware.conformance_text(found, width=100)


def test_the_processor_computes_with_wide_values_what_the_reference_computes(tmp_path: Path) -> None:
    random, lines, wanted = Random(4), list[str](), list[int]()
    while len(wanted) < 300:
        expr = random_expression(random, random.randint(1, 3))
        values = [random_value(random) for _ in range(REGISTERS)]
        number = value_of(expr, values)
        if number is None:
            continue
        given = {f"r{n}": literal(value) for n, value in enumerate(values)}
        text = expression(expr, lambda index: wide(f"r{index}", WHOLE), NOWHERE)
        declared = " ".join(f"volatile value {name} = {value};" for name, value in given.items())
        used = "".join(f" (void){name};" for name in given)
        lines.append(f'  {{ {declared}{used} printf("%lld\\n", (long long)wrapped({text}, INT64_MIN, INT64_MAX)); }}')
        wanted.append(WHOLE.fit(number))
    types = "typedef int64_t value; typedef __int128 wide;"
    source = tmp_path / "wide.c"
    head = f"#include <stdint.h>\n#include <stdio.h>\n{types}\n{WRAPPED}\nint main(void) {{\n"
    source.write_text(head + "\n".join(lines) + "\n  return 0;\n}\n")
    subprocess.run(["cc", "-w", "-fwrapv", "-o", str(tmp_path / "wide"), str(source)], check=True)
    found = subprocess.run([str(tmp_path / "wide")], check=True, capture_output=True, text=True).stdout
    assert list(map(int, found.split())) == wanted
