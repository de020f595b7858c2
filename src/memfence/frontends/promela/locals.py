"""Local variables of a process: each is a register, or a constant if nothing ever assigns to it.

What stands before the first statement has its value from the start; a later declaration is an assignment, of 0 if it
gives no value, executed when control passes it. Both as in Spin.
"""

from __future__ import annotations

from memfence.codes import Code
from memfence.diagnostics import Label
from memfence.frontends.promela.declarations import (
    Errors,
    Model,
    NotConstant,
    array_size,
    domain_of,
    evaluate,
    initial_values,
)  # fmt: skip
from memfence.frontends.promela.evaluation import LocalName
from memfence.frontends.promela.instances import Instance
from memfence.frontends.promela.syntax import (
    Declaration,
    Declared,
    Do,
    Expression,
    If,
    Reference,
    Step,
    assigned_names,
)  # fmt: skip
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import EvaluationError

MOST_LOCAL_ELEMENTS = 256


class Locals:
    """Declares the local variables of one process in its builder."""

    def __init__(self, model: Model, instance: Instance, builder: ProcessBuilder, errors: Errors) -> None:
        self.model, self.instance, self.builder, self.errors = model, instance, builder, errors
        self.assigned = assigned_names(instance.proctype.body.steps)

    def declare_parameters(self, scope: dict[str, LocalName]) -> None:
        values = iter(self.instance.arguments)
        for declaration in self.instance.proctype.parameters:
            for item in declaration.items:
                if item.size is not None or item.initial is not None:
                    message = f"parameter `{item.name.text}` can be neither an array nor have an initial value"
                    self.errors.add(Code.UNSUPPORTED, message, item.name.span)
                domain = domain_of(declaration.type, item, self.errors)
                self.add(scope, declaration, item, None, [domain.fit(next(values))], False)

    def declare_first(self, scope: dict[str, LocalName], steps: tuple[Step, ...]) -> int:
        """Declare what stands before the first statement; its values are those at the start. Return how many steps."""
        for count, step in enumerate(steps):
            if not isinstance(step.statement, Declaration) or step.labels:
                return count
            for item in step.statement.items:
                size = self.size_of(item)
                values = self.start_values(step.statement, item, size, scope)
                self.add(scope, step.statement, item, size, values, False)
        return len(steps)

    def start_values(
        self, declaration: Declaration, item: Declared, size: int | None, scope: dict[str, LocalName]
    ) -> list[int]:
        executed = self.instance.locals.get(item.name.text)
        if executed is not None:
            return executed

        def look_up(reference: Reference) -> int | None:
            local = scope.get(reference.name.text)
            if local is not None:
                return local.values[0] if local.size is None and reference.index is None else None
            return self.model.constants.get(reference.name.text)

        def value_of(expression: Expression) -> int:
            try:
                return evaluate(expression, look_up, self.instance.pid)
            except (NotConstant, EvaluationError) as problem:
                span = getattr(problem, "span", expression.span)
                name = item.name.text
                self.errors.add(
                    Code.UNSUPPORTED, f"the initial value of `{name}` is not a constant", span,
                    hint=f"declare it first, then assign: `{declaration.type} {name}; {name} = ...`",
                )  # fmt: skip
                return 0

        return initial_values(item, size, domain_of(declaration.type, item, self.errors), value_of, self.errors)

    def declare_inner(self, scope: dict[str, LocalName], steps: tuple[Step, ...]) -> None:
        """Declare the names of a block that stand after its beginning; only braces make a scope of their own."""
        for step in steps:
            match step.statement:
                case Declaration(_, items):
                    for item in items:
                        self.refuse_array(item)
                        size = self.size_of(item)
                        self.add(scope, step.statement, item, size, [0] * (size or 1), True)
                case If(options) | Do(options):
                    for option in options:
                        self.declare_inner(scope, option)
                case _:
                    pass

    def refuse_array(self, item: Declared) -> None:
        if item.size is not None:
            self.errors.add(
                Code.UNSUPPORTED,
                f"array `{item.name.text}` is declared after the first statement",
                item.name.span,
                note="Spin would set its first element only",
                hint=f"declare `{item.name.text}` at the beginning of its process",
            )

    def size_of(self, item: Declared) -> int | None:
        def value_of(expression: Expression) -> int:
            try:
                return evaluate(expression, lambda reference: self.model.constants.get(reference.name.text))
            except (NotConstant, EvaluationError):
                self.errors.add(Code.UNSUPPORTED, f"`{expression.span.text}` is not a constant", expression.span)
                return 1

        size = array_size(item, value_of, self.errors)
        if size is not None and size > MOST_LOCAL_ELEMENTS:
            message = f"local array `{item.name.text}` has more than {MOST_LOCAL_ELEMENTS} elements"
            self.errors.add(Code.TOO_LARGE, message, item.name.span)
            return 1
        return size

    def add(
        self,
        scope: dict[str, LocalName],
        declaration: Declaration,
        item: Declared,
        size: int | None,
        values: list[int],
        changes: bool,
    ) -> None:
        """Declare a register for each element, or none if its value never `changes` and nothing assigns to it."""
        name = item.name
        if name.text in scope:
            first = Label(scope[name.text].name.span, "first declared here")
            self.errors.add(Code.DUPLICATE, f"`{name.text}` is declared twice", name.span, first)
            return
        domain = domain_of(declaration.type, item, self.errors)
        if changes or name.text in self.assigned:
            count = sum(name.text in (r.name, r.name.split("[")[0]) for r in self.builder.registers)
            shown = name.text if count == 0 else f"{name.text}_{len(self.builder.registers)}"
            numbers = [
                self.builder.register(shown if size is None else f"{shown}[{i}]", domain, [value], name.span)
                for i, value in enumerate(values)
            ]
            scope[name.text] = LocalName(name, numbers[0], size, tuple(values))
        else:
            scope[name.text] = LocalName(name, None, size, tuple(values))
