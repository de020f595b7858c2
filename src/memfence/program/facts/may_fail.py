"""Whether an op can be a run-time error of the program under test, judged by the ranges of registers and variables."""

from __future__ import annotations

from memfence.program.expressions import Address, Binary, Expr, Register, RegisterOf, children
from memfence.program.facts.effects import op_expressions, value_written
from memfence.program.facts.interval_analysis import analyse_values
from memfence.program.facts.interval_arithmetic import (
    MACHINE,
    SHIFTS,
    ZERO,
    Environment,
    Interval,
    hull,
    meet,
    value_of,
)
from memfence.program.facts.interval_transfer import domains_of
from memfence.program.ir import Assert, Assign, Domain, Load, Op, Process, Program, Rmw, Store, Transition


def may_fail(program: Program, process: Process, op: Op) -> bool:
    """Whether some register values within their ranges make the op an error; False is a promise."""
    env = tuple(hull(ZERO, _range(r.domain)) if r.transient else _range(r.domain) for r in process.registers)
    match op:
        case Assign(register, value):
            return not _fits(program, process.registers[register].domain, value, env)
        case Store(address, value, when=when):
            if when is not None and _evaluation_may_fail(program, when, env):
                return True
            targets = _elements(program, address, env)
            return targets is None or not all(_fits(program, program.variables[n].domain, value, env) for n in targets)
        case Load(register, address, when):
            if when is not None and _evaluation_may_fail(program, when, env):
                return True
            target = process.registers[register].domain
            if when is not None and not _holds(target, ZERO):
                return True
            sources = _elements(program, address, env)
            return sources is None or not all(_holds(target, _range(program.variables[n].domain)) for n in sources)
        case Rmw():
            return _modification_may_fail(program, process, op, env)
        case _:
            return False


def _modification_may_fail(program: Program, process: Process, op: Rmw, env: Environment) -> bool:
    """The old value takes part as one more register, behind those of the process."""
    targets = _elements(program, op.address, env)
    if targets is None:
        return True
    domains = [program.variables[n].domain for n in targets]
    old = Interval(min(d.lo for d in domains), max(d.hi for d in domains))
    if op.register is not None and not _holds(process.registers[op.register].domain, old):
        return True
    if op.expected is not None and _evaluation_may_fail(program, op.expected, env):
        return True
    new, after = value_written(op, Register(len(env))), (*env, old)
    return not all(_fits(program, domain, new, after) for domain in domains)


def expression_may_fail(program: Program, process: Process, expr: Expr) -> bool:
    """Whether evaluating `expr` can be an error."""
    return _evaluation_may_fail(program, expr, tuple(_range(r.domain) for r in process.registers))


def some_step_may_fail(program: Program) -> bool:
    """Whether some step may be a run-time error or a failed assertion. Orders make no difference to that."""
    domains = domains_of(program)
    written = analyse_values(program, domains).raw
    too_wide = (
        place
        for place, domain in domains.items()
        if domain.overflow != "wrap" and not Interval(domain.lo, domain.hi).contains(written[place])
    )
    return any(too_wide) or any(
        step_may_fail(program, process, transition)
        for process in program.processes
        for transition in process.transitions
    )


def step_may_fail(program: Program, process: Process, transition: Transition) -> bool:
    sync = transition.sync
    expressions = [*(e for op in transition.ops for e in op_expressions(op)), *(sync.values if sync else ())]
    return any(expression_may_fail(program, process, e) for e in expressions) or any(
        isinstance(op, Assert) or (isinstance(op, Load | Store | Rmw) and op.address.variable is None)
        for op in transition.ops
    )


def _range(domain: Domain) -> Interval:
    return Interval(domain.lo, domain.hi)


def _holds(domain: Domain, values: Interval) -> bool:
    return domain.overflow == "wrap" or _range(domain).contains(values)


def _fits(program: Program, domain: Domain, value: Expr, env: Environment) -> bool:
    found = None if _evaluation_may_fail(program, value, env) else _value(program, value, env)
    return found is not None and _holds(domain, found)


def _value(program: Program, expr: Expr, env: Environment) -> Interval | None:
    def look(foreign: RegisterOf) -> Interval:
        return _range(program.processes[foreign.process].registers[foreign.register].domain)

    return value_of(expr, env, look)


def _elements(program: Program, address: Address, env: Environment) -> range | None:
    """The variables that the address can mean; None if it can be out of bounds."""
    index = None if _evaluation_may_fail(program, address.index, env) else _value(program, address.index, env)
    if index is None or not Interval(0, address.size - 1).contains(index):
        return None
    return range(address.base + index.lo, address.base + index.hi + 1)


def _evaluation_may_fail(program: Program, expr: Expr, env: Environment) -> bool:
    """Looks at every operand, even where `&&`, `||` or `?:` would not evaluate it."""
    found = _value(program, expr, env)
    if found is None or not MACHINE.contains(found):
        return True
    if isinstance(expr, Binary) and expr.op in ("/", "%", "<<", ">>"):
        right = _value(program, expr.right, env)
        if right is None:
            return True
        if expr.op in ("/", "%") and meet(right, ZERO) is not None:
            return True
        if expr.op in ("<<", ">>") and not SHIFTS.contains(right):
            return True
    return any(_evaluation_may_fail(program, child, env) for child in children(expr))
