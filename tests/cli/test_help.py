"""What a newcomer meets first: help texts, examples in them, completion, and mistakes on the command line."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from memfence.models.catalogue import NAMES
from support.command_line import memfence as in_process

ROOT = Path(__file__).resolve().parents[2]
SOURCE = str(ROOT / "src")


def memfence(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return in_process(*arguments, environment=environment)


def commands() -> list[str]:
    from memfence.cli.main import app

    names = [info.name or (info.callback.__name__ if info.callback else "") for info in app.registered_commands]
    return [name.replace("_", "-") for name in names] + [group.name or "" for group in app.registered_groups]


@pytest.fixture(scope="module")
def front_page() -> str:
    return memfence("--help").stdout


def test_the_front_page_lists_every_command_in_full(front_page: str) -> None:
    listed = front_page.partition("Commands:")[2].partition("Exit codes")[0]
    assert "..." not in listed
    assert {line.split()[0] for line in listed.splitlines() if line.strip()} == set(commands())
    assert listed.split()[0] == "check"


def test_without_arguments_the_front_page_is_shown(front_page: str) -> None:
    assert memfence().stdout + memfence().stderr == front_page


@pytest.mark.parametrize("command", commands())
def test_every_command_has_an_example_that_is_understood(command: str) -> None:
    shown = " ".join(memfence(command, "--help", COLUMNS="200").stdout.split())
    (example,) = re.findall(r"Example: (memfence .*)$", shown)
    words = example.split(" | ")[0].split()
    assert words[:2] == ["memfence", command]
    assert [word for word in words if word.startswith("examples/") and not (ROOT / word).exists()] == []
    for option in (word for word in words[2:] if word.startswith("--")):
        assert option in shown.partition("Example:")[0]


@pytest.mark.parametrize("command", commands())
def test_every_option_says_what_it_does(command: str) -> None:
    lines = memfence(command, "--help", COLUMNS="200").stdout.partition("Options:")[2].splitlines()
    silent = [line for line in lines if re.fullmatch(r"\s+(-\w, )?--[\w-]+( [^ ]+)?", line)]
    follow = [lines[lines.index(line) + 1] for line in silent]
    assert [s for s, f in zip(silent, follow, strict=True) if not f.startswith(" " * 10)] == []


@pytest.mark.parametrize(
    "arguments, help_text",
    [
        (["chekc"], "Did you mean 'check'?"),
        (["check", "examples/peterson.pml", "--modle", "tso"], "--model"),
        (["check", "examples/petersn.pml"], "did you mean `examples/peterson.pml`?"),
        (["check", "examples/peterson.pml", "--model", "arm"], "'sc', 'tso', 'pso'"),
        (["check", "examples/verdicts.csv"], "use --language with one of"),
        (["explain", "MF999"], "`memfence explain` lists all"),
        (["translate", "examples/peterson.pml", "--to", "dot", "-o", "nowhere/out"], "cannot write"),
        (["fix", "examples/lost_wakeup.pml", "-o", "nowhere/out"], "cannot write"),
    ],
)
def test_a_mistake_is_answered_with_something_to_type(arguments: list[str], help_text: str) -> None:
    done = memfence(*arguments)
    assert done.returncode in (2, 3)
    assert help_text in done.stderr
    assert "Traceback" not in done.stderr and "internal error" not in done.stderr


def test_the_shell_completes_commands_and_choices() -> None:
    def completed(words: str, at: int) -> list[str]:
        return memfence(_MEMFENCE_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(at)).stdout.split()

    assert completed("memfence che", 1) == ["check"]
    assert completed("memfence check --model ", 3) == list(NAMES)
    assert completed("memfence check --model x86,r", 3) == ["x86,rc11", "x86,riscv"]


def test_the_message_for_a_file_that_cannot_be_read_quotes_nothing() -> None:
    done = memfence("check", "examples")
    assert done.stderr == "error[MF002]: cannot read `examples`: Is a directory\n  --> examples\n"
