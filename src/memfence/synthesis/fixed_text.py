"""The text that `memfence fix` writes, be it with fences or with atomic writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfence.passes.atomic_list import print_atomic_writes
from memfence.synthesis.atomic_writes import AtomicFix
from memfence.synthesis.patch import PatchedFile, unified
from memfence.synthesis.result import FixResult, FixVerdict

if TYPE_CHECKING:
    from memfence.synthesis.orders.result import OrderFix
    from memfence.synthesis.orders.weakest import RelaxResult


def fix_diff(result: FixResult | AtomicFix) -> str:
    """What `git apply` takes."""
    if isinstance(result, FixResult):
        return result.diff
    return unified(result.program.source, _marked(result)) if result.verdict is FixVerdict.FIXED else ""


def fixed_files(result: FixResult | AtomicFix | OrderFix | RelaxResult) -> tuple[PatchedFile, ...]:
    """What is to be written: the program's first file, changed or not, and every other file that is changed."""
    own = result.program.source
    if isinstance(result, AtomicFix):
        return (PatchedFile(own, _marked(result)),)
    others = tuple(one for one in result.files if one.source is not own)
    return (PatchedFile(own, own.text if result.patched is None else result.patched), *others)


def atomic_list(result: FixResult | AtomicFix) -> str | None:
    """Every atomic write of the result, one per line; None where it is about fences."""
    return print_atomic_writes(result.program, result.atomic) if isinstance(result, AtomicFix) else None


def _marked(result: AtomicFix) -> str:
    from memfence.frontends.dve.edits import mark_atomic_writes

    named = [(result.program.processes[w.process].name, w.transition, w.variable) for w in result.atomic]
    return mark_atomic_writes(result.program.source, named)
