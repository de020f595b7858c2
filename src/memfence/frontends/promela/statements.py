"""From a process of the model to a process of the IR: control flow, lock regions, fence points.

Control states are Spin's: a statement is one transition, `goto` and `break` are none unless they begin an option. Built
backwards, so that a statement knows where it leads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, did_you_mean
from memfence.frontends.promela import fence_points as points
from memfence.frontends.promela import syntax
from memfence.frontends.promela.declarations import Errors, Model
from memfence.frontends.promela.desugar import expand_for, expand_select
from memfence.frontends.promela.emission import Emission, assignment
from memfence.frontends.promela.evaluation import Evaluation, LocalName, Look, Names
from memfence.frontends.promela.guards import Guards, Options, doubtful_elses, guards_of, is_empty, misplaced_elses
from memfence.frontends.promela.instances import Instance
from memfence.frontends.promela.jumps import Jumps, is_kept
from memfence.frontends.promela.locals import Locals
from memfence.frontends.promela.syntax import Sequence as Steps
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Const, conjunction, negate
from memfence.program.ir import Assert, Assume, Fence, FencePoint, Lock, Op, Process, Unlock
from memfence.records import Record

MOST_SELECTED = 64
FENCES: dict[str, Op] = {"mfence": Fence("mfence"), "sfence": Fence("sfence"), "lock": Lock(), "unlock": Unlock()}


class Lowered(Record):
    """A process, and what its local names became: for properties."""

    process: Process
    locals: dict[str, LocalName]
    pid: int


def lower_process(
    model: Model,
    instance: Instance,
    errors: Errors,
    warnings: dict[Diagnostic, None],
    split_reads: bool,
    *,
    beyond: Look | None = None,
) -> Lowered:
    """The IR of one process; mistakes go to `errors`, statements that read several variables to `warnings`.

    `beyond`: what expressions mean, of a `never` claim, which looks at everything and loads nothing.
    """
    return _Lowering(model, instance, errors, warnings, split_reads, beyond).lower()


class _Lowering:
    def __init__(
        self,
        model: Model,
        instance: Instance,
        errors: Errors,
        warnings: dict[Diagnostic, None],
        split_reads: bool,
        beyond: Look | None,
    ) -> None:
        self.model, self.instance, self.errors = model, instance, errors
        self.template = instance.proctype.name.text
        self.builder = ProcessBuilder(instance.name, self.template, instance.proctype.name.span)
        self.names = Names(model, errors, beyond)
        self.steps = instance.proctype.body.steps
        self.locals = Locals(model, instance, self.builder, errors)
        self.jumps = Jumps(self.builder, errors, self.steps)
        self.emission = Emission(
            self.names, self.builder, instance.pid, self.template, self.jumps, warnings, split_reads
        )
        self.places_before: dict[int, FencePoint] = {}
        self.deterministic = False  # inside `d_step`

    def lower(self) -> Lowered:
        self.errors.extend(misplaced_elses(self.steps))
        self.jumps.collect_labels()
        scope: dict[str, LocalName] = {}
        self.names.scopes.append(scope)
        self.locals.declare_parameters(scope)
        initial = self.locals.declare_first(scope, self.steps)
        self.locals.declare_inner(scope, self.steps[initial:])
        end = self.jumps.location(self.instance.proctype.name.span, "end")
        start = self.sequence(self.steps[initial:], end, entered=True)
        self.jumps.refuse_jumps_into_regions()
        self.mark_locations()
        return Lowered(self.builder.build(start), scope, self.instance.pid)

    # Sequences

    def block(self, steps: tuple[syntax.Step, ...], target: int, head: int | None, guards: Guards) -> int:
        """A `{ ... }` with its own names."""
        scope: dict[str, LocalName] = {}
        self.names.scopes.append(scope)
        self.locals.declare_inner(scope, steps)
        start = self.sequence(steps, target, head, guards)
        self.names.scopes.pop()
        return start

    def sequence(
        self,
        steps: tuple[syntax.Step, ...],
        target: int,
        head: int | None = None,
        guards: Guards = (),
        *,
        entered: bool = False,
    ) -> int:
        """Add the steps ending at `target`; return where they start.

        With `head` the first one starts there: it begins an option, whose `else` needs the other options' `guards`.
        `entered`: nothing can have happened before the first step, so a fence in front of it is never needed.
        """
        steps = tuple(step for step in steps if not is_empty(step))
        for position in reversed(range(len(steps))):
            step = steps[position]
            if position == 0 and head is not None:
                self.from_head(head, step, target, guards)
                return head
            before = self.one_step(step, target)
            if position > 0 or not entered:
                self.note_place_before(before, step)
            target = before
        if head is not None:
            self.builder.emit(head, target, span=self.builder.locations[head].span)
            return head
        return target

    def note_place_before(self, location: int, step: syntax.Step) -> None:
        """Remember the fence point in front of `step`, if text there catches every way into the location."""
        statement = step.statement
        if self.jumps.region is not None or isinstance(
            statement, syntax.Do | syntax.Goto | syntax.Break | syntax.Else | Steps
        ):
            return
        if self.jumps.lead_to(step):
            return
        if isinstance(statement, syntax.Atomic) and not self.needs_lock(statement):
            return
        point = points.before(step, self.template)
        if point is not None:
            self.places_before.setdefault(location, point)

    def mark_locations(self) -> None:
        """Give locations their points, but where the only statement before has the same place behind it."""
        arriving: dict[int, set[FencePoint | None]] = {}
        for transition in self.builder.transitions:
            arriving.setdefault(transition.target, set()).add(transition.point)
        for number, point in self.places_before.items():
            known = arriving.get(number, {None})
            if len(known) > 1 or None in known:
                self.builder.locations[number] = replace(self.builder.locations[number], point=point)

    def one_step(self, step: syntax.Step, target: int, guards: Guards = ()) -> int:
        """Add `step` at its own location, which is returned; a jump has none and returns where it leads."""
        match step.statement:
            case syntax.Goto(label) if not is_kept(step):
                return self.jumps.target_of(label)
            case syntax.Break() if not step.labels:
                return self.jumps.break_target(step)
            case Steps(steps) if not step.labels:
                return self.block(steps, target, None, ())
            case syntax.Atomic() if not step.labels and not self.needs_lock(step.statement):
                return self.atomic_block(step.statement, target, None, ())
            case syntax.Do(options):
                head = self.jumps.start_of(step)
                self.loop(head, options, target)
                return head
            case _:
                here = self.jumps.start_of(step)
                self.from_head(here, step, target, guards, own=True)
                return here

    def from_head(self, head: int, step: syntax.Step, target: int, guards: Guards, *, own: bool = False) -> None:
        """Add `step` so that it starts at `head`; `own` if that is its own location, else `head` has other ways on."""
        if step.labels and not own and not isinstance(step.statement, syntax.Goto):
            self.copied(head, step, target, guards)
            return
        match step.statement:
            case syntax.Goto(label):
                self.builder.emit(head, self.jumps.target_of(label), span=step.span)
            case syntax.Break():
                self.builder.emit(head, self.jumps.break_target(step), span=step.span)
            case Steps(steps):
                self.block(steps, target, head, guards)
            case syntax.Atomic():
                self.atomic(head, step.statement, target, guards)
            case syntax.If(options):
                self.choice(head, options, target)
            case syntax.Do():
                self.copied(head, step, target, guards)
            case syntax.For(variable, low, high, body):
                self.sequence(expand_for(variable, low, high, body), target, head)
            case syntax.ForIn(variable, array, body):
                self.sequence(expand_for(variable, *self.index_range(array), body), target, head)
            case syntax.Select():
                self.select(head, step, step.statement, target)
            case syntax.Else():
                self.otherwise(head, step, target, guards)
            case _:
                self.simple(head, step, target)

    def copied(self, head: int, step: syntax.Step, target: int, guards: Guards) -> None:
        """Add `step` at its own location, and let `head` do what that does: it begins an option."""
        known = len(self.builder.transitions)
        start = self.one_step(step, target, guards)
        new = self.builder.transitions[known:]
        self.builder.transitions += [
            replace(transition, source=head) for transition in new if transition.source == start
        ]

    # Choices

    def choice(self, head: int, options: Options, target: int) -> None:
        """Options that all start at `head`."""
        self.errors.extend(doubtful_elses(options))
        for position, option in enumerate(options):
            known = len(self.builder.transitions)
            self.sequence(option, target, head, guards_of([other for other in options if other is not option]))
            if self.deterministic:
                self.only_where_none_of(guards_of(options[:position]), head, known)

    def only_where_none_of(self, guards: Guards, head: int, known: int) -> None:
        """Let the ways on from `head` since number `known` wait until the `guards` of earlier options are false.

        Nothing else runs inside a `d_step`, so both options see the same values though each loads them itself.
        """
        if guards is None:  # an earlier option is always possible
            new = self.builder.transitions[known:]
            self.builder.transitions[known:] = [transition for transition in new if transition.source != head]
        elif guards:
            evaluation = Evaluation(self.names, self.builder, self.instance.pid)
            evaluation.ops.append(self.none_of(guards, evaluation))
            self.begin_with(evaluation.ops, head, known)

    def none_of(self, guards: tuple[syntax.Expression, ...], evaluation: Evaluation) -> Assume:
        return Assume(conjunction(*(negate(evaluation.value(guard)) for guard in guards)))

    def begin_with(self, ops: Sequence[Op], head: int, known: int) -> None:
        """Put `ops` in front of the ways on from `head` since number `known`."""
        new = self.builder.transitions[known:]
        self.builder.transitions[known:] = [
            replace(transition, ops=(*ops, *transition.ops)) if transition.source == head else transition
            for transition in new
        ]

    def loop(self, head: int, options: Options, target: int) -> None:
        self.jumps.enter_loop(target)
        self.choice(head, options, head)
        self.jumps.leave_loop()

    def otherwise(self, head: int, step: syntax.Step, target: int, guards: Guards) -> None:
        if guards is None:
            return  # some option is always possible, so this one never is

        self.emission.emit(
            head, target, step, lambda evaluation: evaluation.ops.append(self.none_of(guards, evaluation))
        )

    # Statements of one step

    def simple(self, head: int, step: syntax.Step, target: int) -> None:
        match step.statement:
            case syntax.Declaration(_, items):
                self.assign_declared(head, step, items, target)
            case syntax.Assignment(variable, value):
                self.emission.emit(head, target, step, assignment(variable, value))
            case syntax.Condition(expression):
                self.emission.emit(head, target, step, lambda e: e.ops.append(Assume(e.value(expression))))
            case syntax.Assertion(expression):
                self.emission.emit(head, target, step, lambda e: e.ops.append(Assert(e.value(expression))))
            case syntax.Skip():
                self.builder.emit(head, target, span=step.span)
            case syntax.Call(name, arguments):
                self.call(head, step, name, arguments, target)
            case _:
                raise AssertionError(step.statement)

    def assign_declared(self, head: int, step: syntax.Step, items: tuple[syntax.Declared, ...], target: int) -> None:
        """A declaration after the first statement assigns its values when control passes it, as in Spin."""
        if any(item.size is not None for item in items) or (
            isinstance(step.statement, syntax.Declaration) and (step.statement.type in self.model.types)
        ):
            return  # refused already
        for position in reversed(range(len(items))):
            item = items[position]
            here = head if position == 0 else self.jumps.location(step.span)
            variable = syntax.Reference(item.name, (None,), item.name.span)
            value = item.initial[0] if item.initial else syntax.Number(0, item.name.span)
            written = step if position == len(items) - 1 else replace(step, text=None)
            self.emission.emit(here, target, written, assignment(variable, value))
            target = here

    def call(self, head: int, step: syntax.Step, name: syntax.Name, arguments: int, target: int) -> None:
        op = FENCES.get(name.text)
        if op is None:
            hint = did_you_mean(name.text, sorted(FENCES), "define it with `inline` above this place")
            self.errors.add(Code.UNKNOWN_CALL, f"unknown `inline` `{name.text}`", name.span, hint=hint)
            return
        if arguments:
            self.errors.add(Code.ARGUMENT_COUNT, f"`{name.text}` takes no arguments", step.span)
        if self.jumps.region is not None and isinstance(op, Lock | Unlock):
            self.errors.add(Code.UNBALANCED_LOCK, f"`{name.text}` inside `atomic`, which holds the lock", step.span)
        self.builder.emit(head, target, op, span=step.span)

    # Atomic

    def mentions_shared(self, steps: tuple[syntax.Step, ...]) -> bool:
        """Whether some expression among `steps` may name a shared variable."""
        return any(
            self.names.is_shared(part.name.text)
            for step in syntax.all_steps(steps)
            for expression in syntax.expressions_of(step.statement)
            for part in syntax.subexpressions(expression)
            if isinstance(part, syntax.Reference)
        )

    def needs_lock(self, atomic: syntax.Atomic) -> bool:
        is_one_step = self.names.beyond is not None or self.mentions_shared(atomic.body.steps)
        return self.jumps.region is None and is_one_step

    def atomic(self, head: int, atomic: syntax.Atomic, target: int, guards: Guards) -> None:
        """A lock region, unless nothing shared is touched or the lock is held already.

        The lock is taken together with the first statement: where that cannot be executed, others go on.
        """
        if not self.needs_lock(atomic):
            self.atomic_block(atomic, target, head, guards)
            return
        end = self.jumps.unlock_before(target, atomic.keyword)
        self.jumps.enter_region(atomic.body.steps)
        known = len(self.builder.transitions)
        self.atomic_block(atomic, end, head, guards)
        self.begin_with([Lock()], head, known)
        self.jumps.leave_region()

    def atomic_block(self, atomic: syntax.Atomic, target: int, head: int | None, guards: Guards) -> int:
        outer, self.deterministic = self.deterministic, self.deterministic or atomic.deterministic
        start = self.block(atomic.body.steps, target, head, guards)
        self.deterministic = outer
        return start

    # Sugar

    def index_range(self, array: syntax.Name) -> tuple[syntax.Number, syntax.Number]:
        size = self.names.size_of(array)
        if size is None:
            self.errors.add(Code.TYPE_MISMATCH, f"`{array.text}` is not an array", array.span)
        first, last = (syntax.Number(bound, replace(array.span, shown=str(bound))) for bound in (0, (size or 1) - 1))
        return first, last

    def select(self, head: int, step: syntax.Step, chosen: syntax.Select, target: int) -> None:
        """Any value of a constant range: one transition each, as in Spin."""
        bounds = Evaluation(self.names, self.builder, self.instance.pid)
        low, high = bounds.value(chosen.low), bounds.value(chosen.high)
        if not isinstance(low, Const) or not isinstance(high, Const):
            message = "the bounds of `select` are not constant"
            self.errors.add(Code.UNSUPPORTED, message, step.span, hint="use an `if` with one option a value")
        elif high.value < low.value:
            message = f"`select` has no value between {low.value} and {high.value}"
            self.errors.add(Code.EMPTY_RANGE, message, step.span)
        elif high.value - low.value >= MOST_SELECTED:
            message = f"`select` chooses among more than {MOST_SELECTED} values"
            self.errors.add(Code.TOO_LARGE, message, step.span)
        else:
            self.choice(head, expand_select(step, chosen.target, low.value, high.value).options, target)
