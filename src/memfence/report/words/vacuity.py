"""Warnings as diagnostics: why a HOLDS may be vacuous, and what the front end noticed in the text."""

from __future__ import annotations

from typing import assert_never

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label
from memfence.models.catalogue import is_x86
from memfence.program.ir import Program
from memfence.program.text.steps import step_text
from memfence.report.words.blocked_processes import ProcessAtTheEnd, processes_at_the_end
from memfence.report.words.coverage import race_warnings
from memfence.source import Span
from memfence.tasks.answer import Verdict
from memfence.tasks.result import CheckResult, ModelsResult
from memfence.tasks.vacuity import (
    NeverReached,
    NeverTaken,
    NeverTrue,
    NothingToCheck,
    NoWayThere,
    OneProcess,
    Stuck,
    VacuityWarning,
)

MOST_PLACES = 3
"""Of assembly that are shown."""


def warnings_of(result: CheckResult) -> tuple[Diagnostic, ...]:
    """Every warning about the program, about the verdict, and about what it does not cover, in this order."""
    return (*vacuity_warnings(result), *race_warnings(result.program, result.races))


def vacuity_warnings(result: CheckResult) -> tuple[Diagnostic, ...]:
    """Those about the program and about the verdict."""
    return (*result.program.warnings, *(_warning(result, warning) for warning in result.vacuity))


def _warning(result: CheckResult, warning: VacuityWarning) -> Diagnostic:
    program = result.program
    match warning:
        case Stuck(trace):
            return _stuck(processes_at_the_end(trace), _top(program))
        case NeverTaken():
            return _never_taken(program, warning)
        case NeverReached(at):
            return _of(Code.NEVER_TAKEN, f"the assertion `{' '.join(at.text.split())}` is never reached", at, None)
        case NeverTrue(number, premise):
            stated = getattr(result.properties[number], "text", "")
            message = f"`{premise}` is never true, so that `{stated}` says nothing"
            return _of(Code.NEVER_TRUE, message, _top(program), "check the names and values in the property")
        case NoWayThere(number, place):
            stated = getattr(result.properties[number], "text", "")
            message = f"`{place}` is never true: no step of the process leads there (`{stated}`)"
            return _of(Code.NO_WAY_THERE, message, _top(program), "name another label, or move it")
        case NothingToCheck():
            message = "nothing is stated about this program: under `sc` there is nothing to check"
            return _of(Code.NOTHING_TO_CHECK, message, _top(program), "add an assertion, or use --forbid, --invariant")
        case OneProcess():
            message = "nothing is stated about this program, and it has only one process: no other observes it"
            hint = "start threads in `main`" if program.language == "c" else "add a process, or an assertion"
            return _of(Code.NOTHING_TO_CHECK, message, _top(program), hint)
        case _:
            assert_never(warning)


def models_warnings(result: ModelsResult) -> tuple[Diagnostic, ...]:
    """Those about a program and its verdicts under several models."""
    read = (*result.program.warnings, *_assembly(result))
    if not result.states_nothing or result.verdict is Verdict.VIOLATED:
        return read
    message = "nothing is stated about this program: a list of models has nothing to check but run-time errors"
    hint = "add an assertion, or use --final; `--model tso` alone compares TSO with SC"
    return (*read, _of(Code.NOTHING_TO_CHECK, message, _top(result.program), hint))


def _assembly(result: ModelsResult) -> tuple[Diagnostic, ...]:
    """One for all instructions of x86, where another processor is asked about."""
    foreign = [answer.name for answer in result.answers if not is_x86(answer.name)]
    places = result.program.assembly
    if not foreign or not places:
        return ()
    message = f"x86 assembly is read as C's atomics: under {', '.join(foreign)} other code may stand here"
    shown, rest = places[1:MOST_PLACES], len(places) - MOST_PLACES
    related = [Label(at, "and here") for at in shown]
    hint = "ask about the library's version for compilers' builtins: see `memfence help MF211`"
    more = f"; {rest} more places" if rest > 0 else ""
    label = Label(places[0], "instructions of x86" + more)
    return (Diagnostic(Code.X86_ASSEMBLY, message, label, tuple(related), hint, severity="warning"),)


def _stuck(waiting: tuple[ProcessAtTheEnd, ...], top: Span) -> Diagnostic:
    names = [f"`{one.name}` has not ended: it {one.waits}" for one in waiting if not one.has_ended]
    places = [one.at for one in waiting if not one.has_ended and one.at is not None]
    message = f"no process can move, but {'; '.join(names)}"
    related = tuple(Label(at, "and here") for at in places[1:])
    hint = "--deadlock shows the run; a label `end` says that a process may stop there"
    return Diagnostic(
        Code.STUCK, message, Label(places[0] if places else top, "waits here"), related, hint, severity="warning"
    )


def _never_taken(program: Program, warning: NeverTaken) -> Diagnostic:
    text = step_text(program, warning.process, program.processes[warning.process].transitions[warning.transition])
    if warning.is_assertion:
        message = f"the assertion `{text}` is never reached"
    else:
        message = f"`{text}` is never passed: no run goes on from here by this way"
    return _of(Code.NEVER_TAKEN, message, warning.at, None)


def _of(code: Code, message: str, at: Span, hint: str | None) -> Diagnostic:
    return Diagnostic(code, message, Label(at), hint=hint, severity="warning")


def _top(program: Program) -> Span:
    """The first line of the text, for what is about all of it."""
    source = program.source
    return source.span(0, len(source.line_text(1)))
