"""Local variables of a process: each is a register, or a constant if nothing ever assigns to it.

What stands before the first statement has its value from the start; a later declaration is an assignment, of 0 if it
gives no value, executed when control passes it. Both as in Spin.
"""

from __future__ import annotations

import re
from dataclasses import replace

from memfence.codes import Code
from memfence.diagnostics import Label
from memfence.frontends.promela import syntax
from memfence.frontends.promela.declarations import (
    Errors,
    Member,
    Model,
    NotConstant,
    array_size,
    domain_of,
    element_count,
    element_names,
    evaluate,
    is_array,
    members,
)  # fmt: skip
from memfence.frontends.promela.evaluation import LocalName
from memfence.frontends.promela.instances import Instance
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import EvaluationError

MOST_LOCAL_ELEMENTS = 256


class Locals:
    """Declares the local variables of one process in its builder."""

    def __init__(self, model: Model, instance: Instance, builder: ProcessBuilder, errors: Errors) -> None:
        self.model, self.instance, self.builder, self.errors = model, instance, builder, errors
        self.assigned = syntax.assigned_names(instance.proctype.body.steps)

    def declare_parameters(self, scope: dict[str, LocalName]) -> None:
        values = iter(self.instance.arguments)
        for declaration in self.instance.proctype.parameters:
            for item in declaration.items:
                value = next(values)
                if declaration.type in self.model.types or item.size is not None or item.initial is not None:
                    what = "be a record" if declaration.type in self.model.types else "have an initial value"
                    message = f"parameter `{item.name.text}` can be neither an array nor {what}"
                    self.errors.add(Code.UNSUPPORTED, message, item.name.span)
                    continue
                domain = domain_of(declaration.type, item, self.errors)
                self.add(scope, Member(item.name, (None,), domain, [domain.fit(value)]), False)

    def declare_first(self, scope: dict[str, LocalName], steps: tuple[syntax.Step, ...]) -> int:
        """Declare what stands before the first statement; its values are those at the start. Return how many steps."""
        for count, step in enumerate(steps):
            if not isinstance(step.statement, syntax.Declaration) or step.labels:
                return count
            for item in step.statement.items:
                self.declare_record(scope, step.statement, item)
                for member in self.start_members(step.statement, item, scope):
                    self.add(scope, member, False)
        return len(steps)

    def declare_record(
        self, scope: dict[str, LocalName], declaration: syntax.Declaration, item: syntax.Declared
    ) -> None:
        if declaration.type in self.model.types and self.is_new(scope, item.name):
            scope[item.name.text] = LocalName(item.name, None, (self.size_of(item),), ())

    def start_members(
        self, declaration: syntax.Declaration, item: syntax.Declared, scope: dict[str, LocalName]
    ) -> list[Member]:
        """What `item` declares, with the values at the start: those that the beginning of `init` left, if it did."""

        def look_up(reference: syntax.Reference) -> int | None:
            local = scope.get(reference.name.text)
            if local is not None:
                plain = not is_array(local.shape) and not any(reference.indices)
                return local.values[0] if plain and local.values else None
            return self.model.constants.get(reference.name.text)

        def value_of(expression: syntax.Expression) -> int:
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

        found = members(self.model, declaration, item, value_of, self.errors)
        executed = self.instance.locals
        return [replace(one, values=executed.get(one.name.text, one.values)) for one in found if self.is_small(one)]

    def is_small(self, member: Member) -> bool:
        if element_count(member.shape) <= MOST_LOCAL_ELEMENTS:
            return True
        message = f"local array `{member.name.text}` has more than {MOST_LOCAL_ELEMENTS} elements"
        self.errors.add(Code.TOO_LARGE, message, member.name.span)
        return False

    def declare_inner(self, scope: dict[str, LocalName], steps: tuple[syntax.Step, ...]) -> None:
        """Declare the names of a block that stand after its beginning; only braces make a scope of their own."""
        for step in steps:
            match step.statement:
                case syntax.Declaration(_, items):
                    for item in items:
                        self.refuse_array(step.statement, item)
                        if self.is_composed(step.statement, item):
                            self.declare_record(scope, step.statement, item)
                            for member in self.start_members(step.statement, item, scope):
                                self.add(scope, member, True)
                        else:
                            domain = domain_of(step.statement.type, item, self.errors)
                            self.add(scope, Member(item.name, (None,), domain, [0]), True)
                case syntax.If(options) | syntax.Do(options):
                    for option in options:
                        self.declare_inner(scope, option)
                case _:
                    pass

    def is_composed(self, declaration: syntax.Declaration, item: syntax.Declared) -> bool:
        return item.size is not None or declaration.type in self.model.types

    def refuse_array(self, declaration: syntax.Declaration, item: syntax.Declared) -> None:
        if self.is_composed(declaration, item):
            is_record = declaration.type in self.model.types
            self.errors.add(
                Code.UNSUPPORTED,
                f"{'record' if is_record else 'array'} `{item.name.text}` is declared after the first statement",
                item.name.span,
                note="" if is_record else "Spin would set its first element only",
                hint=f"declare `{item.name.text}` at the beginning of its process",
            )

    def size_of(self, item: syntax.Declared) -> int | None:
        def value_of(expression: syntax.Expression) -> int:
            try:
                return evaluate(expression, lambda reference: self.model.constants.get(reference.name.text))
            except (NotConstant, EvaluationError):
                self.errors.add(Code.UNSUPPORTED, f"`{expression.span.text}` is not a constant", expression.span)
                return 1

        return array_size(item, value_of, self.errors)

    def is_new(self, scope: dict[str, LocalName], name: syntax.Name) -> bool:
        if name.text not in scope:
            return True
        first = Label(scope[name.text].name.span, "first declared here")
        self.errors.add(Code.DUPLICATE, f"`{name.text}` is declared twice", name.span, first)
        return False

    def add(self, scope: dict[str, LocalName], member: Member, changes: bool) -> None:
        """Declare a register for each element, or none if its value never `changes` and nothing assigns to it."""
        name = member.name
        if not self.is_new(scope, name):
            return
        if changes or name.text in self.assigned:
            root, *fields = name.text.split(".")
            count = sum(root == re.split(r"[.\[]", register.name)[0] for register in self.builder.registers)
            fresh = count == 0 or bool(fields)
            shown = name.text if fresh else f"{name.text}_{len(self.builder.registers)}"
            numbers = [
                self.builder.register(element, member.domain, [value], name.span)
                for element, value in zip(element_names(shown, member.shape), member.values, strict=True)
            ]
            scope[name.text] = LocalName(name, numbers[0], member.shape, tuple(member.values))
        else:
            scope[name.text] = LocalName(name, None, member.shape, tuple(member.values))
