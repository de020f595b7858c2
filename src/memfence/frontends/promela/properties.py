"""`ltl` blocks: `[]` of a state formula is an invariant, `finally` of one is about final states; any other formula is
kept as text.

In a formula `P[n]@label` and `P[n]:variable` mean the process of type P with Spin's process number n; the number may be
left out where there is only one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from memfence.codes import Code
from memfence.diagnostics import InputError, did_you_mean
from memfence.frontends.parsing.limits import operation
from memfence.frontends.promela import syntax
from memfence.frontends.promela.declarations import (
    Errors,
    Model,
    NotConstant,
    Shape,
    SharedName,
    element_count,
    element_names,
    evaluate,
    strides,
    unknown_name,
)
from memfence.frontends.promela.formula_tokens import (
    TEMPORAL,
    is_one_state_formula,
    is_state_formula,
    reference_end,
    state_formula,
    with_operators,
)
from memfence.frontends.promela.inlines import LtlBlock
from memfence.frontends.promela.instances import any_number
from memfence.frontends.promela.reader import read_expression
from memfence.frontends.promela.statements import Lowered
from memfence.frontends.promela.timeouts import in_memory, nobody_can_move
from memfence.frontends.promela.tokens import NAME, Token
from memfence.program import expressions
from memfence.program.facts.ends import halting_locations, has_ended
from memfence.program.facts.labels import PROGRESS, at_label
from memfence.program.ir import Final, Invariant, Ltl, Process, Property
from memfence.source import SourceText


class Formulas:
    """Turns the `ltl` blocks of a model into properties."""

    def __init__(self, source: SourceText, model: Model, processes: Sequence[Lowered], errors: Errors) -> None:
        self.source, self.model, self.processes, self.errors = source, model, processes, errors

    def property_of(self, block: LtlBlock) -> Property | None:
        """The property of one block; None after reporting what is wrong with it."""
        tokens = with_operators(block.tokens)
        if not tokens:
            self.errors.add(Code.BAD_PROPERTY, f"`ltl {block.name}` is empty", block.keyword.span)
            return None
        try:
            if tokens[0].text == "finally" and is_state_formula(tokens[1:]):
                return Final("forall", *self.body(block, tokens[1:]))
            if tokens[0].text == "[]" and is_one_state_formula(tokens[1:]):
                return Invariant(*self.body(block, tokens[1:]))
            return Ltl(block.name, self.text_of(tokens), block.keyword.span)
        except InputError as error:
            self.errors.found += [replace(d, code=Code.BAD_PROPERTY) for d in error.diagnostics]
            return None

    def body(self, block: LtlBlock, tokens: Sequence[Token]) -> tuple[expressions.Expr, str]:
        """The state formula, and its text as it was written."""
        body = read_expression(self.source, state_formula(tokens))
        first, last = tokens[0].span, tokens[-1].span
        same = first.source is last.source and first.start < last.end
        text = first.source.text[first.start : last.end] if same else block.name
        return expressions.fold(self.value(body)), " ".join(text.split())

    # State formulas

    def value(self, expression: syntax.Expression) -> expressions.Expr:
        match expression:
            case syntax.Number(value):
                return expressions.Const(value)
            case syntax.Reference():
                return self.variable(expression)
            case syntax.UnaryOperation(op, operand):
                return expressions.Unary(op, self.value(operand))
            case syntax.BinaryOperation(op, left, right):
                return operation(op, self.value(left), self.value(right))
            case syntax.Choice(condition, then, otherwise):
                return expressions.Conditional(self.value(condition), self.value(then), self.value(otherwise))
            case syntax.LabelReference(proctype, pid, label):
                return self.label(proctype, pid, label)
            case syntax.LocalReference(proctype, pid, variable):
                return self.local(proctype, pid, variable)
            case syntax.EmptyBuffer(proctype, pid):
                process = self.process(proctype, pid)
                return expressions.Const(0) if process is None else expressions.BufferEmpty(process)
            case syntax.RunningCount():
                return self.running()
            case syntax.NoProgress():
                return expressions.negate(at_label([p.process for p in self.processes], PROGRESS))
            case syntax.Timeout():
                return nobody_can_move([p.process for p in self.processes], in_memory)
            case syntax.Pid(span) | syntax.Run(_, _, span):
                self.errors.add(Code.BAD_PROPERTY, f"`{span.text}` means nothing in a property", span)
                return expressions.Const(0)
            case _:
                assert_never(expression)

    def meanings(self) -> tuple[tuple[str, expressions.Expr], ...]:
        """What words mean in properties from elsewhere; nothing where the processes are not known."""
        if any_number(self.model):
            return ()
        processes = [lowered.process for lowered in self.processes]
        no_progress = expressions.negate(at_label(processes, PROGRESS))
        return (
            ("timeout", nobody_can_move(processes, in_memory)),
            ("_nr_pr", self.running()),
            ("np_", no_progress),
        )

    def running(self) -> expressions.Expr:
        ended = (has_ended(n, halting_locations(p.process)) for n, p in enumerate(self.processes))
        running: expressions.Expr = expressions.Const(0)
        for one in ended:
            running = expressions.Binary("+", running, expressions.negate(one))
        return running

    def variable(self, reference: syntax.Reference) -> expressions.Expr:
        name = reference.name
        if name.text in self.model.constants:
            return expressions.Const(self.model.constants[name.text])
        shared = self.model.shared.get(name.text)
        if shared is None:
            self.unknown_variable(name)
            return expressions.Const(0)
        return expressions.Shared(self.address(shared, reference))

    def unknown_variable(self, name: syntax.Name) -> None:
        owners = [f"{p.process.template}[{p.pid}]" for p in self.processes if name.text in p.locals]
        if not owners:
            unknown_name(name, [*self.model.shared, *self.model.constants], self.errors)
            return
        message = f"`{name.text}` is a local variable: say of which process"
        self.errors.add(Code.BAD_PROPERTY, message, name.span, hint=f"write `{owners[0]}:{name.text}`")

    def address(self, shared: SharedName, reference: syntax.Reference) -> expressions.Address:
        index = self.index(shared.shape, reference)
        if isinstance(index, expressions.Const):
            return expressions.variable_address(shared.base + index.value)
        return expressions.Address(shared.base, element_count(shared.shape), index)

    def index(self, shape: Shape, reference: syntax.Reference) -> expressions.Expr:
        """Which element the reference means; a constant one lies within bounds."""
        result: expressions.Expr = expressions.Const(0)
        for given, size, stride in zip(reference.indices, shape, strides(shape), strict=True):
            if size is None or given is None:
                self.check_kind(reference, given is not None, size is not None)
                continue
            index = expressions.fold(self.value(given))
            if isinstance(index, expressions.Const) and not 0 <= index.value < size:
                message = f"index {index.value} of `{reference.name.text}` lies outside 0..{size - 1}"
                self.errors.add(Code.BAD_ADDRESS, message, reference.span)
                return expressions.Const(0)
            if len(shape) > 1 and not isinstance(index, expressions.Const):
                message = f"`{reference.span.text}`: the index of a record is not a constant"
                self.errors.add(Code.BAD_PROPERTY, message, reference.span)
                return expressions.Const(0)
            result = expressions.fold(
                expressions.Binary("+", result, expressions.Binary("*", index, expressions.Const(stride)))
            )
        return result

    def check_kind(self, reference: syntax.Reference, has_index: bool, needs: bool) -> None:
        if has_index != needs:
            what = "is an array and needs an index" if needs else "is not an array"
            self.errors.add(Code.TYPE_MISMATCH, f"`{reference.name.text}` {what}", reference.span)

    # Other processes

    def process(self, proctype: syntax.Name, pid: syntax.Expression | None) -> int | None:
        """The number of the process meant; None after reporting that there is none."""
        candidates = [(i, p) for i, p in enumerate(self.processes) if p.process.template == proctype.text]
        if not candidates:
            known = sorted({p.process.template for p in self.processes})
            hint = did_you_mean(proctype.text, known)
            self.errors.add(Code.UNKNOWN_PROCESS, f"no process of type `{proctype.text}`", proctype.span, hint=hint)
            return None
        if pid is None:
            if len(candidates) > 1:
                message = f"there are {len(candidates)} processes of type `{proctype.text}`"
                hint = f"write `{proctype.text}[{candidates[0][1].pid}]`"
                self.errors.add(Code.BAD_PROPERTY, message, proctype.span, hint=hint)
            return candidates[0][0]
        try:
            number = evaluate(pid, lambda reference: self.model.constants.get(reference.name.text))
        except (NotConstant, expressions.EvaluationError):
            self.errors.add(Code.BAD_PROPERTY, f"`{pid.span.text}` is not a constant", pid.span)
            return None
        found = next((i for i, process in candidates if process.pid == number), None)
        if found is None:
            numbers = ", ".join(str(process.pid) for _, process in candidates)
            message = f"process {number} is not of type `{proctype.text}`"
            self.errors.add(Code.UNKNOWN_PROCESS, message, pid.span, hint=f"`_pid` of `{proctype.text}`: {numbers}")
        return found

    def label(self, proctype: syntax.Name, pid: syntax.Expression | None, label: syntax.Name) -> expressions.Expr:
        process = self.process(proctype, pid)
        if process is None:
            return expressions.Const(0)
        locations = self.processes[process].process.locations
        found = frozenset(i for i, location in enumerate(locations) if label.text in location.labels)
        if not found:
            known = sorted({name for location in locations for name in location.labels})
            hint = did_you_mean(label.text, known)
            message = f"`{proctype.text}` has no label `{label.text}`"
            self.errors.add(Code.UNKNOWN_LABEL, message, label.span, hint=hint)
        return expressions.At(process, found)

    def local(
        self, proctype: syntax.Name, pid: syntax.Expression | None, variable: syntax.Reference
    ) -> expressions.Expr:
        process = self.process(proctype, pid)
        if process is None:
            return expressions.Const(0)
        lowered = self.processes[process]
        found = lowered.locals.get(variable.name.text)
        if found is None:
            hint = did_you_mean(variable.name.text, sorted(lowered.locals))
            message = f"`{proctype.text}` has no variable `{variable.name.text}`"
            self.errors.add(Code.UNKNOWN_REGISTER, message, variable.span, hint=hint)
            return expressions.Const(0)
        index = self.index(found.shape, variable)
        if not isinstance(index, expressions.Const) or not found.values:
            message = f"`{variable.span.text}` does not name one element of `{variable.name.text}`"
            self.errors.add(Code.BAD_PROPERTY, message, variable.span)
            return expressions.Const(0)
        if found.register is None:
            return expressions.Const(found.values[index.value])
        return expressions.RegisterOf(process, found.register + index.value)

    # Temporal formulas

    def text_of(self, tokens: Sequence[Token]) -> str:
        """The formula with processes and constants called as everywhere else: `P_0@cs`, `P.x`."""
        words: list[str] = []
        at = 0
        while at < len(tokens):
            end = reference_end(tokens, at)
            if end is not None:
                words.append(self.reference_text(read_expression(self.source, state_formula(tokens[at:end]))))
                at = end
                continue
            token = tokens[at]
            if token.kind == NAME and token.text not in TEMPORAL:
                words.append(self.name_text(token))
            else:
                words.append(token.text)
            at += 1
        return " ".join(words)

    def name_text(self, token: Token) -> str:
        value = self.model.constants.get(token.text)
        if value is None and token.text not in self.model.shared:
            self.unknown_variable(syntax.Name(token.text, token.span))
        return token.text if value is None else str(value)

    def reference_text(self, reference: syntax.Expression) -> str:
        match self.value(reference):
            case expressions.Const(value):
                return str(value)
            case expressions.RegisterOf(process, register):
                owner = self.processes[process].process
                return f"{owner.name}.{owner.registers[register].name}"
            case expressions.BufferEmpty(process):
                return f'empty("{self.processes[process].process.name}")'
            case expressions.Binary() if isinstance(reference, syntax.RunningCount):
                ended = (_ended_text(p.process) for p in self.processes)
                return f"({' + '.join(ended)})"
            case expressions.Shared(address) if address.variable is not None:
                return f'"{_names(self.model)[address.variable]}"'
            case expressions.At(process, _) if isinstance(reference, syntax.LabelReference):
                return f"{self.processes[process].process.name}@{reference.label.text}"
            case _:
                return "false"


def _names(model: Model) -> list[str]:
    """What the shared variables are called, by number."""
    return [name for shared in model.shared.values() for name in element_names(shared.name.text, shared.shape)]


def _ended_text(process: Process) -> str:
    places = " || ".join(f'"{process.name}"@#{number}' for number in sorted(halting_locations(process)))
    return f'!(({places or "false"}) && empty("{process.name}"))'
