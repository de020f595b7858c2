"""From the text of an AArch64 litmus test to its syntax."""

from __future__ import annotations

from memfence.diagnostics import Diagnostic
from memfence.frontends.aarch64.instructions import DIALECT, read_cell
from memfence.frontends.aarch64.syntax import Instruction
from memfence.frontends.herd.reader import read_table
from memfence.frontends.herd.syntax import LitmusTest
from memfence.source import SourceText


def read(source: SourceText, errors: list[Diagnostic]) -> LitmusTest[Instruction]:
    """The test; mistakes inside its parts go to `errors`, InputError where the parts cannot be found."""
    return read_table(source, DIALECT, read_cell, errors)
