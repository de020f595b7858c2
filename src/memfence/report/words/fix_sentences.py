"""What every answer of `memfence fix` says in words, be it about fences or about atomic writes."""

from __future__ import annotations

from typing import assert_never

from memfence.report.describe.check_data import diagnostic_object
from memfence.report.formats.json import Object
from memfence.report.words.coverage import assumptions, race_warnings
from memfence.report.words.findings import finding_text
from memfence.report.words.model_name import model_object, model_text
from memfence.report.words.properties import CRITERIA, asked_text, criterion_name, property_line, property_text
from memfence.report.words.sentences import counted, evidence_text, limit_fact, stop_advice, stop_text
from memfence.source import NOWHERE, Span
from memfence.synthesis.atomic_writes import AtomicFix
from memfence.synthesis.evidence import (
    ChecksSoFar,
    DataRace,
    EveryAttackMet,
    EveryListFails,
    FailsUnderSc,
    NoEditablePlace,
    NoPartInRun,
    NoPlace,
    NothingDelayed,
    PatchDoesNotCompile,
    PatchedTextOpen,
    SearchDidNotEnd,
)
from memfence.synthesis.result import FenceSet, Fix, FixResult, FixVerdict
from memfence.tasks.limits import Stop

AnyFix = FixResult | AtomicFix
LONGEST = 60


def fix_verdict_line(result: AnyFix) -> str:
    """`file: FIXED under tso (safety) with 2 fences: what`."""
    path = result.program.source.path
    name = path if path != NOWHERE.source.path else result.program.name
    about = f"under {model_text(result)}" + (f" ({result.criterion})" if isinstance(result, FixResult) else "")
    return f"{name}: {_verdict(result, about)}: {fix_headline(result)}"


def _verdict(result: AnyFix, about: str) -> str:
    what = "fence" if isinstance(result, FixResult) else "atomic write"
    match result.verdict:
        case FixVerdict.FIXED:
            return f"FIXED{' up to bounds' * result.is_bounded} {about} with {counted_edits(result)}"
        case FixVerdict.ALREADY_HOLDS:
            found = "NO VIOLATION, bounded" if result.is_bounded else "HOLDS"
            return f"{found} {about} without {'a new fence' if what == 'fence' else 'another atomic write'}"
        case FixVerdict.IMPOSSIBLE:
            return f"NOT FIXABLE {about} by {what}s"
        case FixVerdict.UNKNOWN if isinstance(result.evidence, NoEditablePlace | PatchDoesNotCompile):
            return f"NOT FIXED {about}"
        case FixVerdict.UNKNOWN:
            return f"UNKNOWN {about}"
        case _:
            assert_never(result.verdict)


def counted_edits(result: AnyFix) -> str:
    """`2 fences (4 over all processes)`, `1 atomic write`."""
    return (
        counted_fences(result.chosen) if isinstance(result, FixResult) else counted(len(result.chosen), "atomic write")
    )


def counted_fences(chosen: FenceSet) -> str:
    """`2 fences (4 over all processes)`."""
    what = "locked write" if all(f.kind == "locked" for f in chosen.fences) else "fence"
    if {f.kind for f in chosen.fences} > {"locked"} or len({f.style for f in chosen.fences}) > 1:
        what = "edit"
    elif chosen.fences and chosen.fences[0].style == "store":
        what = "stronger store"
    several = counted(chosen.count, what)
    return several if chosen.instances == chosen.count else f"{several} ({chosen.instances} over all processes)"


def fix_headline(result: AnyFix) -> str:
    """What is asked for; where it fails under SC already, what goes wrong there."""
    return fix_finding(result) or fix_property(result)


def fix_finding(result: AnyFix) -> str | None:
    """What goes wrong where no fence is to blame."""
    return None if isinstance(result, AtomicFix) or result.checked is None else finding_text(result.checked)


def asked_criterion(result: AnyFix) -> str:
    """As `--criterion` calls it, or liveness."""
    return criterion_name(result.criterion, result.properties if isinstance(result, AtomicFix) else ())


def fix_property(result: AnyFix) -> str:
    """What is asked for."""
    if isinstance(result, AtomicFix):
        return "; ".join(property_text(stated) for stated in result.properties)
    if result.checked is not None:
        return property_line(result.checked)
    return CRITERIA.get(result.criterion) or asked_text(result.program, result.program.properties)


