"""Programs in C that create threads without end: few of them were followed, but all may be alike.

What is known about few threads stays the answer where nothing more is found out about any number of them soon.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.diagnostics import InputError
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.questions.parameterised import prove_soon
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import CheckResult


def for_any_number(program: Program, result: CheckResult, options: CheckOptions) -> CheckResult:
    """The result for any number of threads, where there is one; else `result`, which is about few.

    `program` must be as it was loaded: its text is read again.
    """
    is_asked = result.criterion is Criterion.SAFETY and result.properties == program.properties
    is_open = result.answer.verdict is not Verdict.VIOLATED and not result.answer.is_interrupted
    if not program.unbounded or not is_asked or not is_open or options.limits.deadline.passed:
        return result
    try:
        whole = _of_any_number(program)
    except InputError:  # its threads are not alike: they are still few
        return result
    found = prove_soon(whole, options)
    if found is None or (found.answer.verdict is Verdict.VIOLATED and set(whole.any_number) - set(whole.unbounded)):
        return result  # a run of more threads than are ever created is none
    return found


def _of_any_number(program: Program) -> Program:
    """The program with any number of whatever it creates without end; behind such a loop there may be another one."""
    named: tuple[str, ...] = ()
    while set(program.unbounded) - set(named):
        named = tuple(sorted({*named, *program.unbounded}))
        program = load_text(program.source, replace(program.options, any_number=named))
    return program
