"""`memfence fix`: choose the edits, prove that they are enough and that none is too many, write the text."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.execution.overtaking import Overtaken, overtaken_pairs
from memfence.execution.trace import Trace
from memfence.frontends.registry import EditKind
from memfence.passes.shared_memory_form import shared_memory_form
from memfence.pipeline import load_text
from memfence.program.ir import Final, Program
from memfence.program.text.properties import parse_expression
from memfence.questions import check
from memfence.source import SourceText
from memfence.synthesis.apply_edits import with_edits
from memfence.synthesis.choose_edits import Attempt, attempt
from memfence.synthesis.clauses import Clause, is_crossed, runs_of
from memfence.synthesis.options import FixOptions, with_time_left
from memfence.synthesis.patch import patched_text, unified
from memfence.synthesis.result import FenceSet, FixResult, FixStats, FixVerdict, PlacedFence
from memfence.synthesis.sites import KINDS_OF_LANGUAGE, FenceEdit
from memfence.tasks.limits import Limits, Stop, peak_megabytes
from memfence.tasks.options import Criterion, criterion_to_check
from memfence.tasks.result import Verdict

FENCES: tuple[EditKind, ...] = ("mfence", "sfence")
ALL_KINDS: tuple[EditKind, ...] = ("mfence", "sfence", "locked")


def fix(program: Program, options: FixOptions) -> FixResult:
    """The fewest fences (or the cheapest, or the first found) that make `program` work, and the text with them.

    FIXED only with a proof for the patched text; IMPOSSIBLE only with a run that no edit stops.
    """
    start = time.monotonic()
    criterion = criterion_to_check(program, options)
    program = _in_form(forbidding_outcomes(program), criterion)
    found = choose(program, criterion, options)
    chosen = fence_set(program, found.chosen)
    in_one_step = None
    if options.via == "tso" and options.model == "pso" and found.verdict is FixVerdict.FIXED:
        direct = choose(program, criterion, replace(with_time_left(options, start), via=None))
        other = fence_set(program, direct.chosen)
        if direct.verdict is FixVerdict.FIXED and other.cost != chosen.cost:
            in_one_step = other
    result = FixResult(
        program=program,
        model=options.model,
        criterion=criterion,
        property=found.stated,
        verdict=found.verdict,
        minimise=options.minimise,
        chosen=chosen,
        is_minimum=found.is_minimum,
        scope=found.scope,
        stats=_stats(found, start),
        sets=tuple(fence_set(program, [(e, None) for e in edits]) for edits in found.sets) if options.all else None,
        are_all=found.are_all,
        in_one_step=in_one_step,
        trace=found.trace,
        limit=found.limit,
        advice=found.advice,
    )
    result = _with_text(result, found.edits, replace(with_time_left(options, start), criterion=criterion))
    result = replace(result, limit=_as_given(result.limit, options))
    return replace(result, stats=_stats(found, start))


def count_fences(program: Program, options: FixOptions) -> FixResult:
    """`fix`, without writing the text and without proving it once more: for comparing criteria."""
    start = time.monotonic()
    criterion = criterion_to_check(program, options)
    program = _in_form(forbidding_outcomes(program), criterion)
    found = choose(program, criterion, options)
    return FixResult(
        program, options.model, criterion, found.stated, found.verdict, options.minimise,
        fence_set(program, found.chosen), found.is_minimum, found.scope, _stats(found, start), trace=found.trace,
        limit=_as_given(found.limit, options), advice=found.advice,
    )  # fmt: skip


def _in_form(program: Program, criterion: Criterion) -> Program:
    return program if criterion in ("safety", "state-robust") else shared_memory_form(program)


def _as_given(limit: str | None, options: FixOptions) -> str | None:
    """A timeout as the user set it, not what was left of it for the last search."""
    if limit is None or not limit.startswith("timeout") or options.timeout_seconds is None:
        return limit
    return Limits(timeout_seconds=options.timeout_seconds).describe(Stop.TIMEOUT)


def forbidding_outcomes(program: Program) -> Program:
    """`program` with `exists` conditions turned round: a litmus test names the outcome that fences are to forbid."""
    named = [stated for stated in program.properties if isinstance(stated, Final) and stated.quantifier == "exists"]
    if not named:
        return program
    properties = tuple(
        replace(stated, quantifier="not exists", text=f"~{stated.text}") if stated in named else stated
        for stated in program.properties
    )
    note = "an `exists` condition names an outcome: fences are to make it impossible"
    return replace(program, properties=properties, notes=(*program.notes, note))


def choose(program: Program, criterion: Criterion, options: FixOptions) -> Attempt:
    """The edits: fences if they can do it, else with locked writes; in two steps where asked for."""
    start = time.monotonic()
    possible = KINDS_OF_LANGUAGE.get(program.language, ALL_KINDS)
    if "mfence" not in possible and criterion != "safety":
        raise _no_fences(program)
    if options.kinds is not None:
        return _choose(program, criterion, options, [kind for kind in options.kinds if kind in possible])
    found = _choose(program, criterion, options, [kind for kind in possible if kind in FENCES] or possible)
    no_fence_helps = found.verdict is FixVerdict.IMPOSSIBLE and criterion != "drf"
    if not no_fence_helps or "locked" not in possible or "mfence" not in possible or _is_sc_run(found):
        return found
    again = _choose(program, criterion, with_time_left(options, start), possible)
    return found if again.verdict is FixVerdict.IMPOSSIBLE else again


def _no_fences(program: Program) -> InputError:
    what = f"`{program.source.path}` is written in a language without fences: {program.language}"
    hint = "its writes can be made atomic for a property: use --forbid, --invariant or --ltl"
    return InputError([Diagnostic(Code.UNSUPPORTED, what, Label(program.source.span(0, 1)), hint=hint)])


def _is_sc_run(found: Attempt) -> bool:
    return found.trace is not None and found.trace.model == "sc"


def _choose(program: Program, criterion: Criterion, options: FixOptions, kinds: Sequence[EditKind]) -> Attempt:
    if options.model == "pso" and (options.via == "tso" or options.minimise == "first") and "sfence" in kinds:
        return _in_two_steps(program, criterion, options, kinds)
    return attempt(program, criterion, options, kinds)


def _in_two_steps(program: Program, criterion: Criterion, options: FixOptions, kinds: Sequence[EditKind]) -> Attempt:
    """Linden and Wolper 2013: mfences until it works under TSO, then sfences until it works under PSO."""
    start = time.monotonic()
    strong = [kind for kind in kinds if kind != "sfence"]
    first = attempt(program, criterion, replace(options, model="tso", all=False), strong)
    if first.verdict not in (FixVerdict.FIXED, FixVerdict.ALREADY_HOLDS):
        return first
    under_tso = with_edits(program, first.edits)
    second = attempt(under_tso, criterion, replace(with_time_left(options, start), all=False), ("sfence",))
    if second.verdict is FixVerdict.IMPOSSIBLE and second.chosen == ():
        second = attempt(under_tso, criterion, replace(with_time_left(options, start), all=False), kinds)
    chosen = (*first.chosen, *second.chosen)
    verdict = second.verdict
    if verdict is FixVerdict.ALREADY_HOLDS and chosen:
        verdict = FixVerdict.FIXED
    return replace(
        second,
        verdict=verdict,
        chosen=chosen,
        is_minimum=not chosen,
        sites=max(first.sites, second.sites),
        clauses=first.clauses + second.clauses,
        checks=first.checks + second.checks,
        states=first.states + second.states,
    )


def fence_set(program: Program, chosen: Iterable[tuple[FenceEdit, Clause | None]]) -> FenceSet:
    """The chosen edits in the order of the text, each with why it is needed."""
    fences = [_placed(program, edit, None if clause is None else clause.witness()) for edit, clause in chosen]
    return FenceSet(tuple(sorted(fences, key=lambda f: (f.at.source.path, f.at.start, f.is_before, f.kind))))


def _placed(program: Program, edit: FenceEdit, run: Trace | None) -> PlacedFence:
    process, transition = min(edit.effect)
    owner = program.processes[process]
    return PlacedFence(
        kind=edit.kind,
        point=edit.point,
        is_before=edit.is_before,
        location=owner.locations[owner.transitions[transition].target].name,
        processes=tuple(program.processes[p].name for p in edit.processes),
        cost=edit.cost,
        level=edit.level,
        run=run,
        overtaken=None if run is None else _kept_in_order(run, edit),
    )


def _kept_in_order(run: Trace, edit: FenceEdit) -> Overtaken | None:
    """The last pair of accesses of the run between which the fence would stand."""
    crossings = [
        (move.process, position)
        for position, taken in enumerate(run.steps)
        for move in runs_of(taken.step)
        if (move.process, move.transition) in edit.effect
    ]
    pairs = [pair for pair in overtaken_pairs(run) if any(is_crossed(pair, p, at) for p, at in crossings)]
    if edit.kind == "sfence":
        pairs = [pair for pair in pairs if pair.issued is not None]
    return pairs[-1] if pairs else None


def _with_text(result: FixResult, edits: Sequence[FenceEdit], options: FixOptions) -> FixResult:
    """The patched text, read again and checked again where that is how it was proved."""
    program = result.program
    patched = patched_text(program, ((edit.point, edit.kind) for edit in edits)) if edits else None
    if patched is None:
        return result
    result = replace(result, patched=patched, diff=unified(program.source, patched))
    source = SourceText(program.source.path, patched)
    again = load_text(source, program.options)
    if result.verdict is not FixVerdict.FIXED or result.criterion in ("persistent", "robust"):
        return result
    asked = restated(options, again)
    if asked is None:
        return result
    proof = check(forbidding_outcomes(again), asked)
    if proof.verdict is Verdict.HOLDS:
        return replace(result, scope=proof.scope)
    return replace(
        result, verdict=FixVerdict.UNKNOWN, scope=f"the patched text: {proof.scope}", limit=proof.limit,
        advice=proof.advice,
    )  # fmt: skip


def restated(options: FixOptions, program: Program) -> FixOptions | None:
    """`options` with their properties read again for `program`, whose locations have other numbers than before.

    None where a property has no text that says what it is.
    """
    try:
        return replace(
            options,
            forbid=tuple(replace(p, expr=parse_expression(p.text, program)) for p in options.forbid),
            invariant=tuple(replace(p, expr=parse_expression(p.text, program)) for p in options.invariant),
        )
    except InputError:
        return None


def _stats(found: Attempt, start: float) -> FixStats:
    return FixStats(found.sites, found.clauses, found.checks, found.states, time.monotonic() - start, peak_megabytes())
