"""Commands to type next: the same program, read in the same way, asked another question."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import join

from memfence.models.catalogue import USUAL
from memfence.program.ir import Program
from memfence.source import NOWHERE
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.result import CheckResult


def command(verb: str, program: Program, *options: str) -> str:
    """`memfence check FILE -D N=2 --model sc`."""
    return join(["memfence", verb, program.source.path, *_reading(program), *options])


def _reading(program: Program) -> Iterator[str]:
    """The options by which the text is this program, where they are not the usual ones."""
    how = program.options.c
    yield from how.also
    for option, values in (("-D", how.macros), ("-I", how.include)):
        for value in values:
            yield from (option, value)
    entry = None if how.entry == "main" else how.entry
    for option, said in (("--std", how.std), ("--clang", how.clang), ("--entry", entry)):
        if said is not None:
            yield from (option, said)


def more_models(result: CheckResult) -> str | None:
    """For C that holds on x86: that C11 and ARM allow more, and the command that asks about them."""
    program = result.program
    if program.language != "c" or program.source is NOWHERE.source or result.model != "tso":
        return None
    if result.criterion is not Criterion.SAFETY or program.any_number:
        return None
    if result.verdict not in (Verdict.HOLDS, Verdict.HOLDS_UP_TO):
        return None
    return f"C11 and ARM allow more: {command('check', program, '--model', USUAL)}"
