"""`memfence fix FILE.dve` for temporal properties: the list of atomic writes, read and written."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memfence.cli.exit_codes import Exit
from memfence.cli.outputs import write_report

if TYPE_CHECKING:
    from memfence.passes.atomic_writes import AtomicWrite, WaitsFor
    from memfence.program.ir import Program
    from memfence.synthesis.atomic_writes import AtomicFix
    from memfence.synthesis.options import FixOptions


@dataclass(frozen=True, slots=True)
class AtomicOutputs:
    """Where the answer goes: `listed` is the list of atomic writes, `text` the model with its writes marked."""

    listed: Path | None
    text: Path | None
    json: bool
    quiet: bool
    verbose: bool
    diff: bool


def is_temporal(program: Program, options: FixOptions) -> bool:
    """Whether atomic writes, not fences, are asked for."""
    from memfence.program.ir import Ltl, PropertyAutomaton
    from memfence.tasks.options import properties_to_check

    if options.criterion not in (None, "safety"):
        return False
    stated = properties_to_check(program, options)
    return bool(stated) and all(isinstance(p, Ltl | PropertyAutomaton) for p in stated)


def fix_atomic(program: Program, options: FixOptions, waits_for: WaitsFor, outputs: AtomicOutputs) -> Exit:
    """Find the writes, print the answer, write the files; a list that exists already is where to start from."""
    from memfence.synthesis.atomic_writes import fix_ltl, refuse_other_languages

    refuse_other_languages(program)
    given = _given(program, outputs.listed)
    result = fix_ltl(program, options, given=given, waits_for=waits_for)
    if result.verdict.value in ("fixed", "already_holds"):
        _write(result, outputs)
    _print(result, outputs)
    codes = {"fixed": Exit.HOLDS, "already_holds": Exit.HOLDS, "impossible": Exit.VIOLATED, "unknown": Exit.UNKNOWN}
    return codes[result.verdict.value]


def _given(program: Program, listed: Path | None) -> tuple[AtomicWrite, ...]:
    from memfence.passes.atomic_list import parse_atomic_writes
    from memfence.pipeline import read_source

    if listed is None or not listed.exists():
        return ()
    return parse_atomic_writes(read_source(listed), program)


def _write(result: AtomicFix, outputs: AtomicOutputs) -> None:
    if outputs.listed is not None:
        from memfence.passes.atomic_list import print_atomic_writes

        write_report(outputs.listed, print_atomic_writes(result.program, result.atomic), "--atomic")
    if outputs.text is not None:
        write_report(outputs.text, result.program.source.marked(_marked(result)), "--output")


def _marked(result: AtomicFix) -> str:
    from memfence.frontends.dve.edits import mark_atomic_writes

    named = [(result.program.processes[w.process].name, w.transition, w.variable) for w in result.atomic]
    return mark_atomic_writes(result.program.source, named)


def _print(result: AtomicFix, outputs: AtomicOutputs) -> None:
    from memfence.cli import terminal
    from memfence.reports.atomic import atomic_object, atomic_text

    if outputs.json:
        from memfence.reports.json import dump

        sys.stdout.write(dump(atomic_object(result)))
    elif outputs.diff:
        from memfence.synthesis.patch import unified

        fixed = result.verdict.value == "fixed"
        sys.stdout.write(unified(result.program.source, _marked(result)) if fixed else "")
    else:
        width = terminal.width()
        terminal.write(atomic_text(result, width=width, quiet=outputs.quiet, verbose=outputs.verbose))
