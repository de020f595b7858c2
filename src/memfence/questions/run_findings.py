"""What the runtime reports, as findings and warnings about the user's text."""

from __future__ import annotations

from memfence.binary.places import NO_PLACE, Names, SourceLine
from memfence.binary.records import RawConfirmation, RawFinding, RawLeak, RawRace
from memfence.binary.steps import SLEEPS, ProgramStep, StaleLoad, explain_stale_load, named_steps
from memfence.questions.run_result import Confirmation, Leak, PlainRace, RunFinding, RunKind


def hunted(raw: RawConfirmation, names: Names) -> RunFinding:
    """A failure under simulated store buffers."""
    finding = RawFinding(raw.kind or "", raw.schedule, raw.steps, raw.waiting, 1, raw.message, raw.thread)
    return finding_of(finding, names)


def leak_of(raw: RawLeak, names: Names) -> Leak:
    """Memory that is never freed, and who allocated it."""
    return Leak(names.place(raw.pc), raw.bytes, raw.schedule)


def leak_finding(leak: Leak) -> RunFinding:
    """The same, where it is an error."""
    return RunFinding("failure", "leak", str(leak.bytes), None, leak.place, 1, leak.schedule, (), ())


def race_of(raw: RawRace, names: Names) -> PlainRace:
    """Two plain accesses that nothing orders."""
    first, second = named_steps((raw.first, raw.second), names)
    return PlainRace(first, second)


def finding_of(raw: RawFinding, names: Names) -> RunFinding:
    """What one execution shows."""
    stale = explain_stale_load(raw, names) if raw.kind == "borderline" else None
    steps, waiting = named_steps(raw.steps, names), named_steps(raw.waiting, names)
    kind = _kind(raw.kind, waiting)
    return RunFinding(
        kind,
        raw.kind,
        raw.message,
        raw.reader if raw.kind == "borderline" else raw.thread,
        _place(raw, stale, steps, waiting),
        raw.executions,
        raw.schedule,
        steps,
        waiting,
        stale,
        None if raw.confirmation is None else _confirmation(raw.confirmation, names),
    )


def _place(
    raw: RawFinding, stale: StaleLoad | None, steps: tuple[ProgramStep, ...], waiting: tuple[ProgramStep, ...]
) -> SourceLine:
    if stale is not None:
        return stale.load.place
    if steps and steps[-1].kind == "failure":
        return steps[-1].place
    blamed = [step for step in waiting if raw.kind != "deadlock" and step.thread == raw.thread]
    known = [step.place for step in (*blamed, *waiting, *reversed(steps)) if step.place.line > 0]
    return next(iter(known), NO_PLACE)


def _kind(kind: str, waiting: tuple[ProgramStep, ...]) -> RunKind:
    """Nobody can go on. If everybody who waits does so asleep, or for somebody asleep, a wake-up was lost."""
    if kind == "borderline":
        return "borderline"
    if kind != "deadlock":
        return "failure"
    own = [step for step in waiting if step.name != "pthread_join"]
    return "lost wake-up" if own and all(step.name in SLEEPS for step in own) else "deadlock"


def _confirmation(raw: RawConfirmation, names: Names) -> Confirmation:
    waiting = named_steps(raw.waiting, names)
    kind = None if raw.kind is None else _kind(raw.kind, waiting) if raw.kind == "deadlock" else raw.kind
    return Confirmation(
        raw.attempts, kind, raw.message, raw.thread, raw.schedule, named_steps(raw.steps, names), waiting
    )
