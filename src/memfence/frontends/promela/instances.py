"""Which processes there are: `active` ones, and those that `init` runs before anything else happens.

The static beginning of `init` is executed here: `run`, work on its own variables, and assignments of constants to
shared variables while no other process can see them. What is left of it is a process like any other; if nothing is
left there is no such process, unless it is the only one. Process numbers are Spin's: `active` proctypes and `init` in
the order of the text, then each `run`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from memfence.codes import Code
from memfence.diagnostics import Label, did_you_mean
from memfence.frontends.promela import syntax
from memfence.frontends.promela.declarations import Errors, Model, NotConstant, Shape, evaluate, members, strides
from memfence.frontends.promela.preprocess import wrong_count
from memfence.program.expressions import EvaluationError
from memfence.program.ir import Domain
from memfence.program.parameterised import REPRESENTATIVES
from memfence.records import Record

MOST_PROCESSES = 255
MOST_STEPS = 20_000


class Instance(Record):
    """A process to be: `arguments` are the values of its parameters, `locals` those of its variables on the way."""

    name: str
    proctype: syntax.Proctype
    pid: int
    arguments: tuple[int, ...] = ()
    locals: dict[str, list[int]] = field(default_factory=dict)


def start(model: Model, errors: Errors) -> list[Instance]:
    """Every process, by number. Sets `model.memory` to what the static part of `init` leaves."""
    first: list[tuple[syntax.Proctype | syntax.Init, int]] = []
    for unit in model.started:
        count = 1 if isinstance(unit, syntax.Init) else _copies(model, unit, errors)
        first += [(unit, len(first) + i) for i in range(count)]
    instances = [
        Instance("", unit, pid, (0,) * _parameter_count(unit))
        for unit, pid in first
        if isinstance(unit, syntax.Proctype)
    ]
    for unit, pid in first:
        if isinstance(unit, syntax.Init):
            beginning = _Beginning(model, errors, len(first), bool(instances), pid)
            instances += beginning.execute(unit)
    if len(instances) > MOST_PROCESSES:
        where = instances[-1].proctype.name.span
        errors.add(Code.TOO_LARGE, f"more than {MOST_PROCESSES} processes", where)
    instances.sort(key=lambda instance: instance.pid)
    kinds = [instance.proctype.name.text for instance in instances]
    return [
        replace(i, name=kind if kinds.count(kind) == 1 else f"{kind}_{i.pid}")
        for i, kind in zip(instances[: MOST_PROCESSES + 1], kinds, strict=False)
    ]


def any_number(model: Model) -> tuple[str, ...]:
    """The proctypes that are declared `active [*]`."""
    return tuple(unit.name.text for unit in model.started if isinstance(unit, syntax.Proctype) and unit.any_number)


def _copies(model: Model, unit: syntax.Proctype, errors: Errors) -> int:
    if unit.any_number:
        return REPRESENTATIVES
    if unit.active is None or isinstance(unit.active, int):
        return 1
    try:
        count = evaluate(unit.active, lambda reference: model.constants.get(reference.name.text))
    except (NotConstant, EvaluationError):
        errors.add(Code.UNSUPPORTED, "the number of `active` processes is not a constant", unit.active.span)
        return 1
    if not 1 <= count <= MOST_PROCESSES:
        code = Code.TOO_LARGE if count > 0 else Code.EMPTY_RANGE
        hint = f"use 1 to {MOST_PROCESSES}"
        errors.add(code, f"`{unit.name.text}` is started {count} times", unit.active.span, hint=hint)
        return 1
    return count


def _parameter_count(unit: syntax.Proctype) -> int:
    return sum(len(declaration.items) for declaration in unit.parameters)


def _as_proctype(init: syntax.Init, steps: tuple[syntax.Step, ...]) -> syntax.Proctype:
    return syntax.Proctype(syntax.Name("init", init.span), (), syntax.Sequence(steps), 1)


def _all_runs(steps: tuple[syntax.Step, ...]) -> list[syntax.Run]:
    expressions = (
        expression for step in syntax.all_steps(steps) for expression in syntax.expressions_of(step.statement)
    )
    return [
        part for expression in expressions for part in syntax.subexpressions(expression) if isinstance(part, syntax.Run)
    ]


class _NotStatic(Exception):
    """The statement cannot be executed before the program runs."""


@dataclass(slots=True)
class _Variable:
    domain: Domain
    values: list[int]
    shape: Shape


class _Beginning:
    """Executes the static beginning of `init`."""

    def __init__(self, model: Model, errors: Errors, next_pid: int, others: bool, pid: int) -> None:
        self.model, self.errors, self.next_pid, self.pid = model, errors, next_pid, pid
        self.memory = list(model.memory)
        self.scopes: list[dict[str, _Variable]] = [{}]  # a block makes one of its own
        self.started: list[Instance] = []
        self.others = others
        self.watched = others  # whether some other process may look at memory by now
        self.in_atomic = False
        self.steps = 0

    def execute(self, init: syntax.Init) -> list[Instance]:
        done = 0
        for step in init.body.steps:
            (locals_,) = self.scopes
            saved = list(self.memory), [{n: replace(v, values=list(v.values)) for n, v in locals_.items()}]
            kept, next_pid, watched = list(self.started), self.next_pid, self.watched
            try:
                if not self.step(step):
                    raise _NotStatic  # a `break` outside of any loop
            except (_NotStatic, NotConstant, EvaluationError):
                self.memory, self.scopes = saved
                self.started, self.next_pid, self.watched, self.in_atomic = kept, next_pid, watched, False
                break
            done += 1
        if not self.started and not self.others and not _all_runs(init.body.steps):
            return [Instance("init", _as_proctype(init, init.body.steps), self.pid)]  # nobody else would be there
        self.model.memory = self.memory
        return self.started + self.remainder(init, done)

    def remainder(self, init: syntax.Init, done: int) -> list[Instance]:
        """`init` as a process, if it has more to do than what was executed."""
        rest = init.body.steps[done:]
        if not rest and (self.started or self.others):
            return []
        runs = _all_runs(rest)
        if runs:
            self.dynamic(runs[0])
            return []
        # Declarations stay in front, for their names; the values they had come with the instance. The empty block
        # stands for what was executed: a declaration behind it is an assignment.
        before = tuple(step for step in init.body.steps[:done] if isinstance(step.statement, syntax.Declaration))
        executed = (syntax.Step(syntax.Sequence(()), init.span),) if len(before) < done else ()
        values = {name: variable.values for name, variable in self.scopes[0].items()}
        return [Instance("init", _as_proctype(init, (*before, *executed, *rest)), self.pid, (), values)]

    def dynamic(self, run: syntax.Run) -> None:
        self.errors.add(
            Code.UNSUPPORTED,
            f"`run {run.proctype.text}` does not happen at the very beginning of `init`",
            run.span,
            note="processes must exist from the start",
            hint="start all processes first, or use `active proctype`",
        )

    # Statements

    def step(self, step: syntax.Step) -> bool:
        """Execute `step`; False if a `break` leaves the loop around it."""
        self.steps += 1
        if self.steps > MOST_STEPS or step.labels:
            raise _NotStatic
        match step.statement:
            case syntax.Declaration():
                for item in step.statement.items:
                    self.declare(step.statement, item)
            case syntax.Assignment(target, value):
                self.assign(target, self.value(value))
            case syntax.Condition(syntax.Run() as run):
                self.run(run)
            case syntax.Condition(expression) | syntax.Assertion(expression):
                if not self.value(expression):
                    raise _NotStatic
            case syntax.Skip():
                pass
            case syntax.Break():
                return False
            case syntax.Sequence(steps):
                return self.block(steps)
            case syntax.Atomic(syntax.Sequence(steps)):
                outer, self.in_atomic = self.in_atomic, True
                goes_on = self.block(steps)
                self.in_atomic = outer
                self.watched = self.watched or bool(self.started)
                return goes_on
            case syntax.For(target, low, high, body):
                self.loop(target, low, high, body)
            case syntax.If(options):
                return self.choose(options)
            case syntax.Do(options):
                self.repeat(options)
            case _:
                raise _NotStatic
        return True

    def block(self, steps: tuple[syntax.Step, ...]) -> bool:
        """Execute the steps, whose names end with them; False if a `break` leaves them."""
        self.scopes.append({})
        goes_on = all(self.step(step) for step in steps)
        self.scopes.pop()
        return goes_on

    def loop(
        self, target: syntax.Reference, low: syntax.Expression, high: syntax.Expression, body: syntax.Sequence
    ) -> None:
        self.assign(target, self.value(low))
        while self.value(syntax.BinaryOperation("<=", target, high, target.span)):
            if not self.step(syntax.Step(body, target.span)):
                return
            self.assign(
                target, self.value(syntax.BinaryOperation("+", target, syntax.Number(1, target.span), target.span))
            )

    def choose(self, options: tuple[tuple[syntax.Step, ...], ...]) -> bool:
        """Take the only option that can be taken; False if a `break` ends it."""
        enabled = [option for option in options if self.is_enabled(option[0])]
        otherwise = [option for option in options if isinstance(option[0].statement, syntax.Else)]
        chosen = enabled or otherwise
        if len(chosen) != 1:
            raise _NotStatic
        steps = chosen[0] if enabled else chosen[0][1:]
        return all(self.step(step) for step in steps)

    def repeat(self, options: tuple[tuple[syntax.Step, ...], ...]) -> None:
        while self.choose(options):
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise _NotStatic

    def is_enabled(self, step: syntax.Step) -> bool:
        match step.statement:
            case syntax.Else():
                return False
            case syntax.Condition(syntax.Run()):
                return True
            case syntax.Condition(expression):
                return bool(self.value(expression))
            case syntax.Goto() | syntax.Atomic() | syntax.Sequence() | syntax.If() | syntax.Do():
                raise _NotStatic
            case _:
                return True

    def declare(self, declaration: syntax.Declaration, item: syntax.Declared) -> None:
        for member in members(self.model, declaration, item, self.value, self.errors):
            self.scopes[-1][member.name.text] = _Variable(member.domain, member.values, member.shape)

    def run(self, run: syntax.Run) -> None:
        name = run.proctype
        proctype = self.model.proctypes.get(name.text)
        if proctype is None:
            hint = did_you_mean(name.text, sorted(self.model.proctypes))
            self.errors.add(Code.UNKNOWN_PROCESS, f"unknown proctype `{name.text}`", name.span, hint=hint)
            return
        needed, given = _parameter_count(proctype), len(run.arguments)
        if needed != given:
            message = wrong_count(f"`{name.text}`", needed, given)
            self.errors.add(Code.ARGUMENT_COUNT, message, run.span, Label(proctype.name.span, "defined here"))
            return
        if len(self.started) > MOST_PROCESSES:
            raise _NotStatic
        arguments = tuple(self.value(argument) for argument in run.arguments)
        self.started.append(Instance("", proctype, self.next_pid, arguments))
        self.next_pid += 1
        self.watched = self.watched or not self.in_atomic

    # Values

    def value(self, expression: syntax.Expression) -> int:
        return evaluate(expression, self.look_up, self.pid)

    def look_up(self, reference: syntax.Reference) -> int | None:
        found = self.variable(reference)
        if isinstance(found, int):
            return found
        values, position, _ = found
        return values[position]

    def assign(self, target: syntax.Reference, value: int) -> None:
        found = self.variable(target)
        if isinstance(found, int):
            raise _NotStatic
        values, position, domain = found
        values[position] = domain.fit(value)

    def variable(self, reference: syntax.Reference) -> int | tuple[list[int], int, Domain]:
        """The constant that `reference` names, or where its value is."""
        name = reference.name.text
        local = next((scope[name] for scope in reversed(self.scopes) if name in scope), None)
        shared = self.model.shared.get(name)
        if local is not None:
            return local.values, self.position(reference, local.shape), local.domain
        if shared is not None:
            if self.watched:
                raise _NotStatic
            return self.memory, shared.base + self.position(reference, shared.shape), shared.domain
        if name in self.model.constants and not any(reference.indices):
            return self.model.constants[name]
        raise _NotStatic

    def position(self, reference: syntax.Reference, shape: Shape) -> int:
        """Which element of the variable `reference` means."""
        found = 0
        for index, size, stride in zip(reference.indices, shape, strides(shape), strict=True):
            number = 0 if index is None else self.value(index)
            if (index is None) != (size is None) or not 0 <= number < (size or 1):
                raise _NotStatic
            found += number * stride
        return found
