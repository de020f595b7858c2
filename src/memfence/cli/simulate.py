"""`memfence simulate FILE`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from memfence.cli.exit_codes import exit_of_report
from memfence.cli.keywords import keywords_of, understood
from memfence.cli.option_groups import Compiling, File, LoadingInSteps
from memfence.cli.output import Output
from memfence.cli.report_files import write_report
from memfence.cli.verb import verb

if TYPE_CHECKING:
    from memfence.simulation.session import Reply, Simulation
    from memfence.simulation.walk import Walk

PROMPT = "> "


@verb("Walk through a run, choosing every step.", example="simulate examples/store_buffering.litmus --random 1")
def simulate(
    context: typer.Context,
    file: File,
    loading: LoadingInSteps,
    compiling: Compiling,
    model: str | None,
    random: int | None,
    steps: int,
    script: Path | None,
    start: int,
    every_step: bool,
    replay: Path | None,
    save_schedule: Path | None,
    out: Output,
) -> None:
    """Walk through a run of the program: choose every step, undo, jump, run to a breakpoint."""
    from memfence.api.simulate import simulate as ask
    from memfence.simulation.session import Simulation

    usage = understood(context, files=[file, *(compiling.also or ())])
    out.require_places([("FILE", file)], [("--save-schedule", save_schedule)])
    if script is None and random is None and str(file) == "-":
        what = "standard input carries the commands, and cannot be the program, too: give them by --script"
        raise typer.BadParameter(what, param_hint="FILE")
    with out.refusing(file):
        walk = ask(file, **keywords_of(usage))
        simulation = Simulation(walk, seed=random or 0)
        if random is not None:
            _walk_at_random(simulation, steps, out)
        if random is None or script is not None:
            _obey(simulation, script, json=not out.is_text)
    _finish(simulation.walk, out, save_schedule)


def _walk_at_random(simulation: Simulation, steps: int, out: Output) -> None:
    from memfence.report.described import report_of
    from memfence.simulation.commands import Command

    simulation.do(Command("random", steps))
    if not out.json:
        out.show(report_of(simulation.walk))


def _obey(simulation: Simulation, script: Path | None, *, json: bool) -> None:
    """Carry out the commands of the script, or of standard input, to the end."""
    is_asked = script is None and sys.stdin.isatty()
    if not json:
        _show_state(simulation)
    for number, line in _lines(script, is_asked):
        if not _carry_out(simulation, number, line, is_asked=is_asked, json=json, name=str(script or "<stdin>")):
            break


def _lines(script: Path | None, is_asked: bool) -> Iterator[tuple[int, str]]:
    if script is not None:
        from memfence.pipeline import read_source

        yield from enumerate(read_source(script).text.splitlines(), 1)
        return
    number = 0
    while True:
        if is_asked:
            sys.stdout.write(PROMPT)
            sys.stdout.flush()
        number, line = number + 1, _one_line(sys.stdin)
        if not line:
            return
        yield number, line.rstrip("\r\n")


def _one_line(stream: TextIO) -> str:
    try:
        return stream.readline()
    except (UnicodeDecodeError, ValueError):
        return ""


def _carry_out(simulation: Simulation, number: int, line: str, *, is_asked: bool, json: bool, name: str) -> bool:
    """Whether to go on. Mistakes are said in a terminal; elsewhere the lines after them make no sense: InputError."""
    from memfence.cli import terminal
    from memfence.diagnostics import InputError
    from memfence.report.describe.simulate import command_mistake
    from memfence.simulation.commands import NoCommand, parse_command
    from memfence.simulation.walk import NotPossible

    try:
        command = parse_command(line)
        reply = None if command is None else simulation.do(command)
    except (NoCommand, NotPossible, InputError) as problem:
        if not is_asked:
            raise command_mistake(name, number, line, problem) from None
        terminal.write(f"{command_mistake(name, number, line, problem).diagnostics[0].message}\n")
        return True
    if reply is not None and not (json and reply.show not in ("save", "html", "quit")):
        _answer(simulation, reply)
    return reply is None or reply.show != "quit"


def _answer(simulation: Simulation, reply: Reply) -> None:
    from memfence.cli import terminal
    from memfence.report.describe import simulate as texts

    if reply.note:
        terminal.write(f"{reply.note}\n")
    walk, width = simulation.walk, terminal.width()
    match reply.show:
        case "state":
            _show_state(simulation)
        case "table":
            terminal.write(texts.walk_table(walk, width))
        case "why":
            terminal.write(texts.why_text(walk, width))
        case "help":
            terminal.write(texts.help_text())
        case "save":
            write_report(Path(reply.path), texts.walk_schedule(walk), "save")
        case "html":
            from memfence.report.described import written

            write_report(Path(reply.path), written(walk, "html"), "html")
        case "note" | "quit":
            pass


def _show_state(simulation: Simulation) -> None:
    from memfence.cli import terminal
    from memfence.report.describe.simulate import simulation_text

    terminal.write(simulation_text(simulation.walk, terminal.width()))


def _finish(walk: Walk, out: Output, save_schedule: Path | None) -> None:
    from memfence.report.describe.simulate import walk_schedule
    from memfence.report.described import report_of

    report = report_of(walk)
    if out.json:
        out.show(report)
    if save_schedule is not None:
        write_report(save_schedule, walk_schedule(walk), "--save-schedule")
    out.write(report)
    raise typer.Exit(exit_of_report(report))
