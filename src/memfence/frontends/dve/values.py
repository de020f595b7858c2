"""DVE expressions as expressions of the IR.

`and`, `or` and `imply` evaluate their right operand only where it matters, and count it as true only where it is
positive: so does DiVinE 2, and C differs for negative numbers alone.
"""

from __future__ import annotations

from typing import assert_never

from memfence.codes import Code
from memfence.frontends.dve.names import Constant, LocalPlace, Names, SharedPlace, Symbol
from memfence.frontends.dve.syntax import Expression, Infix, InState, Number, Prefix, Variable
from memfence.frontends.parsing.limits import operation
from memfence.program import expressions
from memfence.source import Span

_FAILS: expressions.Expr = expressions.Binary("/", expressions.Const(1), expressions.Const(0))
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "and", "or", "imply")


def both(when: expressions.Expr | None, condition: expressions.Expr) -> expressions.Expr | None:
    """`condition` where `when` holds; None stands for always."""
    if condition == expressions.TRUE:
        return when
    return condition if when is None else expressions.Binary("&&", when, condition)


def opposite(condition: expressions.Expr) -> expressions.Expr:
    """True where `condition` is false; a comparison is turned around instead of negated."""
    if isinstance(condition, expressions.Binary) and condition.op in expressions.OPPOSITES:
        return expressions.Binary(expressions.OPPOSITES[condition.op], condition.left, condition.right)
    return expressions.fold_unary("!", condition)