def fix_scope(result: Fix) -> str:
    """What the verdict covers."""
    match result.evidence:
        case EveryAttackMet():
            return "unbounded buffers and loops: complete (every attack from every SC-reachable state is met)"
        case FailsUnderSc() if isinstance(result, AtomicFix):
            return "the property does not hold under sequential consistency either"
        case FailsUnderSc():
            return "violated under sc already: the memory model is not the reason, and no fence helps"
        case DataRace():
            return "a fence does not order accesses of two processes: no fence removes a data race"
        case NoPlace():
            return "the program fails with a fence behind every step, too: the run below remains"
        case NoEditablePlace(stores):
            return f"no place that may be edited: {_stores(stores)}"
        case PatchDoesNotCompile(places):
            return f"the compiler refuses a fence where one would help: {_listed(places)}"
        case EveryListFails():
            return "every list of atomic writes leaves a counterexample; this is the last one found"
        case NoPartInRun():
            return "no write that could be atomic has a part in this run"
        case NothingDelayed():
            return "no write is delayed in this run"
        case SearchDidNotEnd():
            return "incomplete: the search for fences did not end"
        case ChecksSoFar(checks, states):
            return f"incomplete: {checks} checks with {states} states in all"
        case PatchedTextOpen(None):
            return "the patched text is not the program that was proved, and its property cannot be read again"
        case PatchedTextOpen(check):
            assert check is not None
            return f"the patched text: {evidence_text(check, result.program)}"
        case evidence:
            return evidence_text(evidence, result.program)


def _stores(stores: tuple[Span, ...]) -> str:
    """Where a fence would have to stand."""
    if not stores:
        return "a fence would have to stand where the text has no place for one"
    several = "it would have to stand behind the store at" if len(stores) == 1 else "one would have to stand behind"
    return f"a fence would do, but {several} {_listed(stores)}"


def _listed(places: tuple[Span, ...]) -> str:
    return ", ".join(dict.fromkeys(f"{place.place} (`{_short(place)}`)" for place in places))


def _short(place: Span) -> str:
    text = " ".join(place.text.split()).rstrip("; ")
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def fix_limit(result: Fix) -> str | None:
    """The limit that kept the search from its end."""
    return stop_text(result.stop, result.limits) if result.verdict is FixVerdict.UNKNOWN else None


def fix_advice(result: Fix) -> str | None:
    """What to try."""
    if isinstance(result.evidence, DataRace):
        return "make the racing accesses locked, or protect them with a lock"
    if isinstance(result.evidence, NoEditablePlace | PatchDoesNotCompile):
        return "write it by hand there, and check again"
    if result.verdict is not FixVerdict.UNKNOWN or isinstance(result, AtomicFix):
        return None
    if isinstance(result.evidence, SearchDidNotEnd) and result.stop not in (Stop.MEMORY, Stop.CANCELLED):
        return "try a longer --timeout"
    return stop_advice(result.stop)


def common_facts(result: AnyFix) -> list[tuple[str, str]]:
    """Notes of the program, the limit and what to try, for any kind of report."""
    facts = [("note", note) for note in result.program.notes]
    limit, advice = fix_limit(result), fix_advice(result)
    if limit is not None:
        facts.append(("limit", limit_fact(limit)))
    if advice is not None:
        facts.append(("try", advice.removeprefix("try ")))
    return facts


def common_object(result: AnyFix) -> Object:
    """The keys of `memfence fix --json` that do not depend on what is written into the text."""
    return {
        "file": result.program.source.path,
        **model_object(result),
        "criterion": asked_criterion(result),
        "property": fix_property(result),
        "finding": fix_finding(result),
        "verdict": result.verdict.value,
        "scope": fix_scope(result),
        "bounded": result.is_bounded,
        "notes": list(result.program.notes),
        "assumptions": list(assumptions(result.program, result.model)),
        "warnings": [
            diagnostic_object(warning)
            for warning in (*result.program.warnings, *race_warnings(result.program, result.races))
        ],
        "minimise": result.minimise,
        "minimum": result.is_minimum,
        "limit": fix_limit(result),
        "advice": fix_advice(result),
    }


def stats_object(result: Fix) -> Object:
    stats = result.stats
    return {
        "sites": stats.sites,
        "clauses": stats.clauses,
        "checks": stats.checks,
        "states": stats.states,
        "seconds": round(stats.seconds, 6),
        "peak_mb": round(stats.peak_mb, 3),
    }
