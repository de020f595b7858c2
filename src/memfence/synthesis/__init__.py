"""Where fences go: sites, clauses from counterexamples, hitting sets, and the patched text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memfence.program.ir import Program
    from memfence.synthesis.options import FixOptions
    from memfence.synthesis.result import FixResult


def fix(program: Program, options: FixOptions) -> FixResult:
    """The fences that `program` needs under the memory model, and the text with them."""
    from memfence.synthesis.synthesise import fix as run_fix

    return run_fix(program, options)


def count_fences(program: Program, options: FixOptions) -> FixResult:
    """How many fences `program` needs for a criterion; the text is not written."""
    from memfence.synthesis.synthesise import count_fences as run_count

    return run_count(program, options)
