"""Questions that need no search: what is asked for lies where control never comes, whatever the loads give."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.engines.native.explicit import Question
from memfence.models.spec import SC
from memfence.passes.orders import for_hardware
from memfence.program.expressions import At, Binary, Const, Expr, Shared, Unary, walk
from memfence.program.facts.dead_locations import locations_in_reach
from memfence.program.facts.effects import op_expressions
from memfence.program.facts.interval_analysis import analyse_values
from memfence.program.facts.interval_arithmetic import Interval
from memfence.program.facts.interval_transfer import domains_of
from memfence.program.facts.may_fail import expression_may_fail
from memfence.program.ir import Assert, Load, Process, Program, Store, Transition


def is_out_of_reach(program: Program, question: Question) -> bool:
    """Whether no run comes to what `question` asks for, since a single process cannot; False says nothing."""
    if question.deadlock or question.final_values or question.bad is None or _may_be_an_error(question.bad):
        return False
    program = for_hardware(program, SC)  # what single processes reach is the same in every model
    reached = locations_in_reach(program)
    if _may_be(question.bad, reached, truth=True):
        return False
    return not question.failures or not some_step_may_fail(program)


def _may_be(expr: Expr, reached: Sequence[frozenset[int]], *, truth: bool) -> bool:
    """Whether the expression may have that truth somewhere in reach."""
    match expr:
        case Const(value):
            return (value != 0) == truth
        case At(process, locations):
            return bool(reached[process] & locations) if truth else not reached[process] <= locations
        case Unary("!", operand):
            return _may_be(operand, reached, truth=not truth)
        case Binary("&&" | "||" as op, left, right):
            both = (op == "&&") == truth
            parts = (_may_be(side, reached, truth=truth) for side in (left, right))
            return all(parts) if both else any(parts)
        case _:
            return True


def _may_be_an_error(expr: Expr) -> bool:
    """Whether evaluating the expression may be an error, whatever its operands are."""
    return any(
        (isinstance(node, Binary) and node.op in ("/", "%", "<<", ">>", "*", "+", "-"))
        or (isinstance(node, Shared) and node.address.variable is None)
        for node in walk(expr)
    )


def some_step_may_fail(program: Program) -> bool:
    """Whether some step may be a run-time error or a failed assertion."""
    program = for_hardware(program, SC)
    domains = domains_of(program)
    written = analyse_values(program, domains).raw
    too_wide = (
        place
        for place, domain in domains.items()
        if domain.overflow != "wrap" and not Interval(domain.lo, domain.hi).contains(written[place])
    )
    return any(too_wide) or any(
        _evaluation_may_fail(program, process, transition)
        for process in program.processes
        for transition in process.transitions
    )


def _evaluation_may_fail(program: Program, process: Process, transition: Transition) -> bool:
    sync = transition.sync
    expressions = [*(e for op in transition.ops for e in op_expressions(op)), *(sync.values if sync else ())]
    return any(expression_may_fail(program, process, e) for e in expressions) or any(
        isinstance(op, Assert) or (isinstance(op, Load | Store) and op.address.variable is None)
        for op in transition.ops
    )
