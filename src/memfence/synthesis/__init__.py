"""Where fences go: sites, clauses from counterexamples, hitting sets, and the patched text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memfence.passes.atomic_writes import AtomicWrite, WaitsFor
    from memfence.program.ir import Program
    from memfence.synthesis.atomic_writes import AtomicFix
    from memfence.synthesis.options import FixOptions
    from memfence.synthesis.result import FixResult
    from memfence.tasks.options import CheckOptions


def fix(
    program: Program, options: FixOptions, *, given: Iterable[AtomicWrite] = (), waits_for: WaitsFor = "own"
) -> FixResult | AtomicFix:
    """What makes `program` work under the memory model, and the text with it.

    Fences; where all that is asked is temporal, atomic writes, besides those `given`.
    """
    if asks_for_atomic_writes(program, options):
        from memfence.synthesis.atomic_writes import fix_ltl, refuse_other_languages

        refuse_other_languages(program)
        return fix_ltl(program, options, given=given, waits_for=waits_for)
    from memfence.synthesis.synthesise import fix_fences

    return fix_fences(program, options)


def asks_for_atomic_writes(program: Program, options: CheckOptions) -> bool:
    """Whether only infinite runs are asked about: fences bound how long a store waits, atomic writes let none wait."""
    from memfence.tasks.criterion import Criterion
    from memfence.tasks.options import what_is_asked

    if options.criterion not in (None, Criterion.SAFETY):
        return False
    asked = what_is_asked(program, options)
    return bool(asked.temporal) and not asked.states
