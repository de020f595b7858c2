"""What every name of a DVE model stands for: variables with their places, states, processes, channels.

Quirks that models rely on: an array without an index is its element 0; surplus initial values are ignored, missing
ones are 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label, did_you_mean
from memfence.frontends.dve import syntax
from memfence.frontends.parsing.syntax import Name
from memfence.program.expressions import BinaryOp, EvaluationError, apply_binary, apply_unary
from memfence.program.ir import Domain
from memfence.records import Record
from memfence.source import Span

BYTE = Domain(0, 255)
INT = Domain(-(2**15), 2**15 - 1)
DOMAIN = {"byte": BYTE, "int": INT}
LARGEST_ARRAY = 4096


class SharedPlace(Record):
    """A global variable: `count` numbers from `base`; `is_array` tells `a[1]` from a plain variable."""

    name: str
    base: int
    count: int
    is_array: bool
    domain: Domain
    span: Span


class LocalPlace(Record):
    """A local variable: `count` registers of its process from `base`."""

    name: str
    process: int
    base: int
    count: int
    is_array: bool
    domain: Domain
    span: Span


class Constant(Record):
    name: str
    values: tuple[int, ...]
    is_array: bool
    span: Span


Symbol = SharedPlace | LocalPlace | Constant


class Placed(Record):
    """A declared variable with its symbol and initial values; constants have no place in the state."""

    declaration: syntax.Declaration
    symbol: Symbol
    initial: tuple[int, ...]


class Names:
    """The symbol tables of a model; mistakes go to `errors` and are replaced by something harmless."""

    def __init__(self, model: syntax.Model) -> None:
        self.errors: list[Diagnostic] = []
        of = model.property.text if model.property else None
        self.running = tuple(p for p in model.processes if p.name.text != of)
        self.property = next((p for p in model.processes if p.name.text == of), None)
        self.channels = {channel.name.text: channel for channel in model.channels}
        self.processes = {p.name.text: number for number, p in enumerate(self.running)}
        self.states = [{state.text: n for n, state in enumerate(p.states)} for p in self.running]
        self.shared = self._place(model.declarations, None, {})
        self.globals = {placed.symbol.name: placed.symbol for placed in self.shared}
        self.local = [self._place(p.declarations, n, self.shared_initial) for n, p in enumerate(self.running)]
        self.locals = [{placed.symbol.name: placed.symbol for placed in places} for places in self.local]
        self._check_uniqueness(model)

    @property
    def shared_initial(self) -> dict[str, tuple[int, ...]]:
        return {placed.symbol.name: placed.initial for placed in self.shared}

    def report(self, code: Code, at: Span, message: str, label: str = "", hint: str | None = None) -> None:
        self.errors.append(Diagnostic(code, message, Label(at, label), hint=hint))

    # Looking up

    def symbol(self, name: Name, process: int | None) -> Symbol | None:
        """What `name` is for that process: its own variable before a global one."""
        own = self.locals[process] if process is not None else {}
        found = own.get(name.text) or self.globals.get(name.text)
        if found is None:
            known = [*own, *self.globals]
            hint = did_you_mean(name.text, known, f"declare it with `byte {name.text};`")
            if name.text in self.processes:
                hint = f"`{name.text}` is a process: write `{name.text}.state` or `{name.text}->variable`"
            elif name.text in self.channels:
                hint = f"`{name.text}` is a channel: receive from it with `sync {name.text}?variable;`"
            self.report(Code.UNKNOWN_VARIABLE, name.span, f"unknown variable `{name.text}`", "not declared", hint)
        return found

    def foreign(self, owner: Name, name: Name) -> Symbol | None:
        """The variable `owner->name`."""
        process = self.process(owner)
        if process is None:
            return None
        found = self.locals[process].get(name.text)
        if found is None:
            what = f"process `{owner.text}` has no variable `{name.text}`"
            hint = did_you_mean(name.text, list(self.locals[process]))
            self.report(Code.UNKNOWN_VARIABLE, name.span, what, "not declared there", hint)
        return found

    def process(self, name: Name) -> int | None:
        number = self.processes.get(name.text)
        if number is None:
            hint = did_you_mean(name.text, list(self.processes))
            self.report(Code.UNKNOWN_PROCESS, name.span, f"unknown process `{name.text}`", "not defined", hint)
        return number

    def state(self, process: int, name: Name) -> int | None:
        number = self.states[process].get(name.text)
        if number is None:
            owner = self.running[process].name.text
            self.report_state(owner, name, self.states[process])
        return number

    def report_state(self, owner: str, name: Name, known: Iterable[str]) -> None:
        hint = did_you_mean(name.text, list(known), f"add `{name.text}` to the `state` section")
        what = f"process `{owner}` has no state `{name.text}`"
        self.report(Code.UNKNOWN_LABEL, name.span, what, "not declared", hint)

    def channel(self, name: Name) -> syntax.Channel | None:
        found = self.channels.get(name.text)
        if found is None:
            hint = did_you_mean(name.text, list(self.channels), f"declare it with `channel {name.text};`")
            self.report(Code.UNKNOWN_VARIABLE, name.span, f"unknown channel `{name.text}`", "not declared", hint)
        return found

    # Declarations

    def _place(
        self, declarations: Iterable[syntax.Declaration], process: int | None, known: Mapping[str, tuple[int, ...]]
    ) -> list[Placed]:
        """Give every variable its numbers, in order; `known` values may stand in initial values."""
        placed: list[Placed] = []
        values = dict(known)
        base = 0
        for declaration in declarations:
            name, domain = declaration.name.text, DOMAIN[declaration.type]
            count, is_array = self._count(declaration), declaration.size is not None
            initial = self._initial(declaration, count, domain, values)
            values[name] = initial
            if declaration.constant:
                symbol: Symbol = Constant(name, initial, is_array, declaration.span)
            elif process is None:
                symbol = SharedPlace(name, base, count, is_array, domain, declaration.span)
            else:
                symbol = LocalPlace(name, process, base, count, is_array, domain, declaration.span)
            base += 0 if declaration.constant else count
            placed.append(Placed(declaration, symbol, initial))
        return placed

    def _count(self, declaration: syntax.Declaration) -> int:
        if declaration.size is None:
            return 1
        if declaration.size == 0:
            what = f"the array `{declaration.name.text}` has no elements"
            self.report(Code.EMPTY_RANGE, declaration.span, what, "size 0", "give it at least one element")
        if declaration.size > LARGEST_ARRAY:
            what = f"the array `{declaration.name.text}` has {declaration.size} elements, more than {LARGEST_ARRAY}"
            self.report(Code.TOO_LARGE, declaration.span, what, "too large")
        return min(max(1, declaration.size), LARGEST_ARRAY)

    def _initial(
        self, declaration: syntax.Declaration, count: int, domain: Domain, known: Mapping[str, tuple[int, ...]]
    ) -> tuple[int, ...]:
        values = [self._checked_initial(e, declaration, domain, known) for e in declaration.initial[:count]]
        return (*values, *(0 for _ in range(count - len(values))))

    def _checked_initial(
        self,
        expression: syntax.Expression,
        declaration: syntax.Declaration,
        domain: Domain,
        known: Mapping[str, tuple[int, ...]],
    ) -> int:
        try:
            value = self._constant_value(expression, known)
        except EvaluationError as error:
            what = f"the initial value of `{declaration.name.text}` cannot be computed: {error}"
            self.report(Code.TYPE_MISMATCH, expression.span, what, hint="use numbers and constants declared before")
            return 0
        if domain.lo <= value <= domain.hi:
            return value
        allowed = f"{domain.lo}..{domain.hi}"
        what = f"initial value {value} of `{declaration.name.text}` lies outside `{declaration.type}`, {allowed}"
        self.report(Code.OUT_OF_RANGE, expression.span, what, f"not in {allowed}")
        return 0

    def _constant_value(self, expression: syntax.Expression, known: Mapping[str, tuple[int, ...]]) -> int:
        match expression:
            case syntax.Number(value, _):
                return value
            case syntax.Variable(name, index, None, _) if name.text in known:
                at = 0 if index is None else self._constant_value(index, known)
                if not 0 <= at < len(known[name.text]):
                    raise EvaluationError(f"index {at} outside 0..{len(known[name.text]) - 1}")
                return known[name.text][at]
            case syntax.Variable(name, _, _, _):
                raise EvaluationError(f"`{name.text}` is not known here")
            case syntax.InState():
                raise EvaluationError("no process has a state yet")
            case syntax.Prefix(operator, operand, _):
                return apply_unary("!" if operator == "not" else operator, self._constant_value(operand, known))
            case syntax.Infix(operator, left, right, _):
                a, b = self._constant_value(left, known), self._constant_value(right, known)
                match operator:
                    case "and":
                        return int(a != 0 and b > 0)
                    case "or":
                        return int(a != 0 or b > 0)
                    case "imply":
                        return int(a == 0 or b > 0)
                    case _:
                        operation: BinaryOp = operator
                        return apply_binary(operation, a, b)

    def _check_uniqueness(self, model: syntax.Model) -> None:
        self._report_twice("process", (p.name for p in model.processes))
        self._report_twice("global name", [*(c.name for c in model.channels), *(d.name for d in model.declarations)])
        for process in model.processes:
            self._report_twice(f"state of process `{process.name.text}`", process.states)
            self._report_twice(f"variable of process `{process.name.text}`", (d.name for d in process.declarations))

    def _report_twice(self, what: str, names: Iterable[Name]) -> None:
        first: dict[str, Name] = {}
        for name in names:
            if name.text in first:
                related = (Label(first[name.text].span, "first declared here"),)
                message = f"{what} `{name.text}` is declared twice"
                self.errors.append(Diagnostic(Code.DUPLICATE, message, Label(name.span, "again here"), related))
            else:
                first[name.text] = name
