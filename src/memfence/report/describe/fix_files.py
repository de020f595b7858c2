"""What `memfence fix` prints and writes, be it about fences or about atomic writes."""

from __future__ import annotations

from memfence.passes.atomic_list import print_atomic_writes
from memfence.report.describe.atomic import atomic_object, atomic_text
from memfence.report.describe.fix_text import fix_object, fix_text
from memfence.report.formats.json import Object
from memfence.synthesis.atomic_writes import AtomicFix
from memfence.synthesis.patch import PatchedFile, diff_path, unified
from memfence.synthesis.result import FixResult, FixVerdict


def fix_report_text(result: FixResult | AtomicFix, *, width: int, quiet: bool, verbose: bool) -> str:
    """The whole report; with `quiet` its first line."""
    if isinstance(result, AtomicFix):
        return atomic_text(result, width=width, quiet=quiet, verbose=verbose)
    return fix_text(result, width=width, quiet=quiet, verbose=verbose)


def fix_report_object(result: FixResult | AtomicFix) -> Object:
    """`memfence fix --json`, before it becomes text."""
    return atomic_object(result) if isinstance(result, AtomicFix) else fix_object(result)


def fix_diff(result: FixResult | AtomicFix) -> str:
    """What `git apply` takes."""
    if isinstance(result, FixResult):
        return result.diff
    return unified(result.program.source, _marked(result)) if result.verdict is FixVerdict.FIXED else ""


def fixed_files(result: FixResult | AtomicFix) -> tuple[PatchedFile, ...]:
    """What is to be written: the program's first file, changed or not, and every other file that is changed."""
    own = result.program.source
    if isinstance(result, AtomicFix):
        return (PatchedFile(own, _marked(result)),)
    others = tuple(one for one in result.files if one.source is not own)
    return (PatchedFile(own, own.text if result.patched is None else result.patched), *others)


def place_in_folder(file: PatchedFile) -> str:
    """Where the file goes in a folder for all that are written: under its own path, as in a diff."""
    return diff_path(file.source.path)


def atomic_list(result: AtomicFix) -> str:
    """Every atomic write of the result, one per line."""
    return print_atomic_writes(result.program, result.atomic)


def _marked(result: AtomicFix) -> str:
    from memfence.frontends.dve.edits import mark_atomic_writes

    named = [(result.program.processes[w.process].name, w.transition, w.variable) for w in result.atomic]
    return mark_atomic_writes(result.program.source, named)
