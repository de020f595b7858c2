"""A program as one C file that runs it under stress and counts how it ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files

from memfence.models.spec import TSO
from memfence.passes.orders import for_hardware
from memfence.program import expressions
from memfence.program.ir import Program
from memfence.records import Record
from memfence.silicon.c_code import Leaf, ProcessCode, expression, in_c, literal, refuse
from memfence.source import NOWHERE

WRAPPED = """
static value wrapped(wide number, value low, value high) {
  const wide size = (wide)high - low + 1, rest = (number % size - low % size) % size;
  return (value)(low + (rest < 0 ? rest + size : rest));
}
"""


class Experiment(Record):
    """What to run, and what to look at in the end: `observed` by name, and the outcomes that are `wanted`."""

    program: Program
    observed: tuple[tuple[str, expressions.Expr], ...]
    wanted: expressions.Expr


def render_harness(experiment: Experiment, title: str) -> str:
    """The C file, with memory orders as x86 reads them. InputError where a step is more than the processor can do."""
    program = for_hardware(experiment.program, TSO)
    code = [ProcessCode(program, number) for number in range(len(program.processes))]
    processes = "\n".join(line for process in code for line in process.definition())
    text = files("memfence.silicon").joinpath("stress.c").read_text()
    parts = {
        "TITLE": title.replace("*/", "* /"),
        "THREADS": str(len(code)),
        "VARIABLES": str(len(program.variables)),
        "OBSERVED": str(len(experiment.observed)),
        "FIRST": ", ".join(literal(variable.init[0]) for variable in program.variables) or "0",
        "LOCKED": WRAPPED if "wrapped(" in processes else "",
        "PROCESSES": processes,
        "OBSERVE": "\n".join(
            f"  observed[{k}][i] = {_at_the_end(expr)}; /* {name} */"
            for k, (name, expr) in enumerate(experiment.observed)
        ),
        "WANTED": _wanted(experiment),
        "CASES": "\n".join(map(_case, range(len(code)))),
    }
    return re.sub(r"@([A-Z]+)@", lambda found: parts[found[1]], text)


def _case(number: int) -> str:
    return f"        case {number}: ended[{number}][i] = (unsigned char)run_{number}(i); break;"


def _at_the_end(expr: expressions.Expr) -> str:
    """A value of an instance, once everybody has ended."""

    def leaf(read: Leaf) -> str:
        match read:
            case expressions.RegisterOf(process, register):
                return f"saved{process}_{register}[i]"
            case expressions.Shared(address) if address.variable is not None:
                return f"*AT({address.variable}, i)"
            case _:
                raise refuse("a condition on more than the final values", NOWHERE)

    return in_c(expr, leaf)


def _wanted(experiment: Experiment) -> str:
    """The condition over the values seen."""
    places: dict[expressions.Expr, int] = {expr: k for k, (_, expr) in enumerate(experiment.observed)}

    def replaced(expr: expressions.Expr) -> expressions.Expr:
        if expr in places:
            return expressions.Register(places[expr])
        match expr:
            case expressions.Unary(op, operand):
                return expressions.Unary(op, replaced(operand))
            case expressions.Binary(op, left, right):
                return expressions.Binary(op, replaced(left), replaced(right))
            case expressions.Conditional(condition, then, otherwise):
                return expressions.Conditional(replaced(condition), replaced(then), replaced(otherwise))
            case _:
                return expr

    return expression(replaced(experiment.wanted), lambda index: f"((wide)seen[{index}])", NOWHERE)


def values_of(experiment: Experiment, values: Sequence[int]) -> str:
    """`0:EAX=0; 1:EAX=0`, as people write it."""
    return "; ".join(f"{name}={value}" for (name, _), value in zip(experiment.observed, values, strict=True))
