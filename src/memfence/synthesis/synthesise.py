"""`memfence fix`: choose the edits, prove that they are enough and that none is too many, write the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.execution.overtaking import Overtaken, explain, overtaken_pairs
from memfence.execution.trace import Trace
from memfence.frontends.catalogue import edits_of
from memfence.frontends.frontend import EditKind
from memfence.models.spec import TSO
from memfence.passes.shared_memory_form import shared_memory_form
from memfence.program.ir import FencePoint, Program
from memfence.program.isomorphism import are_isomorphic
from memfence.program.parameterised import homes
from memfence.program.text.properties import parse_expression
from memfence.questions import check
from memfence.questions.shortening import pruned_run, shortened
from memfence.synthesis.apply_edits import with_edits
from memfence.synthesis.choose_edits import Attempt, attempt
from memfence.synthesis.clauses import Clause, EditsByPlace, is_crossed, runs_of, stopped_by
from memfence.synthesis.everywhere import fails_with_all_fences, places_to_fence
from memfence.synthesis.evidence import NoEditablePlace, NoPlace, PatchDoesNotCompile, PatchedTextOpen
from memfence.synthesis.options import FixOptions
from memfence.synthesis.oracles import watched_processes
from memfence.synthesis.patch import DoesNotCompile, compiled, diff_of, style_of, text_of, without_points
from memfence.synthesis.result import FenceSet, FixResult, FixStats, FixVerdict, PlacedFence
from memfence.synthesis.sites import FenceEdit
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import peak_megabytes
from memfence.tasks.options import criterion_to_check

FENCES: tuple[EditKind, ...] = ("mfence", "sfence")


def fix_fences(program: Program, options: FixOptions) -> FixResult:
    """The fewest fences (or the cheapest, or the first found) that make `program` work, and the text with them.

    FIXED only with a proof for the patched text; IMPOSSIBLE only if the program fails with a fence behind every step,
    whether one can be written there or not. A place where a fence does not compile is none.
    """
    options = options.started()
    refused: list[FencePoint] = []
    while True:
        try:
            return _fixed(without_points(program, refused), options, refused)
        except DoesNotCompile as broken:
            refused += broken.points


def _fixed(program: Program, options: FixOptions, refused: Sequence[FencePoint]) -> FixResult:
    """As `fix_fences`, where there is no place in the points that were `refused`; DoesNotCompile."""
    program, found, result = _chosen(program, options)
    if refused and isinstance(result.evidence, NoEditablePlace):
        result = replace(result, evidence=PatchDoesNotCompile(tuple(point.span for point in refused)))
    in_one_step = None
    if options.via == "tso" and options.spec.reorders_stores and found.verdict is FixVerdict.FIXED:
        direct = choose(program, result.criterion, replace(options, via=None))
        other = fence_set(program, direct.chosen)
        if direct.verdict is FixVerdict.FIXED and other.cost != result.chosen.cost:
            in_one_step = other
    sets = tuple(fence_set(program, [(e, None) for e in edits]) for edits in found.sets) if options.all else None
    result = replace(result, sets=sets, are_all=found.are_all, in_one_step=in_one_step)
    result = with_text(result, found.edits, replace(options, criterion=result.criterion))
    return replace(result, stats=_stats(found, options))


def count_fences(program: Program, options: FixOptions) -> FixResult:
    """`fix`, without writing the text and without proving it once more: for comparing criteria."""
    return _chosen(program, options.started())[2]


def _chosen(program: Program, options: FixOptions) -> tuple[Program, Attempt, FixResult]:
    """The program in the form that the criterion knows, the edits chosen for it, and the result so far."""
    criterion = criterion_to_check(program, options)
    if criterion.is_about_accesses:
        program = shared_memory_form(program)
    found = _claimed(program, criterion, options, choose(program, criterion, options))
    result = FixResult(
        program=program,
        model=options.model,
        criterion=criterion,
        verdict=found.verdict,
        evidence=found.evidence,
        minimise=options.minimise,
        is_minimum=found.is_minimum,
        limits=options.limits,
        stats=_stats(found, options),
        stop=found.stop,
        checked=found.checked,
        chosen=_shortened(program, fence_set(program, found.chosen), found, options),
        trace=_refuting_run(found, options),
        bound=found.bound,
    )
    return program, found, result


def _claimed(program: Program, criterion: Criterion, options: FixOptions, found: Attempt) -> Attempt:
    """That nothing helps stands only if the program fails with fences everywhere; else no place may be edited."""
    if found.verdict is not FixVerdict.IMPOSSIBLE or not isinstance(found.evidence, NoPlace):
        return found
    if "mfence" not in edits_of(program.language):
        return found
    if fails_with_all_fences(program, criterion, options):
        return found
    stores = places_to_fence(found.trace)
    return replace(found, verdict=FixVerdict.UNKNOWN, evidence=NoEditablePlace(stores))


def _refuting_run(found: Attempt, options: FixOptions) -> Trace | None:
    """The run that no edit stops; one under SC is shown as by a check."""
    if found.checked is not None and found.fails_under_sc:
        return shortened(found.checked, replace(options, model=found.checked.model)).trace
    return found.trace


def _shortened(program: Program, chosen: FenceSet, found: Attempt, options: FixOptions) -> FenceSet:
    """The fences with shorter runs, each still stopped by its own fence and by none of the others.

    A run of a program with any number of processes is one of a larger program; it stays as it is.
    """
    if program.any_number:
        return chosen
    edits = {(edit.point, edit.kind, edit.is_before): edit for edit in found.edits}
    fences = []
    for fence in chosen.fences:
        own = edits[fence.point, fence.kind, fence.is_before]
        others = [edit for edit in found.edits if edit is not own]
        fences.append(_with_shorter_run(program, fence, own, others, options))
    return FenceSet(tuple(fences))


def _with_shorter_run(
    program: Program, fence: PlacedFence, own: FenceEdit, others: Sequence[FenceEdit], options: FixOptions
) -> PlacedFence:
    if fence.run is None or criterion_to_check(fence.run.program, options) is not Criterion.SAFETY:
        return fence
    mine, theirs = EditsByPlace([own]), EditsByPlace(others)
    watched = watched_processes(fence.run.program, options)

    def is_its_own(run: Trace) -> bool:
        return bool(stopped_by(run, mine, watched=watched)) and not stopped_by(run, theirs, watched=watched)

    run = pruned_run(fence.run, options, is_its_own)
    return replace(fence, run=run, overtaken=_kept_in_order(program, run, own))


def choose(program: Program, criterion: Criterion, options: FixOptions) -> Attempt:
    """The edits: fences if they can do it, else with locked writes; in two steps where asked for."""
    possible = edits_of(program.language)
    if "mfence" not in possible and criterion is not Criterion.SAFETY:
        raise _no_fences(program)
    if options.kinds is not None:
        return _choose(program, criterion, options, [kind for kind in options.kinds if kind in possible])
    found = _choose(program, criterion, options, [kind for kind in possible if kind in FENCES] or possible)
    no_fence_helps = found.verdict is FixVerdict.IMPOSSIBLE and criterion is not Criterion.DRF
    if not no_fence_helps or "locked" not in possible or "mfence" not in possible or found.fails_under_sc:
        return found
    again = _choose(program, criterion, options, possible)
    return found if again.verdict is FixVerdict.IMPOSSIBLE else again


def _no_fences(program: Program) -> InputError:
    what = f"`{program.source.path}` is written in a language without fences: {program.language}"
    hint = "its writes can be made atomic for a property: use --forbid, --invariant or --ltl"
    return InputError([Diagnostic(Code.UNSUPPORTED, what, Label(program.source.span(0, 1)), hint=hint)])


def _choose(program: Program, criterion: Criterion, options: FixOptions, kinds: Sequence[EditKind]) -> Attempt:
    if options.spec.reorders_stores and (options.via == "tso" or options.minimise == "first") and "sfence" in kinds:
        return _in_two_steps(program, criterion, options, kinds)
    return attempt(program, criterion, options, kinds)


def _in_two_steps(program: Program, criterion: Criterion, options: FixOptions, kinds: Sequence[EditKind]) -> Attempt:
    """Linden and Wolper 2013: mfences until it works under TSO, then sfences until it works under PSO."""
    strong = [kind for kind in kinds if kind != "sfence"]
    first = attempt(program, criterion, replace(options, model=TSO.name, all=False), strong)
    if first.verdict not in (FixVerdict.FIXED, FixVerdict.ALREADY_HOLDS):
        return first
    under_tso = with_edits(program, first.edits)
    second = attempt(under_tso, criterion, replace(options, all=False), ("sfence",))
    if second.verdict is FixVerdict.IMPOSSIBLE and second.chosen == ():
        second = attempt(under_tso, criterion, replace(options, all=False), kinds)
    chosen = (*first.chosen, *second.chosen)
    verdict = second.verdict
    if verdict is FixVerdict.ALREADY_HOLDS and chosen:
        verdict = FixVerdict.FIXED
    return replace(
        second,
        verdict=verdict,
        chosen=chosen,
        is_minimum=not chosen,
        bound=None,
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
        overtaken=None if run is None else _kept_in_order(program, run, edit),
    )


def _kept_in_order(program: Program, run: Trace, edit: FenceEdit) -> Overtaken | None:
    """The accesses of the run between which the fence would stand: those that the reasons name, else the last ones."""
    home = homes(program, run.program)
    crossings = [
        (move.process, position)
        for position, taken in enumerate(run.steps)
        for move in runs_of(taken.step)
        if (home[move.process], move.transition) in edit.effect
    ]
    pairs = [pair for pair in overtaken_pairs(run) if any(is_crossed(pair, p, at) for p, at in crossings)]
    if edit.kind == "sfence":
        pairs = [pair for pair in pairs if pair.issued is not None]
    why = explain(run)
    blamed = [pair for pair in pairs if why is not None and pair == why.pair]
    return (blamed or pairs)[-1] if pairs else None


def with_text(result: FixResult, edits: Sequence[FenceEdit], options: FixOptions) -> FixResult:
    """The patched text. FIXED stands only if it reads as the very program that was proved, or is proved again."""
    program = result.program
    places = [(edit.point, edit.kind) for edit in edits]
    texts = compiled(program, places, options.style) if edits else None
    if texts is None:
        return result
    files, again = texts
    chosen = FenceSet(tuple(_in_style(program, fence, options) for fence in result.chosen.fences))
    result = replace(result, files=files, patched=text_of(program, files), diff=diff_of(files), chosen=chosen)
    if result.verdict is not FixVerdict.FIXED:
        return result
    if result.criterion.is_about_accesses:
        again = shared_memory_form(again)
    if are_isomorphic(with_edits(program, edits), again):
        return result
    return _proved_again(result, again, options)


def _in_style(program: Program, fence: PlacedFence, options: FixOptions) -> PlacedFence:
    return replace(fence, style=style_of(program, fence.point, fence.kind, options.style))


def _proved_again(result: FixResult, again: Program, options: FixOptions) -> FixResult:
    asked = restated(options, again)
    if asked is None:
        return replace(result, verdict=FixVerdict.UNKNOWN, evidence=PatchedTextOpen(None))
    proof = check(again, asked)
    if proof.verdict is Verdict.HOLDS:
        return replace(result, evidence=proof.evidence)
    evidence = PatchedTextOpen(proof.evidence)
    return replace(result, verdict=FixVerdict.UNKNOWN, evidence=evidence, stop=proof.answer.stop)


def restated(options: FixOptions, program: Program) -> FixOptions | None:
    """`options` with their properties read again for `program`, whose locations have other numbers than before.

    None where a property has no text that says what it is.
    """
    try:
        return replace(
            options,
            forbid=tuple(replace(p, expr=parse_expression(p.text, program)) for p in options.forbid),
            invariant=tuple(replace(p, expr=parse_expression(p.text, program)) for p in options.invariant),
            final=tuple(replace(p, expr=parse_expression(p.text, program)) for p in options.final),
        )
    except InputError:
        return None


def _stats(found: Attempt, options: FixOptions) -> FixStats:
    elapsed = options.limits.deadline.elapsed
    return FixStats(found.sites, found.clauses, found.checks, found.states, elapsed, peak_megabytes())
