"""`memfence.fix`: where exactly do fences go, and how few are enough?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from memfence.api.check import unread_program
from memfence.api.inputs import Source, options_for, read_program, with_stated
from memfence.deadline import Deadline, TimeUp
from memfence.passes.atomic_writes import AtomicWrite, WaitsFor
from memfence.program.ir import Program
from memfence.questions.conflicts import refuse_unused
from memfence.questions.plain_races import races_of
from memfence.synthesis import asks_for_atomic_writes
from memfence.synthesis import fix as synthesise
from memfence.synthesis.atomic_writes import AtomicFix
from memfence.synthesis.evidence import SearchDidNotEnd
from memfence.synthesis.options import FixOptions
from memfence.synthesis.result import FenceSet, FixResult, FixStats, FixVerdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Limits, Stop, peak_megabytes
from memfence.tasks.usage import WrongUsage

ABOUT_ATOMIC_WRITES = ("atomic", "atomic_waits")
ABOUT_FENCES = ("all", "via", "kinds", "style", "html", "sarif", "junit")


def fix(
    source: Source,
    options: FixOptions | None = None,
    *,
    atomic: Iterable[AtomicWrite] | str = (),
    atomic_waits: WaitsFor = "own",
    given: Iterable[str] = (),
    **keywords: Any,
) -> FixResult | AtomicFix:
    """The edits that make the program work, each needed, all together enough, and the text with them.

    `source` and keywords as for `check`; the fields of `FixOptions` besides. Where all that is asked is temporal, the
    answer is about atomic writes (DVE): `atomic` lists those that are there already, as text or as values, and
    `atomic_waits` says whose stores such a write waits for. `given`: options that were said besides the keywords.
    """
    with_stated(source, keywords)
    seconds = keywords.get("timeout_seconds", None if options is None else options.timeout_seconds)
    deadline = Deadline(seconds)
    said = frozenset({*keywords, *given, *(["atomic"] if atomic else ())})
    try:
        program = read_program(source, keywords, deadline, for_any_number=True)
        with deadline.enforced():
            asked = options_for(FixOptions, program, options, keywords, deadline)
            if asked.via is not None and not asked.spec.reorders_stores:
                raise WrongUsage("via", "the way over TSO is one to PSO: it goes with --model pso")
            _refuse_style(program, said)
            refuse_unused(program, asked, said)
            if asked.cluster is not None:
                raise WrongUsage(
                    "cluster",
                    "fences are looked for on one machine: each one found changes the program that is searched next",
                )
            _refuse_other_edits(program, asked, said)
            result = synthesise(program, asked, given=_writes(atomic, program), waits_for=atomic_waits)
            return replace(result, races=races_of(program, result.limits))
    except TimeUp:
        return _unread(source, options or FixOptions(), keywords, deadline, Stop.TIMEOUT)
    except KeyboardInterrupt:
        return _unread(source, options or FixOptions(), keywords, deadline, Stop.CANCELLED)


def _refuse_style(program: Program, said: frozenset[str]) -> None:
    if "style" in said and program.language != "c":
        raise WrongUsage("style", f"it is about C; {program.language or 'this program'} has one way to write a fence")


def _refuse_other_edits(program: Program, options: FixOptions, said: frozenset[str]) -> None:
    is_atomic = asks_for_atomic_writes(program, options)
    for option in ABOUT_FENCES if is_atomic else ABOUT_ATOMIC_WRITES:
        if option in said:
            what = "it is about atomic writes, which a temporal property asks for: --ltl, or one that FILE states"
            if is_atomic:
                what = "it is about fences, but the property is temporal, and is met by atomic writes"
            raise WrongUsage(option, what)


def _writes(atomic: Iterable[AtomicWrite] | str, program: Program) -> Iterable[AtomicWrite]:
    if not isinstance(atomic, str):
        return atomic
    from memfence.passes.atomic_list import parse_atomic_writes
    from memfence.pipeline import read_source

    return parse_atomic_writes(read_source(atomic), program)


def _unread(source: Source, options: FixOptions, keywords: dict[str, Any], deadline: Deadline, stop: Stop) -> FixResult:
    return FixResult(
        program=unread_program(source),
        model=keywords.get("model") or options.model,
        criterion=Criterion(keywords.get("criterion") or options.criterion or Criterion.SAFETY),
        verdict=FixVerdict.UNKNOWN,
        evidence=SearchDidNotEnd(),
        minimise=options.minimise,
        is_minimum=False,
        limits=Limits(deadline=deadline),
        stats=FixStats(0, 0, 0, 0, deadline.elapsed, peak_megabytes()),
        stop=stop,
        chosen=FenceSet(()),
    )
