"""Exit codes 0 and 1 are verdicts: nothing but a verdict ends a command with one of them."""

from __future__ import annotations

import asyncio
import errno
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from memfence.cli.exit_codes import Exit
from support.command_line import ROOT, memfence

EXAMPLE = "examples/lost_wakeup.pml"


class Unusual(BaseException):
    """As panics of libraries in Rust are."""


def from_a_library(code: object) -> Callable[[], None]:
    def end() -> None:
        sys.exit(code)  # type: ignore[arg-type]

    return end


def raising(problem: BaseException) -> Callable[[], None]:
    def end() -> None:
        raise problem

    return end


ENDS: dict[str, Callable[[], None]] = {
    **{f"sys.exit({code!r})": from_a_library(code) for code in (0, 1, None, True, False, "no raylet", 3, 255, 1.5)},
    "EOFError": raising(EOFError("a file is cut off")),
    "Abort": raising(typer.Abort()),
    "Exit(1) that is no verdict": raising(typer.Exit(1)),
    "ImportError": raising(ImportError("no module named x")),
    "RecursionError": raising(RecursionError()),
    "SyntaxError": raising(SyntaxError("in generated code")),
    "StopIteration": raising(StopIteration()),
    "GeneratorExit": raising(GeneratorExit()),
    "CancelledError": raising(asyncio.CancelledError()),
    "BaseException": raising(Unusual("panic")),
    "OSError": raising(OSError(errno.EIO, "input or output", "/somewhere")),
    "RuntimeError": raising(RuntimeError("nothing known")),
    "ExceptionGroup": raising(ExceptionGroup("several", [ValueError("one")])),
}


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_what_a_library_does_is_no_verdict(
    name: str, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memfence.api.check.asked", lambda *_, **__: ENDS[name]())
    done = memfence("check", EXAMPLE, *options)
    assert done.returncode == Exit.INTERNAL
    assert "internal error" in done.stderr and "This is a fault of memfence" in done.stderr
    assert done.stdout == ""


def test_memory_that_ends_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memfence.api.check.asked", lambda *_, **__: raising(MemoryError())())
    assert memfence("check", EXAMPLE).returncode == Exit.UNKNOWN


def test_an_interrupt_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memfence.api.check.asked", lambda *_, **__: raising(KeyboardInterrupt())())
    assert memfence("check", EXAMPLE).returncode == Exit.UNKNOWN


def test_output_that_nobody_takes_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = BrokenPipeError(errno.EPIPE, "Broken pipe")
    monkeypatch.setattr("memfence.report.describe.check.render_text", lambda *_, **__: raising(problem)())
    assert memfence("check", EXAMPLE).returncode == Exit.USAGE


@pytest.mark.parametrize(
    "line", ["--help", "--version", "check --help", "examples", "explain", "cost --default", "bench tables --list"]
)
def test_what_asks_for_no_verdict_ends_well(line: str) -> None:
    assert memfence(*line.split()).returncode == 0


@pytest.mark.parametrize("line", ["nonsense", "check", "check --nonsense", "check x y --model nonsense"])
def test_wrong_usage_is_no_verdict(line: str) -> None:
    assert memfence(*line.split()).returncode == Exit.USAGE


def started(code: str, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code + "\nfrom memfence.cli.start import run\nrun()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)


@pytest.mark.parametrize("broken", ["memfence.cli.main", "typer", "memfence.cli.check", "memfence.api.check"])
def test_an_installation_that_lacks_something_gives_no_verdict(broken: str) -> None:
    done = started(f"import sys; sys.modules[{broken!r}] = None", "check", EXAMPLE)
    assert (done.returncode, done.stdout) == (Exit.INTERNAL, "")
    assert "internal error" in done.stderr and "Traceback" not in done.stderr


def test_errors_that_cannot_be_told_are_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "wrong.pml").write_text("no program")
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "memfence", "check", str(tmp_path / "wrong.pml")]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, timeout=120)
    assert done.returncode not in (Exit.HOLDS, Exit.VIOLATED)