class Values:
    """Expressions over the whole state, as properties use them: a global variable is its value in memory.

    `process` is the process whose local names may be used without `->`. `LoadedValues` is the other kind, for steps.
    """

    def __init__(self, names: Names, process: int | None) -> None:
        self.names = names
        self.process = process

    def value(self, expression: Expression, when: expressions.Expr | None = None) -> expressions.Expr:
        """The expression in the IR; it is evaluated only where `when` holds (None: always)."""
        match expression:
            case Number(value, _):
                return expressions.Const(value)
            case InState():
                return self.in_state(expression)
            case Variable():
                return self.variable(expression, when)
            case Prefix("not", operand, _):
                return opposite(self.value(operand, when))
            case Prefix("-" | "~" as operator, operand, _):
                return expressions.fold_unary(operator, self.value(operand, when))
            case Infix():
                return self.infix(expression, when)
            case _:
                raise AssertionError(expression)

    def infix(self, expression: Infix, when: expressions.Expr | None) -> expressions.Expr:
        left = self.value(expression.left, when)
        match expression.operator:
            case "and":
                if left == expressions.FALSE:
                    return expressions.FALSE
                return expressions.fold_binary("&&", left, self.truth(expression.right, both(when, left)))
            case "or" | "imply":
                first, only_if = left, opposite(left)
                if expression.operator == "imply":
                    first, only_if = only_if, first
                if isinstance(first, expressions.Const) and first.value != 0:
                    return expressions.TRUE
                return expressions.fold_binary("||", first, self.truth(expression.right, both(when, only_if)))
            case operator:
                made = operation(operator, left, self.value(expression.right, when))
                return expressions.fold_binary(operator, made.left, made.right)

    def truth(self, expression: Expression, when: expressions.Expr | None) -> expressions.Expr:
        """The right operand of a connective: true only where it is positive."""
        value = self.value(expression, when)
        return (
            value if self.is_never_negative(expression) else expressions.fold_binary(">", value, expressions.Const(0))
        )

    def is_never_negative(self, expression: Expression) -> bool:
        match expression:
            case Number() | InState() | Prefix("not", _, _):
                return True
            case Variable(name, _, owner, _):
                own = {} if self.process is None else self.names.locals[self.process]
                symbol = None if owner else own.get(name.text) or self.names.globals.get(name.text)
                match symbol:
                    case SharedPlace() | LocalPlace():
                        return symbol.domain.lo >= 0
                    case Constant():
                        return min(symbol.values) >= 0
                    case _:
                        return False
            case Infix(operator, _, _, _) if operator in _COMPARISONS:
                return True
            case Infix("+" | "*" | "/" | "|" | "^", left, right, _):
                return self.is_never_negative(left) and self.is_never_negative(right)
            case Infix("%" | "<<" | ">>", left, _, _):
                return self.is_never_negative(left)
            case Infix("&", left, right, _):
                return self.is_never_negative(left) or self.is_never_negative(right)
            case _:
                return False

    def in_state(self, expression: InState) -> expressions.Expr:
        process = self.names.process(expression.process)
        if process is None:
            return expressions.FALSE
        state = self.names.state(process, expression.state)
        return expressions.FALSE if state is None else self.at(process, state)

    def at(self, process: int, state: int) -> expressions.Expr:
        return expressions.At(process, frozenset((state,)))

    def symbol(self, variable: Variable) -> Symbol | None:
        """What the variable stands for; MF112 where a plain one is indexed."""
        if variable.owner is not None:
            symbol = self.names.foreign(variable.owner, variable.name)
        else:
            symbol = self.names.symbol(variable.name, self.process)
        if symbol is not None and variable.index is not None and not symbol.is_array:
            what = f"`{variable.name.text}` is not an array"
            hint = f"write `{variable.name.text}` without an index"
            self.names.report(Code.TYPE_MISMATCH, variable.span, what, "indexed here", hint)
            return None
        return symbol

    def variable(self, variable: Variable, when: expressions.Expr | None) -> expressions.Expr:
        symbol = self.symbol(variable)
        if symbol is None:
            return expressions.FALSE
        match symbol:
            case SharedPlace():
                return self.read_shared(self.address(symbol, variable, when), when)
            case LocalPlace():
                elements: tuple[expressions.Expr, ...] = tuple(self.register(symbol, n) for n in range(symbol.count))
            case Constant():
                elements = tuple(expressions.Const(value) for value in symbol.values)
            case _:
                assert_never(symbol)
        return self.choose(elements, self.index(symbol, variable, when), when)

    def register(self, place: LocalPlace, element: int) -> expressions.Expr:
        return expressions.RegisterOf(place.process, place.base + element)

    def address(self, place: SharedPlace, variable: Variable, when: expressions.Expr | None) -> expressions.Address:
        index = self.index(place, variable, when)
        if isinstance(index, expressions.Const) and 0 <= index.value < place.count:
            return expressions.Address(place.base + index.value, 1, expressions.Const(0))
        return expressions.Address(place.base, place.count, index)

    def index(self, symbol: Symbol, variable: Variable, when: expressions.Expr | None) -> expressions.Expr:
        """The lowered index; MF108 for a constant out of bounds that is always evaluated."""
        if variable.index is None:
            return expressions.Const(0)
        index = self.value(variable.index, when)
        count = len(symbol.values) if isinstance(symbol, Constant) else symbol.count
        if isinstance(index, expressions.Const) and not 0 <= index.value < count and when is None:
            self.report_bounds(variable.index.span, symbol.name, index.value, count)
        return index

    def report_bounds(self, at: Span, name: str, index: int, count: int) -> None:
        bounds = f"0..{count - 1}"
        what = f"index {index} of `{name}` lies outside its bounds {bounds}"
        self.names.report(Code.BAD_ADDRESS, at, what, f"not in {bounds}", f"use an index in {bounds}")

    def choose(
        self, elements: tuple[expressions.Expr, ...], index: expressions.Expr, when: expressions.Expr | None
    ) -> expressions.Expr:
        """The element with that index; a run-time error where there is none."""
        if isinstance(index, expressions.Const) and 0 <= index.value < len(elements):
            return elements[index.value]
        checked = self.checked_index(index, len(elements), when)
        chosen, others = (_FAILS, elements) if checked is None else (elements[-1], elements[:-1])
        for number, element in reversed(list(enumerate(others))):
            chosen = expressions.Conditional(
                expressions.Binary("==", checked or index, expressions.Const(number)), element, chosen
            )
        return chosen

    # What steps do differently

    def read_shared(self, address: expressions.Address, when: expressions.Expr | None) -> expressions.Expr:
        return expressions.Shared(address)

    def checked_index(
        self, index: expressions.Expr, count: int, when: expressions.Expr | None
    ) -> expressions.Expr | None:
        """The index, known to lie within bounds from here on; None where only the expression itself can fail."""
        return None
