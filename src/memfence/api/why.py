"""`memfence.why`: is a fence that the program already has needed, or what else orders accesses?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from memfence.api.check import other_name, with_fields, with_states
from memfence.api.inputs import Source, options_for, read_program, refuse_question, understand
from memfence.api.values import criterion_named
from memfence.deadline import Deadline
from memfence.program.ir import Program
from memfence.synthesis.necessity import WhyResult, WhyResults
from memfence.synthesis.necessity import why as ask
from memfence.synthesis.orderings import ExistingFence, existing_fences
from memfence.tasks.criterion import Criterion
from memfence.tasks.options import CheckOptions, criterion_to_check
from memfence.tasks.usage import WrongUsage
from memfence.verbs.models import BY_STATES, has_runs

if TYPE_CHECKING:
    from memfence.api.typed import WhyKeywords


def why(
    source: Source,
    line: int | None = None,
    options: CheckOptions | None = None,
    *,
    criteria: Iterable[Criterion | str] = (),
    given: Mapping[str, Any] | None = None,
    **typed: Unpack[WhyKeywords],
) -> WhyResults | Any:
    """For each criterion (as for `check`, if none is given): the run that appears without each fence, or a proof.

    In C the fences are also seq_cst accesses and read-modify-writes. `line`: only the fences of that line. The time
    limit holds for each check.

    `model="rc11"` or a list of models: which memory orders could be weaker, the `NeededOrders` of `why_models`.
    """
    keywords = dict[str, Any](typed)
    chosen = tuple(criterion_named(one) for one in criteria)
    if not has_runs(keywords.get("model")):
        from memfence.api.order_fix import why_models

        keywords = with_fields(options, keywords) | ({"criteria": chosen} if chosen else {})
        return why_models(source, line, keywords.pop("model"), given=given, **keywords)
    named = with_states(keywords, options)
    models = (BY_STATES[named],)
    usage = understand("why", source, keywords, options, models=models, given=given, besides={"criteria": chosen})
    deadline = Deadline(keywords.get("timeout_seconds"))
    program = read_program(source, keywords, deadline, usage)
    asked = options_for(CheckOptions, program, options, keywords, deadline)
    fences = _fences(program, line)
    chosen = chosen or (criterion_to_check(program, asked),)
    for one in chosen:
        refuse_question(program, replace(asked, criterion=one), usage)
    results = list[WhyResult]()
    for one in chosen:
        found = ask(program, one, asked, fences)
        before = replace(found.with_all, asked_model=other_name(named))
        results.append(replace(found, with_all=before, asked_model=other_name(named)))
        if results[-1].is_interrupted:
            break
    return WhyResults(results)


def _fences(program: Program, line: int | None) -> tuple[ExistingFence, ...]:
    fences = existing_fences(program)
    if line is None:
        return fences
    chosen = tuple(fence for fence in fences if fence.at.source is program.source and fence.at.line == line)
    if not chosen:
        lines = sorted({fence.at.line for fence in fences if fence.at.source is program.source})
        what = "fence, seq_cst access or read-modify-write" if program.language == "c" else "fence"
        known = f"they are in line {', '.join(map(str, lines))}" if lines else "there is none in this file"
        if program.language != "c":
            known = f"fences are in line {', '.join(map(str, lines))}" if lines else "there is no fence in this file"
        raise WrongUsage("line", f"no {what} in line {line}; {known}")
    return chosen
