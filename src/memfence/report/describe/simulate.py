"""A simulation in words: the state, the numbered choices, and the walk as a table, a schedule and a page."""

from __future__ import annotations

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.execution.schedule import Replayable, RunKind, schedule_object
from memfence.models.accesses import Access, accesses
from memfence.models.state import Commit, DropSeparator, ProcessStep, Rendezvous, Step
from memfence.report.describe.check_data import trace_list
from memfence.report.describe.found import finding_of, top_of
from memfence.report.formats.json import dump
from memfence.report.page import Page
from memfence.report.report import Case, Problem, Report
from memfence.report.views.run_page import with_run
from memfence.report.views.run_table import run_table
from memfence.report.views.run_view import place_name
from memfence.report.views.shown_run import equation, is_shown_variable, place, register_text, shown_text
from memfence.report.views.table import wrap
from memfence.report.words.actions import actions, buffer_text
from memfence.report.words.essential_places import essential_places
from memfence.report.words.reason import why_sentences
from memfence.simulation.commands import HELP, NoCommand
from memfence.simulation.walk import Walk
from memfence.source import SourceText


def walk_report(walk: Walk) -> Report:
    """A walk claims nothing about other runs."""
    trace = walk.trace
    problem: Problem = None if walk.failure is None else "failure"
    path = walk.program.source.path
    line = f"{path}: {'WALK' if walk.failure is None else 'FAILED'} of {len(walk.taken)} steps under {trace.model}"
    return Report(
        line=lambda: line,
        text=lambda style: "\n".join([walk_table(walk, style.width).rstrip(), *ending_text(walk)]) + "\n",
        data=lambda: walk_object(walk),
        page=lambda: walk_page(walk),
        findings=lambda: [
            finding_of(
                "simulate",
                problem,
                line if walk.failure is None else f"{line}: {walk.failure.reason}",
                next((span for span, _ in essential_places(trace)), top_of(walk.program.source)),
                run=trace if walk.taken else None,
            )
        ],
        case=lambda: Case(
            group="memfence.simulate", name=path, kind="walk" if problem is None else "failed", problem=problem
        ),
        sources=lambda: [walk.program.source],
    )


def choice_text(walk: Walk, step: Step) -> str:
    """What the step is: `P0  12: r = x [x=1 from its buffer]`, `P0  commit x=1`."""
    program = walk.program
    match step:
        case Commit(process):
            (access,) = accesses(program, walk.memory_model, walk.state, step)
            return f"{program.processes[process].name}  commit {equation(program, access.variable, access.value)}"
        case DropSeparator(process):
            return f"{program.processes[process].name}  let the sfence take effect"
        case ProcessStep(process):
            return f"{program.processes[process].name}  {_statement(walk, step)}{_values_read(walk, step, process)}"
        case Rendezvous(sender, receiver):
            first, second = (f"{program.processes[r.process].name}  {_statement(walk, r)}" for r in (sender, receiver))
            return f"{first}  with  {second}"


def _statement(walk: Walk, run: ProcessStep) -> str:
    transition = walk.program.processes[run.process].transitions[run.transition]
    return place(walk.program, transition) + shown_text(walk.program, run.process, transition)


def _values_read(walk: Walk, step: Step, process: int) -> str:
    seen = accesses(walk.program, walk.memory_model, walk.state, step)
    loads = [a for a in seen if a.process == process and a.kind in ("load", "own load")]
    shown = [_value_read(walk, a) for a in loads if is_shown_variable(walk.program, a.variable)]
    return f" [{', '.join(dict.fromkeys(shown))}]" if shown else ""


def _value_read(walk: Walk, access: Access) -> str:
    own = " from its buffer" if access.kind == "own load" else ""
    return f"{equation(walk.program, access.variable, access.value)}{own}"


def state_lines(walk: Walk) -> list[tuple[str, str]]:
    """What memory holds, and where each process stands with its registers and pending stores."""
    program, state = walk.program, walk.state
    memory = [equation(program, n, v) for n, v in enumerate(state.memory) if is_shown_variable(program, n)]
    lines = [("memory", "  ".join(memory))]
    for number, process in enumerate(program.processes):
        where = place_name(process, state.locations[number])
        registers = [
            f"{name}={program.value_names.get(value) or register.domain.text(value)}"
            for register, value in zip(process.registers, state.registers[number], strict=True)
            if not register.transient and (name := register_text(program, register.name)) is not None
        ]
        pending = buffer_text(program, state, number)
        parts = [where, " ".join(registers), f"buffer: {pending}" if pending else ""]
        lines.append((process.name, "  ".join(part for part in parts if part)))
    return lines


def simulation_text(walk: Walk, width: int) -> str:
    """The last step, the state after it, and the choices."""
    count = len(walk.taken)
    lines = [f"step {count}: {last_step_text(walk)}" if count else f"start, under {walk.memory_model.name}"]
    widest = max(len(name) for name, _ in state_lines(walk))
    for name, text in state_lines(walk):
        lines += _indented(name.ljust(widest), text, width)
    for number, step in enumerate(walk.choices, 1):
        lines += _indented(f"{number:2}", choice_text(walk, step), width)
    return "\n".join([*lines, *ending_text(walk)]) + "\n"


def _indented(name: str, text: str, width: int) -> list[str]:
    """`text` behind `name`, its further lines below its first."""
    lines = wrap(text, max(20, width - len(name) - 4)) or [""]
    return [f"  {name if number == 0 else ' ' * len(name)}  {line}".rstrip() for number, line in enumerate(lines)]


