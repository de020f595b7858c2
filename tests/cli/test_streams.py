"""Where output goes and how a run ends early: full or closed streams, terminals without a size, signals, files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from memfence.cli import terminal
from memfence.cli.interruption import interrupted_object
from memfence.deadline import Deadline, TimeUp
from memfence.report.schemas import json_schema, schema_names
from support.interruptible import start

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = "examples/lost_wakeup.pml"
LONG = "int x;\nactive proctype A() { do :: x < 60000 -> x = x + 1 :: else -> break od; assert(x < 60000) }\n"


def memfence(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memfence", *map(str, arguments)]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(command, text=True, cwd=ROOT, **options)


@pytest.mark.parametrize("columns", [0, 1, 19])
def test_a_terminal_without_a_size_has_the_default_width(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "stdout", sys.__stdout__)
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((columns, 24)))
    assert terminal.width() == terminal.DEFAULT_WIDTH


def test_a_width_that_is_asked_for_is_never_too_small_to_write_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "1")
    assert terminal.width() == terminal.LEAST_WIDTH


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a system without /dev/full")
@pytest.mark.parametrize("options", [[], ["--json"], ["-q"]])
def test_a_full_disk_is_not_our_fault(options: list[str]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = memfence("check", EXAMPLE, *options, stdout=full)
    assert done.returncode == 2
    assert done.stderr == "memfence: cannot write to standard output: No space left on device\n"


def test_closed_streams_are_not_our_fault() -> None:
    command = f"{sys.executable} -m memfence check {EXAMPLE} -q"
    closed = subprocess.run(f"{command} >&-", shell=True, capture_output=True, text=True, cwd=ROOT)
    assert (closed.returncode, closed.stderr) == (2, "memfence: cannot write to standard output: it is closed\n")
    silent = subprocess.run(f"{command} 2>&-", shell=True, capture_output=True, text=True, cwd=ROOT)
    assert silent.returncode == 1 and "VIOLATED" in silent.stdout


def test_a_stream_that_knows_ascii_only_gets_ascii(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "100"}
    table = memfence("check", EXAMPLE, env=environment)
    assert table.returncode == 1 and table.stdout.isascii() and "-+-" in table.stdout
    named = tmp_path / "naïve-🔒.pml"
    named.write_text((ROOT / EXAMPLE).read_text())
    shown = memfence("check", named, "--json", env=environment)
    assert shown.returncode == 1 and shown.stdout.isascii()
    assert json.loads(shown.stdout)["file"] == str(named)


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("check", ["--html"]), ("check", ["--sarif"]), ("check", ["--junit"]), ("fix", ["-o"]), ("fix", ["--html"]),
        ("compare", ["--html"]), ("explore", ["--html"]), ("explore", ["--save-schedule"]),
        ("translate", ["--to", "dot", "-o"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["nowhere/out", "examples"])
def test_a_file_that_cannot_be_written_is_found_before_the_search(
    command: str, options: list[str], place: str, tmp_path: Path
) -> None:
    done = memfence(command, tmp_path / "not_even_there.pml", *options, place)
    if (command, options, place) == ("fix", ["-o"], "examples"):  # patched files go into a folder
        assert done.returncode == 3 and "No such file" in done.stderr
        return
    assert (done.returncode, done.stdout) == (2, "")
    assert f"cannot write `{place}`" in done.stderr


def started(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "memfence", *map(str, arguments)]
    return start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_search_is_a_clean_unknown(number: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "big.pml"
    names = "abcdef"
    path.write_text(f"int {', '.join(names)};\n" + "".join(
        f"active proctype P{name}() {{ do :: {name} < 1000 -> {name} = {name} + 1 :: else -> {name} = 0 od }}\n"
        for name in names
    ))  # fmt: skip
    process = started("check", path, "--forbid", "a == 1000 && b == 1000", "--reduce", "none", "--json")
    time.sleep(1.0)
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    value = json.loads(output)
    assert (process.returncode, errors) == (4, "")
    assert (value["verdict"], value["limit"], value["file"]) == ("unknown", "interrupted", str(path))


def interrupted_at_import(*arguments: str) -> subprocess.CompletedProcess[str]:
    """An interrupt while the commands are being imported."""
    script = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'typer': exec('raise KeyboardInterrupt')\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        f"sys.argv = ['memfence', *{arguments!r}]\n"
        "from memfence.cli.start import run\nrun()\n"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)


def test_an_interrupt_during_start_up_is_a_clean_unknown() -> None:
    plain = interrupted_at_import("check", EXAMPLE)
    assert (plain.returncode, plain.stdout, plain.stderr) == (4, "", "UNKNOWN: interrupted\n")
    value = json.loads(interrupted_at_import("check", EXAMPLE, "--model=pso", "--criterion", "robust", "--json").stdout)
    assert (value["file"], value["model"], value["criterion"]) == (EXAMPLE, "pso", "robust")


@pytest.mark.parametrize("command", ["check", "fix", "why", "compare", "explore", "monitor"])
def test_an_interruption_follows_the_schema_of_its_command(command: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json_schema(command)
    store = {json_schema(other)["$id"]: json_schema(other) for other in schema_names()}
    with warnings.catch_warnings(action="ignore"):
        resolver = jsonschema.RefResolver.from_schema(schema, store=store)
    value = interrupted_object([command, EXAMPLE, "--json"])
    jsonschema.Draft202012Validator(schema, resolver=resolver).validate(value)
    assert (value["verdict"], value["limit"]) == ("unknown", "interrupted")


def test_an_interrupt_ends_a_comparison_and_not_only_one_of_its_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    from memfence.pipeline import load
    from memfence.questions import compare
    from memfence.tasks.answer import Answer, Verdict
    from memfence.tasks.criterion import Criterion
    from memfence.tasks.evidence import Limit
    from memfence.tasks.limits import Cost, Limits, Stop
    from memfence.tasks.result import CheckResult, stats_of

    asked = []

    def interrupted(program: Any, options: Any) -> CheckResult:
        asked.append(options)
        answer = Answer(Verdict.UNKNOWN, Limit(Stop.CANCELLED, 0), "explicit", Cost())
        return CheckResult(program, "tso", Criterion.DRF, (), answer, Limits(), stats_of(Cost()))

    monkeypatch.setattr(compare, "check", interrupted)
    found = compare.compare(load(ROOT / EXAMPLE))
    assert len(asked) == 1 and len(found.rows) > 1
    assert {row.verdict for row in found.rows} == {Verdict.UNKNOWN} and found.is_interrupted


def test_time_that_is_up_ends_what_comes_after_the_search() -> None:
    deadline = Deadline(0.001)
    start = time.monotonic()
    with pytest.raises(TimeUp), deadline.enforced():
        while time.monotonic() - start < 30:
            pass
    assert time.monotonic() - start < 10


def test_a_long_run_that_cannot_be_replayed_in_time_is_unknown(tmp_path: Path) -> None:
    program, schedule = tmp_path / "long.pml", tmp_path / "schedule.json"
    program.write_text(LONG)
    depth = ("--depth", 400_000)
    assert memfence("explore", program, *depth, "--save-schedule", schedule, "-q").returncode == 1
    for options in (depth, ("--replay", schedule)):
        done = memfence("explore", program, *options, "--timeout", 0.01, "--json")
        value = json.loads(done.stdout)
        assert (done.returncode, value["verdict"], value["limit"]) == (4, "unknown", "timeout 0.01 s")


def test_traces_that_there_was_no_time_for_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from memfence.cli.explore import _save_traces
    from memfence.pipeline import load
    from memfence.questions.explore import ExploreOptions, explore
    from memfence.report.describe import explore_text

    result = explore(load(ROOT / EXAMPLE), ExploreOptions(save=2))
    monkeypatch.setattr(explore_text, "render_trace", lambda _: time.sleep(30))
    _save_traces(result, Deadline(0.01), tmp_path)
    assert list(tmp_path.iterdir()) == []
    left = result.counts.interleavings
    assert capsys.readouterr().err == f"0 traces written, {left} executions not: timeout 0.01 s\n"


def test_a_replay_reports_the_keys_of_an_exploration(tmp_path: Path) -> None:
    schedule = tmp_path / "schedule.json"
    memfence("explore", EXAMPLE, "--save-schedule", schedule, "-q")
    value = json.loads(memfence("explore", EXAMPLE, "--replay", schedule, "--json").stdout)
    assert {key: value[key] for key in json_schema("explore")["required"]} == {
        "verdict": "violated", "interleavings": 1, "borderline": 1, "bound": None
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (f"check {EXAMPLE}", 1), (f"check {EXAMPLE} --model sc", 0), (f"check {EXAMPLE} --json --model sc", 0),
        (f"fix {EXAMPLE}", 0), (f"compare {EXAMPLE}", 0), ("explain", 0), ("check --help", 0),
        ("check missing.pml --json", 3),
    ],
)  # fmt: skip
def test_a_closed_pipe_does_not_change_the_exit_code(line: str, code: int) -> None:
    reading, writing = os.pipe()
    os.close(reading)  # whoever read our output has seen enough: `memfence ... | true`
    with os.fdopen(writing, "w", encoding="utf-8") as closed:
        done = memfence(*line.split(), stdout=closed)
    assert (done.returncode, done.stderr) == (code, "")
