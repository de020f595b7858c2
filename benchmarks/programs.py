"""The cases as programs for a library call, and as commands."""

from __future__ import annotations

import sys
from dataclasses import replace

from cases import Case

from memfence.pipeline import load
from memfence.program.ir import Forbidden, Program
from memfence.program.load_options import LoadOptions
from memfence.program.text.properties import parse_expression


def load_case(case: Case) -> Program:
    """The program with its property, as both tools see it."""
    program = load(case.path, LoadOptions(int_bits=case.int_bits))
    if not case.forbidden:
        return program
    bad = Forbidden(parse_expression(case.forbidden, program, "--forbid"), case.forbidden)
    return replace(program, properties=(bad,))


def command_of(case: Case) -> list[str]:
    options = ["--model", "sc", "--int-bits", str(case.int_bits), "--forbid", case.forbidden, "--quiet"]
    return [sys.executable, "-m", "memfence", "check", str(case.path), *options]
