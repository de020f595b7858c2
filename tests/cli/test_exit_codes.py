"""One table of exit codes for every verb and option: what scripts rely on."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from memfence.cli.app import app
from memfence.cli.exit_codes import MEANINGS, Exit
from memfence.cli.main import add_verbs
from support.command_line import ROOT, memfence

MODEL = ROOT / "examples/lost_wakeup.pml"
FILE_VERBS = ("check", "fix", "why", "compare", "explore", "translate")
EXTRA = {"translate": ("--to", "dot")}
add_verbs([])


def command(name: str) -> Any:
    group: Any = typer.main.get_command(app)
    return group.commands[name]


def options() -> list[tuple[str, Any]]:
    """Every option of every verb that works on a program."""
    return [(verb, one) for verb in FILE_VERBS for one in command(verb).params if one.param_type_name == "option"]


def numbers() -> list[tuple[str, Any]]:
    return [(verb, one) for verb, one in options() if one.type.name in ("integer range", "float range")]


def identify(value: Any) -> str:
    return value if isinstance(value, str) else str(value.opts[-1])


def test_every_exit_code_says_what_it_means() -> None:
    assert set(MEANINGS) == set(Exit)
    readme = (ROOT / "README.md").read_text()
    for code, meaning in MEANINGS.items():
        assert f"{code:d} {meaning}" in readme
        assert f"{code:d} {meaning}" in " ".join(memfence("--help").stdout.split())


@pytest.mark.parametrize("verb", FILE_VERBS)
def test_a_file_that_is_not_there_or_is_no_text_is_bad_input(verb: str, tmp_path: Path) -> None:
    binary = tmp_path / "binary.pml"
    binary.write_bytes(b"\xff\xfe\x00")
    for place in (tmp_path / "missing.pml", tmp_path, binary):
        done = memfence(verb, place, *EXTRA.get(verb, ()))
        assert (done.returncode, done.stdout) == (Exit.BAD_INPUT, "")
        assert "error[MF002]" in done.stderr


@pytest.mark.parametrize("verb", FILE_VERBS)
def test_a_file_that_may_not_be_read_is_bad_input(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read everything, whatever the file says
    monkeypatch.setattr("memfence.pipeline.read_bytes", refuse)
    done = memfence(verb, MODEL, *EXTRA.get(verb, ()))
    assert (done.returncode, done.stdout) == (Exit.BAD_INPUT, "")
    assert "Permission denied" in done.stderr


NAMED_IN_THE_TEXT = {
    "--any-number", "--final", "--forbid", "--invariant", "--language", "--ltl", "--replay", "--run", "-D",
}  # fmt: skip
"""Their words mean something in the program, so that a wrong one is bad input."""


@pytest.mark.parametrize(("verb", "option"), options(), ids=identify)
def test_nonsense_is_wrong_usage_or_bad_input_and_never_our_fault(verb: str, option: Any, tmp_path: Path) -> None:
    model = tmp_path / "model.pml"
    model.write_text(MODEL.read_text())  # some options write to it
    name = option.opts[-1]
    word = (name,) if option.is_flag else (name, "?")
    code = memfence(verb, model, *EXTRA.get(verb, ()), *word, "--no-such-option", folder=tmp_path).returncode
    assert code == Exit.USAGE
    code = memfence(verb, model, *EXTRA.get(verb, ()), *word, folder=tmp_path).returncode
    needs_another = (verb, name) == ("translate", "--replay")
    if option.type.name in ("choice", "integer range", "float range") or needs_another:
        assert code == Exit.USAGE
    elif name in NAMED_IN_THE_TEXT:
        assert code == Exit.BAD_INPUT
    else:
        assert code in (Exit.HOLDS, Exit.VIOLATED, Exit.USAGE)


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "99999999999999999999"])
@pytest.mark.parametrize(("verb", "option"), numbers(), ids=identify)
def test_a_number_out_of_range_is_wrong_usage_and_never_our_fault(verb: str, option: Any, value: str) -> None:
    done = memfence(verb, MODEL, *EXTRA.get(verb, ()), option.opts[-1], value)
    assert done.returncode == Exit.USAGE, done.stderr
    assert option.opts[-1] in done.stderr


def test_a_bound_beyond_what_the_core_counts_is_wrong_usage() -> None:
    done = memfence("check", MODEL, "--buffer-bound", 99999999999)
    assert done.returncode == Exit.USAGE and "--buffer-bound" in done.stderr


@pytest.mark.parametrize("verb", ["check", "monitor", "why"])
@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a system without /dev/zero")
def test_a_file_without_an_end_is_bad_input_under_a_limit_of_memory(verb: str) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1_000_000_000, 1_000_000_000))

    line = [sys.executable, "-m", "memfence", verb, "/dev/zero"]
    done = subprocess.run(line, capture_output=True, text=True, cwd=ROOT, preexec_fn=limited, timeout=120)
    assert (done.returncode, done.stdout) == (Exit.BAD_INPUT, ""), done.stderr[-500:]
    assert "error[MF" in done.stderr


def test_too_little_memory_for_python_itself_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise MemoryError

    monkeypatch.setattr("memfence.pipeline.read_bytes", fail)
    done = memfence("check", MODEL)
    assert done.returncode == Exit.UNKNOWN
    assert "UNKNOWN: out of memory" in done.stderr


@pytest.mark.parametrize("verb", ["check", "fix", "why", "compare", "explore"])
def test_the_time_limit_holds_while_the_program_is_read(verb: str, tmp_path: Path) -> None:
    large = tmp_path / "large.pml"
    large.write_text("int x;\nactive proctype A() {\n" + "x = 1;\n" * 100_000 + "assert(x == 1) }\n")
    done = memfence(verb, large, "--timeout", "0.3")
    assert done.returncode == Exit.UNKNOWN, done.stderr[-500:]
    assert "timeout 0.3 s" in done.stdout + done.stderr


def test_the_time_limit_holds_between_reading_and_searching(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr("memfence.questions.safety.with_first_values", endless)
    done = memfence("check", MODEL, "--timeout", "0.2")
    assert done.returncode == Exit.UNKNOWN
    assert "timeout 0.2 s" in done.stdout
