"""From a text to a program: the text is read once, and the program remembers how."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from memfence.diagnostics import InputError
from memfence.frontends.promela import lowering
from memfence.frontends.promela.reader import read_units
from memfence.frontends.promela.syntax import Unit
from memfence.frontends.promela.tokens import Token
from memfence.pipeline import load, load_text
from memfence.program.ir import Domain
from memfence.program.load_options import LoadOptions
from memfence.source import SourceText
from memfence.synthesis import fix
from memfence.synthesis.options import FixOptions
from memfence.synthesis.result import FixVerdict

SEVERAL_READS = "byte x, y; active proctype P() { x = 1; x + y == 2 } active proctype Q() { y = 1; x + y == 2 }"
COUNTING = "thread t\n initial a\n transition a b write + r 1 0\n transition b a read r 0\nend\n"
SB = """\
thread p initial a transition a b write 1 0 transition b c read r 1 end
thread q initial a transition a b write 1 1 transition b c read r 0 end
"""


def test_a_program_remembers_its_options() -> None:
    options = LoadOptions(int_bits=3)
    program = load_text(SourceText("count.txt", COUNTING), options)
    assert program.options == LoadOptions(language="trencher", int_bits=3)
    assert program.language == "trencher"
    assert program.variables[0].domain == Domain(0, 7, "wrap")


def test_its_text_is_read_again_with_the_same_options() -> None:
    """Not with the defaults: the suffix says Promela, and without a width the values would have 8 bits."""
    text = SB.replace("read r 1", "read r 1 transition c c write + r 1 2 transition c c read r 2")
    program = load_text(SourceText("misleading.pml", text), LoadOptions(language="trencher", int_bits=3))
    fixed = fix(program, FixOptions(model="tso", criterion="robust"))
    assert fixed.verdict is FixVerdict.FIXED and fixed.patched is not None
    again = load_text(SourceText("misleading.pml", fixed.patched), program.options)
    assert [v.domain for v in again.variables] == [v.domain for v in program.variables]


def test_options_make_no_difference_between_programs() -> None:
    source = SourceText("sb.txt", SB)
    assert load_text(source) == load_text(source, LoadOptions(language="trencher", split_reads=True))


def test_warnings_come_with_the_program_and_cost_no_second_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[str]()

    def counted(source: SourceText, tokens: Sequence[Token]) -> list[Unit]:
        read.append(source.path)
        return read_units(source, tokens)

    monkeypatch.setattr(lowering, "read_units", counted)
    program = load_text(SourceText("several.pml", SEVERAL_READS))
    assert [warning.at.span.text for warning in program.warnings] == ["x + y == 2", "x + y == 2"]
    assert read == ["several.pml"]


@pytest.mark.parametrize("start", ["<!DOCTYPE html>", "\n<html>", "<?xml version='1.0'?>", "<svg>"])
def test_a_page_is_not_taken_for_a_program_by_the_words_in_it(tmp_path: Path, start: str) -> None:
    page = tmp_path / "report.html"
    page.write_text(f"{start} process trans system proctype #include program procs begin")
    with pytest.raises(InputError, match="is an HTML or XML file, not a program"):
        load(page)
