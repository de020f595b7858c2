"""`memfence help`, and what is said about files in languages that memfence does not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.cli import terminal
from memfence.cli.app import VERBS
from support.command_line import memfence


def test_help_lists_what_the_option_does() -> None:
    assert memfence("help").stdout == memfence("--help").stdout


@pytest.mark.parametrize("verb", ["check", "run", "help"])
def test_help_on_a_command_is_its_own(verb: str) -> None:
    def words(text: str) -> list[str]:
        return text.split()

    assert words(memfence("help", verb).stdout) == words(memfence(verb, "--help").stdout)


def test_help_knows_every_command_and_code() -> None:
    assert "check" in VERBS and memfence("help", "mf101").stdout == memfence("explain", "MF101").stdout


def test_help_on_nothing_names_what_is_near() -> None:
    done = memfence("help", "chek")
    assert done.returncode == 2 and "did you mean `check`?" in done.stderr


@pytest.mark.parametrize(("name", "title"), [("m.rs", "Rust"), ("m.go", "Go"), ("M.java", "Java")])
def test_a_language_that_is_not_read_is_named(name: str, title: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("x")
    done = memfence("check", name, folder=tmp_path)
    assert done.returncode == 3 and f"{title} is not read: `{name}`" in done.stderr and "help: " in done.stderr


def test_a_patch_is_shown_in_colours() -> None:
    text = "a: FIXED\n\n--- a/f.c\n+++ b/f.c\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n\n- no diff\n"
    shown = terminal.coloured(text)
    assert "\x1b[31m-old\x1b[0m\n\x1b[32m+new\x1b[0m\n" in shown
    assert "\n same\n" in shown and shown.endswith("\n\n- no diff\n")
