"""The program as Promela with its SC meaning, so that results can be compared with Spin.

Every transition is one atomic step, every location one control state and no process ever terminates, so without
reductions Spin stores exactly the states of the SC model (for a program with one initial state):

    spin -a -o1 -o2 -o3 FILE; cc -O2 -DSAFETY -DNOREDUCE -o pan pan.c; ./pan -E

An invariant or forbidden state is a monitor process with a failing assertion: it adds no state where it holds.
Processes with a rendezvous or committed locations cannot be written as independent proctypes; such programs become one
proctype with explicit program counters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import assert_never

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.models.spec import SC
from memfence.passes.orders import for_hardware
from memfence.program import expressions, ir
from memfence.program.facts.effects import op_expressions
from memfence.program.text.steps import step_text
from memfence.program.traversal import property_expressions, transition_expressions
from memfence.translation.promela_steps import BUS, HandOver, Job, body, bus_needed, possible_when, uses_bus

RESERVED = re.compile(
    r"L\d+|end_L\d+|active|always|assert|atomic|bit|bool|break|byte|chan|d_step|do|else|empty|enabled|eval|eventually|"
    r"false|fi|for|full|goto|hidden|if|in|init|inline|int|len|local|ltl|mtype|nempty|never|nfull|notrace|od|of|"
    r"pc_value|pid|printf|priority|proctype|provided|run|select|short|show|skip|timeout|trace|true|typedef|unless|"
    r"unsigned|until|xr|xs"
)


INT = ir.Domain(-(2**31), 2**31 - 1)
UNSIGNED = ir.Domain(-(2**31), 2**32 - 1)
"""Constants that have 32 bits, with a sign or without."""


def render_promela(program: ir.Program) -> str:
    """The text of a Promela model with the SC behaviour of `program`.

    InputError (MF004) where a value needs more than the 32 bits of Promela's `int`.
    """
    _require_32_bits(program)
    return _Writer(for_hardware(program, SC)).model()


def _require_32_bits(program: ir.Program) -> None:
    registers = (register for process in program.processes for register in process.registers)
    variables: list[ir.SharedVar | ir.RegisterVar] = [*program.variables, *registers]
    for variable in variables:
        if not (INT.holds(variable.domain.lo) and INT.holds(variable.domain.hi)):
            what = f"`{variable.name}` needs more than the 32 bits of Promela's `int`"
            raise InputError([Diagnostic(Code.UNSUPPORTED, what, Label(variable.span))])
    computed = [(e, t.span) for p in program.processes for t in p.transitions for e in transition_expressions(t)]
    computed += [(e, program.source.span(0, 1)) for prop in program.properties for e in property_expressions(prop)]
    for expr, span in computed:
        for node in expressions.walk(expr):
            if isinstance(node, expressions.Const) and not UNSIGNED.holds(node.value):
                what = f"`{node.value}` needs more than the 32 bits of Promela's `int`"
                raise InputError([Diagnostic(Code.UNSUPPORTED, what, Label(span))])


class _Writer:
    """Knows how everything is called in the model that is being written."""

    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.joint = any(
            t.sync is not None or p.locations[t.source].committed for p in program.processes for t in p.transitions
        )
        self.taken: set[str] = {BUS}
        self.arrays = self.array_names()
        self.variables = {
            number: self.fresh(v.name) for number, v in enumerate(program.variables) if self.array_of(number) is None
        }
        self.bads = [bad for bad in map(self.bad_state, program.properties) if bad is not None]
        self.flags = {at: self.fresh(f"at_{program.processes[at.process].name}") for at in self.observed_locations()}
        self.shared_registers = self.observed_registers()
        self.registers = self.register_names()
        self.processes = [self.fresh(p.name) for p in program.processes]
        self.counters = [self.fresh(f"pc_{p.name}") for p in program.processes] if self.joint else []

    # Names

    def fresh(self, name: str) -> str:
        """A Promela identifier like `name` that nothing else has."""
        plain = re.sub(r"\W+", "_", name).strip("_") or "v"
        plain = f"v{plain}" if plain[0].isdigit() else plain
        candidate, number = plain, 1
        while candidate in self.taken or RESERVED.fullmatch(candidate):
            number += 1
            candidate = f"{plain}_{number}"
        self.taken.add(candidate)
        return candidate

    def array_names(self) -> list[tuple[range, str]]:
        """Variables that a computed address may reach have to be elements of one array."""
        groups = list[range]()
        ranges = sorted({(a.base, a.base + a.size) for a in self.addresses() if a.variable is None})
        for start, end in ranges:
            if groups and start < groups[-1].stop:
                groups[-1] = range(groups[-1].start, max(end, groups[-1].stop))
            else:
                groups.append(range(start, end))
        return [(group, self.fresh(self.program.variables[group.start].name.split("[")[0])) for group in groups]

    def addresses(self) -> Iterable[expressions.Address]:
        for process in self.program.processes:
            for transition in process.transitions:
                yield from (op.address for op in transition.ops if isinstance(op, ir.Load | ir.Store))
        for prop in self.program.properties:
            if isinstance(prop, ir.Invariant | ir.Forbidden | ir.Final):
                yield from (e.address for e in expressions.walk(prop.expr) if isinstance(e, expressions.Shared))

    def array_of(self, variable: int) -> tuple[range, str] | None:
        return next((known for known in self.arrays if variable in known[0]), None)

    def observed_locations(self) -> list[expressions.At]:
        if self.joint:
            return []
        return sorted(
            {e for expr in self.all_expressions() for e in expressions.walk(expr) if isinstance(e, expressions.At)},
            key=lambda at: (at.process, sorted(at.locations)),
        )

    def observed_registers(self) -> set[tuple[int, int]]:
        """Registers that have to be global: seen by others, set before the processes run, or all in the joint form."""
        processes = self.program.processes
        everything = {(p, r) for p, process in enumerate(processes) for r, _ in enumerate(process.registers)}
        seen = {
            (e.process, e.register)
            for x in self.all_expressions()
            for e in expressions.walk(x)
            if isinstance(e, expressions.RegisterOf)
        }
        several = {(p, r) for p, r in everything if len(processes[p].registers[r].init) > 1}
        scratch = {(p, r) for p, r in everything if processes[p].registers[r].transient}
        return everything if self.joint else seen | several | scratch

    def all_expressions(self) -> Iterable[expressions.Expr]:
        yield from self.bads
        for process in self.program.processes:
            for transition in process.transitions:
                yield from (e for op in transition.ops for e in op_expressions(op))
                yield from transition.sync.values if transition.sync else ()

    def register_names(self) -> dict[tuple[int, int], str]:
        names = {}
        for p, process in enumerate(self.program.processes):
            for r, register in enumerate(process.registers):
                shared = (p, r) in self.shared_registers
                names[p, r] = self.fresh(f"{process.name}_{register.name}" if shared else register.name)
        return names

    # Expressions

    def text(self, process: int | None, expr: expressions.Expr) -> str:
        """`expr` in Promela, every operator in parentheses, as `process` sees it."""
        match expr:
            case expressions.Const(value):
                return str(value) if value >= 0 else f"({value})"
            case expressions.Unary(op, operand):
                return f"({op}{self.text(process, operand)})"
            case expressions.Binary(op, left, right):
                return f"({self.text(process, left)} {op} {self.text(process, right)})"
            case expressions.Conditional(condition, then, otherwise):
                a, b = self.text(process, then), self.text(process, otherwise)
                return f"({self.text(process, condition)} -> {a} : {b})"
            case expressions.Register(index):
                assert process is not None
                return self.registers[process, index]
            case expressions.RegisterOf(owner, index):
                return self.registers[owner, index]
            case expressions.Shared(address):
                return self.place(process, address)
            case expressions.At(owner, locations):
                return self.flags[expr] if not self.joint else self.is_at(owner, sorted(locations))
            case expressions.BufferEmpty():
                return "1"
            case _:
                assert_never(expr)

    def place(self, process: int | None, address: expressions.Address) -> str:
        known = address.variable
        array = self.array_of(address.base if known is None else known)
        if known is not None:
            return self.variables[known] if array is None else f"{array[1]}[{known - array[0].start}]"
        assert array is not None
        offset = address.base - array[0].start
        index = self.text(process, address.index)
        return f"{array[1]}[{index} + {offset}]" if offset else f"{array[1]}[{index}]"

    def is_at(self, process: int, locations: Sequence[int]) -> str:
        counter = self.counters[process]
        return "(" + (" || ".join(f"{counter} == {at}" for at in locations) or "0") + ")"

    # Declarations

    def declarations(self) -> list[str]:
        lines = [f"byte {BUS};"] if uses_bus(self.program) else []
        for number, variable in enumerate(self.program.variables):
            array = self.array_of(number)
            if array is None:
                lines.append(f"{type_of([variable.domain])} {self.variables[number]} = {variable.init[0]};")
            elif number == array[0].start:
                elements = [self.program.variables[i] for i in array[0]]
                values = ", ".join(str(v.init[0]) for v in elements)
                size = len(array[0])
                lines.append(f"{type_of([v.domain for v in elements])} {array[1]}[{size}] = {{ {values} }};")
        for p, r in sorted(self.shared_registers):
            register = self.program.processes[p].registers[r]
            kind = type_of([register.domain])
            if register.transient:  # not part of the state; Spin refuses to hide bits
                kind = f"hidden {kind.replace('bit', 'byte')}"
            lines.append(f"{kind} {self.registers[p, r]} = {register.init[0]};")
        for at, flag in self.flags.items():
            inside = self.program.processes[at.process].initial in at.locations
            lines.append(f"bit {flag} = {int(inside)};")
        for counter, process in zip(self.counters, self.program.processes, strict=False):
            lines.append(f"{type_of([ir.Domain(0, len(process.locations))])} {counter} = {process.initial};")
        return lines

    def choices(self) -> list[str]:
        """Statements that choose among several initial values."""
        several = [
            (self.place(None, expressions.Address(i, 1, expressions.Const(0))), v.init)
            for i, v in enumerate(self.program.variables)
        ]
        for p, process in enumerate(self.program.processes):
            several += [(self.registers[p, r], v.init) for r, v in enumerate(process.registers) if not v.transient]
        chosen = ((name, values) for name, values in several if len(values) > 1)
        return [f"if {' '.join(f':: {name} = {value}' for value in values)} fi;" for name, values in chosen]

    # Steps

    def step(self, jobs: Sequence[Job], locked: Sequence[int], before: Sequence[str], after: Sequence[str]) -> str:
        """One `d_step` (or a single statement, which is as atomic)."""
        condition = possible_when(self.program, jobs)
        guards = [*before, *bus_needed(self.program, jobs, locked)]
        if condition != expressions.Const(1):
            guards.append(self.text(None, condition))
        statements = [*body(self.program, jobs, self.text), *after]
        guard = " && ".join(guards)
        if not statements or (len(statements) == 1 and not guard):
            return guard or (statements[0] if statements else "true")
        return f"d_step {{ {guard or 'true'} -> {'; '.join(statements)} }}"

    def flag_changes(self, process: int, transition: ir.Transition) -> list[str]:
        changes = []
        for at, flag in self.flags.items():
            if at.process == process:
                was, now = transition.source in at.locations, transition.target in at.locations
                changes += [f"{flag} = {int(now)}"] if was != now else []
        return changes

    # The model

    def model(self) -> str:
        choices = self.choices()
        lines = [f"/* {self.program.name}: the SC meaning, written by memfence. */", *self.property_notes()]
        lines += self.declarations()
        if self.joint:
            lines += self.joint_process(choices)
        else:
            for number, process in enumerate(self.program.processes):
                lines += self.proctype(number, process, active=not choices)
            lines += self.init(choices) if choices else []
        lines += [line for number, bad in enumerate(self.bads) for line in self.monitor(number, bad)]
        return "\n".join(lines) + "\n"

    def proctype(self, number: int, process: ir.Process, *, active: bool) -> list[str]:
        lines = ["", f"{'active ' if active else ''}proctype {self.processes[number]}() {{"]
        for r, register in enumerate(process.registers):
            if (number, r) not in self.shared_registers:
                lines.append(f"  {type_of([register.domain])} {self.registers[number, r]} = {register.init[0]};")
        others = [at for at, _ in enumerate(process.locations) if at != process.initial]
        ends = {at for at, _ in enumerate(process.locations) if not any(process.leaving(at))}
        labels = [f"end_L{at}" if at in ends or p.may_end else f"L{at}" for at, p in enumerate(process.locations)]
        for at in [process.initial, *others]:
            label = labels[at]
            name = process.locations[at].name
            if at in ends:
                lines.append(f"{label}: /* {_comment(name)} */ false;")
                continue
            lines.append(f"{label}: /* {_comment(name)} */ if")
            for _, transition in process.leaving(at):
                jobs: list[Job] = [(number, op) for op in transition.ops]
                locked = [number] if transition.locked else []
                step = self.step(jobs, locked, [], self.flag_changes(number, transition))
                target = labels[transition.target]
                source = _comment(step_text(self.program, number, transition))
                lines.append(f"  :: {step} -> goto {target} /* {source} */")
            lines.append("  fi;")
        return [*lines, "}"]

    def init(self, choices: list[str]) -> list[str]:
        runs = [f"run {name}();" for name in self.processes]
        return [
            "",
            "init {",
            "  atomic {",
            *(f"    {line}" for line in [*choices, *runs]),
            "  }",
            "end_init: false",
            "}",
        ]

    def joint_process(self, choices: list[str]) -> list[str]:
        first = ["  atomic {", *choices, "  };"] if choices else []
        lines = ["", "active proctype program() {", *first, "end: do"]
        for p, process in enumerate(self.program.processes):
            for t in process.transitions:
                if t.sync is None:
                    jobs: list[Job] = [(p, op) for op in t.ops]
                    lines.append(self.joint_step([(p, t)], jobs))
                elif t.sync.sends:
                    lines += [self.meeting(p, t, t.sync, q, u, v) for q, u, v in self.partners(p, t.sync)]
        return [*lines, "  od", "}"]

    def partners(self, sender: int, sync: ir.Sync) -> Iterable[tuple[int, ir.Transition, ir.Sync]]:
        for q, other in enumerate(self.program.processes):
            for u in other.transitions:
                if q != sender and u.sync is not None and not u.sync.sends and u.sync.channel == sync.channel:
                    yield q, u, u.sync

    def meeting(self, p: int, t: ir.Transition, sends: ir.Sync, q: int, u: ir.Transition, receives: ir.Sync) -> str:
        jobs: list[Job] = [(p, op) for op in t.ops[: sends.guard_ops]]
        jobs += [(q, op) for op in u.ops[: receives.guard_ops]]
        jobs += [
            (q, HandOver(p, value, register))
            for value, register in zip(sends.values, receives.registers, strict=True)
        ]  # fmt: skip
        jobs += [(q, op) for op in u.ops[receives.guard_ops :]]
        jobs += [(p, op) for op in t.ops[sends.guard_ops :]]
        return self.joint_step([(p, t), (q, u)], jobs)

    def joint_step(self, moves: list[tuple[int, ir.Transition]], jobs: list[Job]) -> str:
        before = [self.is_at(p, [t.source]) for p, t in moves] + self.committed_first(moves)
        after = [f"{self.counters[p]} = {t.target}" for p, t in moves]
        step = self.step(jobs, [p for p, t in moves if t.locked], before, after)
        source = " / ".join(_comment(step_text(self.program, p, t)) for p, t in moves)
        return f"  :: {step} /* {source} */"

    def committed_first(self, moves: list[tuple[int, ir.Transition]]) -> list[str]:
        processes = self.program.processes
        if all(processes[p].locations[t.source].committed for p, t in moves):
            return []
        guards = []
        for p, process in enumerate(processes):
            committed = [at for at, location in enumerate(process.locations) if location.committed]
            guards += [f"!{self.is_at(p, committed)}"] if committed else []
        return guards

    # Properties

    def bad_state(self, prop: ir.Property) -> expressions.Expr | None:
        match prop:
            case ir.Invariant(expr, _):
                return expressions.negate(expr)
            case ir.Forbidden(expr, _):
                return expr
            case ir.Final(quantifier, expr, _, _):
                return expressions.conjunction(
                    *self.halted(), expressions.negate(expr) if quantifier == "forall" else expr
                )
            case ir.NoDeadlock() | ir.Ltl() | ir.PropertyAutomaton() | ir.Ends():
                return None
            case _:
                assert_never(prop)

    def halted(self) -> list[expressions.Expr]:
        found = list[expressions.Expr]()
        for number, process in enumerate(self.program.processes):
            left = {t.source for t in process.transitions}
            found.append(expressions.At(number, frozenset(range(len(process.locations))) - left))
        return found

    def property_notes(self) -> list[str]:
        notes = []
        for prop in self.program.properties:
            match prop:
                case ir.Final("exists", _, text, _):
                    notes.append(f"{text}: a violated assertion is the witness that makes `exists` true")
                case ir.NoDeadlock():
                    notes.append("no deadlock: run ./pan without -E")
                case ir.Ltl(name, text, _):
                    notes.append(f"not translated: ltl {name} {text}")
                case ir.PropertyAutomaton(name):
                    notes.append(f"not translated: property automaton {name}")
                case _:
                    notes.append(prop.text)
        return [f"/* property: {_comment(note)} */" for note in notes]

    def monitor(self, number: int, bad: expressions.Expr) -> list[str]:
        name = self.fresh(f"monitor_{number}")
        return ["", f"active proctype {name}() {{", f"end: d_step {{ {self.text(None, bad)} -> assert(false) }}", "}"]


def type_of(domains: Sequence[ir.Domain]) -> str:
    """The smallest Promela type that holds all of the values."""
    lo, hi = min(d.lo for d in domains), max(d.hi for d in domains)
    for name, least, most in (("bit", 0, 1), ("byte", 0, 255), ("short", -(2**15), 2**15 - 1)):
        if least <= lo and hi <= most:
            return name
    return "int"


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("/*", "/ *")