def last_step_text(walk: Walk) -> str:
    """What happened in the last step of a walk that has one."""
    last = Walk(walk.program, walk.memory_model, walk.start, walk.taken)
    found = actions(last.trace, len(walk.taken) - 1)
    return ", ".join(f"{walk.program.processes[p].name}  {action.line}" for p, action in found.items())


def ending_text(walk: Walk) -> list[str]:
    """Why there is no choice, where there is none."""
    if walk.failure is not None and not walk.choices:
        return [f"The program failed: {walk.failure.reason}."]
    if walk.choices:
        return []
    ended = all(not any(p.leaving(at)) for p, at in zip(walk.program.processes, walk.state.locations, strict=True))
    return ["Every process has ended." if ended else "No process can go on."]


def help_text() -> str:
    """The commands."""
    return "".join(f"  {form:12}  {what}\n" for form, what in HELP.values())


def walk_table(walk: Walk, width: int) -> str:
    """The whole walk."""
    return f"{run_table(walk.trace, width)}\n" if walk.taken else "The walk has no steps yet.\n"


def why_text(walk: Walk, width: int) -> str:
    """Which load overtook which store."""
    sentences = why_sentences(walk.trace) if walk.taken else ()
    found = [line for sentence in sentences for line in wrap(sentence, width)]
    return "\n".join(found or ["Nothing was overtaken so far: this run is possible without store buffers."]) + "\n"


def walk_schedule(walk: Walk) -> str:
    """The walk as `--replay` reads it."""
    return dump({"findings": [schedule_object(replayable(walk))]})


def replayable(walk: Walk) -> Replayable:
    """The walk with what it shows: an assertion that fails, or nothing."""
    failed = walk.failure is not None and walk.failure.is_assertion
    kind: RunKind = "assertion failure" if failed else "walk"
    return Replayable(kind, walk.trace)


def walk_object(walk: Walk) -> dict[str, object]:
    """`memfence simulate --json`: the walk, its schedule, and what could come next."""
    return {
        "file": walk.program.source.path,
        "model": walk.memory_model.name,
        "steps": len(walk.taken),
        "failure": None if walk.failure is None else walk.failure.reason,
        "schedule": schedule_object(replayable(walk)),
        "trace": trace_list(walk.trace),
        "why": list(why_sentences(walk.trace)) if walk.taken else [],
        "state": dict(state_lines(walk)),
        "choices": [choice_text(walk, step) for step in walk.choices],
    }


def outcome_text(walk: Walk) -> str:
    """What memory and registers hold at the end of the walk: `x=1 y=1; P0: EAX=0; P1: EAX=0`."""
    program, state = walk.program, walk.state
    memory = [equation(program, n, v) for n, v in enumerate(state.memory) if is_shown_variable(program, n)]
    parts = [" ".join(memory)]
    for process, values in zip(program.processes, state.registers, strict=True):
        held = [
            f"{name}={program.value_names.get(value) or register.domain.text(value)}"
            for register, value in zip(process.registers, values, strict=True)
            if not register.transient and (name := register_text(program, register.name)) is not None
        ]
        parts += [f"{process.name}: {' '.join(held)}"] if held else []
    return "; ".join(part for part in parts if part)


def walk_view(walk: Walk) -> dict[str, object]:
    """The state of the walk for a page: who stands where, what waits, and whose choices are which numbers."""
    program = walk.program
    choices = [
        {
            "number": number,
            "process": step.sender.process if isinstance(step, Rendezvous) else step.process,
            "commits": isinstance(step, Commit | DropSeparator),
            "text": choice_text(walk, step).partition("  ")[2],
        }
        for number, step in enumerate(walk.choices, 1)
    ]
    lines = state_lines(walk)
    return {
        "memory": lines[0][1],
        "processes": [
            {"name": name, "text": text, "buffer": buffer_text(program, walk.state, n)}
            for n, (name, text) in enumerate(lines[1:])
        ],
        "choices": choices,
        "steps": len(walk.taken),
        "last": last_step_text(walk) if walk.taken else "",
        "end": " ".join(ending_text(walk)),
        "why": list(why_sentences(walk.trace)) if walk.taken else [],
    }


def walk_page(walk: Walk) -> Page:
    """The walk as a page to step through."""
    trace = walk.trace
    page = Page(
        title=f"{walk.program.name}: a walk under {trace.model}",
        subject=walk.program.source.path,
        verdict="FAILED" if walk.failure else "WALK",
        tone="bad" if walk.failure else "open",
        headline=f"{len(trace.steps)} steps, chosen one by one",
        facts=(("Claim", "this run is possible; it says nothing about others"),),
        why=why_sentences(trace),
    )
    return with_run(page, walk.program.source, trace)


def command_mistake(name: str, number: int, line: str, problem: Exception) -> InputError:
    """What is wrong with line `number` of the commands, as for any other input."""
    if isinstance(problem, InputError):
        message, hint = problem.diagnostics[0].message, problem.diagnostics[0].hint
    else:
        message, hint = str(problem), problem.hint if isinstance(problem, NoCommand) else None
    source = SourceText(name, "\n" * (number - 1) + line)
    at = source.span(number - 1, max(number, len(source.text)))
    return InputError([Diagnostic(Code.BAD_COMMAND, message, Label(at), hint=hint)])
