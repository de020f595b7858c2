"""What the options of a choice wait for: `else` waits for none of it.

A choice that begins an option of another choice is merged into that one, as in Spin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label
from memfence.frontends.promela.syntax import Atomic, Condition, Do, Else, Expression, If, Step, all_steps
from memfence.frontends.promela.syntax import Sequence as Steps

Options = tuple[tuple[Step, ...], ...]
Guards = tuple[Expression, ...] | None
"""None where something is possible without waiting."""


def is_empty(step: Step) -> bool:
    """Whether the step is nothing at all: an empty block."""
    statement = step.statement
    return not step.labels and isinstance(statement, Steps) and all(is_empty(inner) for inner in statement.steps)


def first_step(steps: Sequence[Step]) -> Step | None:
    return next((step for step in steps if not is_empty(step)), None)


def guards_of(options: Sequence[tuple[Step, ...]]) -> Guards:
    """What the options wait for, all together; None where one of them does not wait."""
    found: list[Expression] = []
    for option in options:
        step = first_step(option)
        guards = _guard_of(step) if step is not None else None
        if guards is None:
            return None
        found += guards
    return tuple(found)


def _guard_of(step: Step) -> Guards:
    match step.statement:
        case Condition(expression):
            return (expression,)
        case Steps(steps) | Atomic(Steps(steps)):
            return guards_of([steps])
        case If(options) | Do(options):
            return guards_of(options)
        case Else():
            return ()
        case _:
            return None


def doubtful_elses(options: Options) -> Iterator[Diagnostic]:
    """What to say about a second `else`, and about one of an inner choice that is merged with other options.

    In Spin such an inner `else` depends on the order in which the options are written.
    """
    direct = [step for step in map(_innermost_first, options) if step and isinstance(step.statement, Else)]
    for other in direct[1:]:
        related = (Label(direct[0].span, "first one"),)
        yield Diagnostic(Code.SYNTAX, "a second `else` in one choice", Label(other.span), related)
    for inner in _elses(options):
        if len(options) > 1 and not any(inner is step for step in direct):
            message = "this `else` belongs to a choice that begins an option beside others"
            hint = "write `skip;` in front of the inner `if` or `do`"
            yield Diagnostic(Code.UNSUPPORTED, message, Label(inner.span), hint=hint)


def _innermost_first(steps: Sequence[Step]) -> Step | None:
    """The first step, inside braces and `atomic`."""
    step = first_step(steps)
    while step is not None and isinstance(step.statement, Steps | Atomic):
        body = step.statement.body if isinstance(step.statement, Atomic) else step.statement
        step = first_step(body.steps)
    return step


def misplaced_elses(steps: tuple[Step, ...]) -> Iterator[Diagnostic]:
    """What to say about every `else` that does not begin an option."""
    everything = list(all_steps(steps))
    choices = (step.statement.options for step in everything if isinstance(step.statement, If | Do))
    allowed = {id(step) for options in choices for step in _elses(options)}
    for step in everything:
        if isinstance(step.statement, Else) and id(step) not in allowed:
            message = "`else` is only possible as the first statement of an option"
            yield Diagnostic(Code.SYNTAX, message, Label(step.span), hint="write `:: else -> ...` in an `if` or `do`")


def _elses(options: Sequence[tuple[Step, ...]]) -> Iterator[Step]:
    for option in options:
        step = first_step(option)
        match step.statement if step is not None else None:
            case Else():
                assert step is not None
                yield step
            case Steps(steps) | Atomic(Steps(steps)):
                yield from _elses([steps])
            case If(inner) | Do(inner):
                yield from _elses(inner)
            case _:
                pass
