"""Fence points: places of the text around a statement where a fence can be written.

The key of a point holds all that `edits` needs: `after START END SEPARATOR` or `before START`.
"""

from __future__ import annotations

from memfence.frontends.promela.syntax import Assertion, Assignment, Condition, Declaration, Else, Select, Step
from memfence.program.ir import FencePoint


def is_simple(step: Step) -> bool:
    """Whether the step is a statement that can have a point behind it."""
    return isinstance(step.statement, Declaration | Assignment | Condition | Assertion | Else | Select)


def after(step: Step, template: str) -> FencePoint | None:
    """The point behind the statement; None where nothing can be written."""
    text = step.text
    if text is None or not text.after or not is_simple(step):
        return None
    separator = text.separator
    if separator and isinstance(step.statement, Condition | Else):
        separator = "->"
    key = f"after {text.start} {text.end} {separator}".rstrip()
    return FencePoint(_owner(step, template), key, step.span, _shown(step))


def before(step: Step, template: str) -> FencePoint | None:
    """The point in front of the statement and its labels."""
    text = step.text
    if text is None or not text.before:
        return None
    return FencePoint(_owner(step, template), f"before {text.first}", step.span, _shown(step))


def _owner(step: Step, template: str) -> str:
    """An `inline` is a template of its own: a fence in it is one line, whoever calls it."""
    return f"inline {step.text.owner}" if step.text is not None and step.text.owner else template


def _shown(step: Step) -> str:
    return step.span.text.split("\n", 1)[0].strip()
