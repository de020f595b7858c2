"""Every criterion side by side, with the number of fences that each needs."""

from __future__ import annotations

from dataclasses import fields

from memfence.diagnostics import InputError
from memfence.program.ir import Program
from memfence.questions.compare import Comparison, CountFences, FencesNeeded
from memfence.questions.compare import compare as compare_verdicts
from memfence.synthesis.options import FixOptions
from memfence.synthesis.result import FixVerdict
from memfence.synthesis.synthesise import count_fences
from memfence.tasks.implications import Requirement
from memfence.tasks.limits import Stop
from memfence.tasks.options import CheckOptions


def compare(program: Program, options: CheckOptions | None = None, *, fences: bool = True) -> Comparison:
    """Ask every criterion of `program`, under TSO and PSO, and how few `fences` make those hold that do not.

    `options.timeout_seconds` limits each answer, and each count, on its own.
    """
    options = options or CheckOptions()
    return compare_verdicts(program, options, count_fences=_counting(options) if fences else None)


def _counting(options: CheckOptions) -> CountFences:
    given = {field.name: getattr(options, field.name) for field in fields(CheckOptions)}

    def count(program: Program, asked: Requirement) -> FencesNeeded | None:
        chosen = {"criterion": asked.criterion, "model": asked.model.name}
        try:
            found = count_fences(program, FixOptions(**(given | chosen)).afresh())
        except InputError:  # a language without fences
            return None
        if found.stop is Stop.CANCELLED:
            raise KeyboardInterrupt
        match found.verdict:
            case FixVerdict.FIXED | FixVerdict.ALREADY_HOLDS:
                return FencesNeeded(found.chosen.count, fewest=found.is_minimum)
            case FixVerdict.IMPOSSIBLE:
                return FencesNeeded(None, impossible=True)
            case FixVerdict.UNKNOWN:
                return FencesNeeded(None, fewest=False)

    return count
