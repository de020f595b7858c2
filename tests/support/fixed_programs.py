"""What every fixed program must satisfy, whatever its language: read again it holds, and no edit is too many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memfence.frontends.catalogue import language_named
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.questions import check
from memfence.source import SourceText
from memfence.synthesis.options import FixOptions
from memfence.synthesis.result import FixResult, FixVerdict, PlacedFence
from memfence.synthesis.synthesise import fix_fences as fix
from memfence.synthesis.synthesise import restated
from memfence.tasks.answer import Verdict


def verdict_with(program: Program, fences: Sequence[PlacedFence], options: FixOptions) -> Verdict:
    """What `check` says about the text with these fences written into it."""
    language = language_named(program.language)
    assert language is not None
    text = language.frontend().insert_fences(program.source, [(fence.point, fence.kind) for fence in fences])
    again = load_text(SourceText(program.source.path, text), program.options)
    asked = restated(options, again)
    assert asked is not None
    return check(again, asked).verdict


def fixed_and_needed(program: Program, options: FixOptions) -> FixResult:
    """Fix the program; where that is possible, the patched text holds and every single fence of it is needed."""
    result = fix(program, options)
    if result.verdict is FixVerdict.FIXED:
        fences = result.chosen.fences
        asked = replace(options, criterion=result.criterion)
        assert fences
        assert verdict_with(program, fences, asked) is Verdict.HOLDS
        for position in range(len(fences)):
            without = [*fences[:position], *fences[position + 1 :]]
            assert verdict_with(program, without, asked) is Verdict.VIOLATED, fences[position]
        for fence in fences:
            assert fence.run is not None, "every fence comes with a run that only it stops"
    return result
