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
    Remembering,
    hull,
    meet,
    value_of,
)
from memfence.program.facts.interval_transfer import domains_of
from memfence.program.ir import Assert, Assign, Domain, Load, Op, Process, Program, Rmw, Store, Transition
from memfence.records import Record


def may_fail(program: Program, process: Process, op: Op) -> bool:
    """Whether some register values within their ranges make the op an error; False is a promise."""
    ranges = _ranges_of(program, process, between_steps=True)
    match op:
        case Assign(register, value):
            return not _fits(process.registers[register].domain, value, ranges)
        case Store(address, value, when=when):
            if when is not None and ranges.may_fail(when):
                return True
            targets = _elements(address, ranges)
            return targets is None or not all(_fits(program.variables[n].domain, value, ranges) for n in targets)
        case Load(register, address, when):
            if when is not None and ranges.may_fail(when):
                return True
            target = process.registers[register].domain
            if when is not None and not _holds(target, ZERO):
                return True
            sources = _elements(address, ranges)
            return sources is None or not all(_holds(target, _range(program.variables[n].domain)) for n in sources)
        case Rmw():
            return _modification_may_fail(program, process, op, ranges)
        case _:
            return False


def _modification_may_fail(program: Program, process: Process, op: Rmw, ranges: _Ranges) -> bool:
    """The old value takes part as one more register, behind those of the process."""
    targets = _elements(op.address, ranges)
    if targets is None:
        return True
    domains = [program.variables[n].domain for n in targets]
    old = Interval(min(d.lo for d in domains), max(d.hi for d in domains))
    if op.register is not None and not _holds(process.registers[op.register].domain, old):
        return True
    if op.expected is not None and ranges.may_fail(op.expected):
        return True
    new, after = value_written(op, Register(len(ranges.env))), _Ranges(program, (*ranges.env, old))
    return not all(_fits(domain, new, after) for domain in domains)


def expression_may_fail(program: Program, process: Process, expr: Expr) -> bool:
    """Whether evaluating `expr` can be an error."""
    return _ranges_of(program, process).may_fail(expr)


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


def _fits(domain: Domain, value: Expr, ranges: _Ranges) -> bool:
    found = None if ranges.may_fail(value) else ranges.value(value)
    return found is not None and _holds(domain, found)


def _elements(address: Address, ranges: _Ranges) -> range | None:
    """The variables that the address can mean; None if it can be out of bounds."""
    index = None if ranges.may_fail(address.index) else ranges.value(address.index)
    if index is None or not Interval(0, address.size - 1).contains(index):
        return None
    return range(address.base + index.lo, address.base + index.hi + 1)


class _Ranges:
    """What registers can hold, with what that means for expressions: parts that many of them share are judged once."""

    __slots__ = ("_fine", "_look", "env")

    def __init__(self, program: Program, env: Environment) -> None:
        def look(foreign: RegisterOf) -> Interval:
            return _range(program.processes[foreign.process].registers[foreign.register].domain)

        self.env = env
        self._look = Remembering(look)
        self._fine: dict[int, Expr] = {}

    def value(self, expr: Expr) -> Interval | None:
        return value_of(expr, self.env, self._look)

    def may_fail(self, expr: Expr) -> bool:
        """Looks at every operand, even where `&&`, `||` or `?:` would not evaluate it."""
        found: dict[int, Expr] = {}
        waiting = [expr]
        while waiting:
            part = waiting.pop()
            if id(part) in self._fine or id(part) in found:
                continue
            if self._fails_itself(part):
                return True
            found[id(part)] = part
            waiting += children(part)
        self._fine |= found
        return False

    def _fails_itself(self, expr: Expr) -> bool:
        found = self.value(expr)
        if found is None or not MACHINE.contains(found):
            return True
        if isinstance(expr, Binary) and expr.op in ("/", "%", "<<", ">>"):
            right = self.value(expr.right)
            if right is None:
                return True
            if expr.op in ("/", "%") and meet(right, ZERO) is not None:
                return True
            if expr.op in ("<<", ">>") and not SHIFTS.contains(right):
                return True
        return False


class _Judged(Record, eq=False):
    """The program that was asked about last, and the ranges of its processes."""

    program: Program | None
    ranges: dict[tuple[int, bool], tuple[Process, _Ranges]]


_LAST = [_Judged(None, {})]


def _ranges_of(program: Program, process: Process, *, between_steps: bool = False) -> _Ranges:
    """The ranges of the declared domains; scratch registers are 0 between steps."""
    last = _LAST[0]
    if last.program is not program:
        last = _LAST[0] = _Judged(program, {})
    key = (id(process), between_steps)
    known = last.ranges.get(key)
    if known is None:
        domains = ((r.domain, r.transient and between_steps) for r in process.registers)
        env = tuple(hull(ZERO, _range(domain)) if is_scratch else _range(domain) for domain, is_scratch in domains)
        known = last.ranges[key] = (process, _Ranges(program, env))
    return known[1]
