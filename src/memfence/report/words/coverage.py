"""What a verdict about C covers: which reading of the program it is about, and which accesses it says nothing of."""

from __future__ import annotations

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label
from memfence.models.spec import ModelName
from memfence.program.ir import Load, Program, Store
from memfence.program.load_options import COptions
from memfence.program.orders import MemoryOrder
from memfence.report.views.table import wrap
from memfence.source import NOWHERE, Span
from memfence.tasks.plain_race import PlainRace, PlainRaces, RacingAccess

LIMITS_OF_MODEL: dict[ModelName, str] = {
    "sc": "sequential consistency only: x86, C11 and ARM allow more",
    "tso": "x86 only: C11 and ARM allow more",
    "pso": "PSO only: C11 and ARM allow more (x86 allows less)",
}
READINGS: dict[ModelName, str] = {
    "sc": "every access takes effect at once, whatever its memory order",
    "tso": "memory orders as gcc and clang compile them for x86: a seq_cst store is an xchg, other stores and all "
    "loads are movs, a read-modify-write is locked",
    "pso": "memory orders as for x86, with an sfence before each release store",
}
AS_WRITTEN = "accesses happen in the order of the source: the compiler moves, merges and drops none"
AS_COMPILED = "the code is what clang -O2 makes of the source: other compilers and options may make something else"
MIXED = "plain accesses keep their place among relaxed and volatile ones, too (compilers may move them)"
EVERYTHING = "no bound on threads, heap or open calls was reached"


def assumptions(program: Program, model: ModelName) -> tuple[str, ...]:
    """What a verdict about a C program takes for granted; nothing for models, which say themselves what they mean."""
    if program.language != "c" or program.source is NOWHERE.source:
        return ()
    how = AS_COMPILED if program.options.c.as_compiled else AS_WRITTEN
    mixed = (MIXED,) if _has_weak_neighbours(program) and not program.options.c.as_compiled else ()
    bounds = tuple(program.notes) if program.is_cut_off else (EVERYTHING,)
    return (
        LIMITS_OF_MODEL[model],
        READINGS[model],
        how,
        *mixed,
        *bounds,
        *program.assumed,
        *_environment(program.options.c),
    )


def _environment(options: COptions) -> tuple[str, ...]:
    overflow = "signed overflow is an error" if options.overflow else "signed overflow wraps around"
    return (
        f"integers have the widths of x86-64, and {overflow}",
        f"`{options.entry}` runs without arguments, and no call of the C library fails",
        "a thread may spin for ever: that loops end is not part of the verdict",
    )


def _has_weak_neighbours(program: Program) -> bool:
    """Whether plain accesses of the user's variables stand beside relaxed or volatile stores."""
    stored: set[MemoryOrder] = set()
    plain = False
    for process in program.processes:
        for transition in process.transitions:
            for op in transition.ops:
                if isinstance(op, Load | Store) and not transition.locked:
                    own = all(program.variables[v].is_bookkeeping for v in op.address.variables)
                    plain = plain or (op.order is MemoryOrder.PLAIN and not own)
                    if isinstance(op, Store):
                        stored.add(op.order)
    return plain and MemoryOrder.RELAXED in stored


def race_warnings(program: Program, races: PlainRaces | None) -> tuple[Diagnostic, ...]:
    """One for each racing access, and one where the search for them did not end."""
    if races is None:
        return ()
    found = tuple(_race_warning(race) for race in races.races)
    return found if races.complete else (*found, _unfinished(program))


def _race_warning(race: PlainRace) -> Diagnostic:
    first, second = race.first, race.second
    return Diagnostic(
        Code.RACING_ACCESSES,
        f"`{race.variable}` is {_verb(first)} by `{first.process}` while `{second.process}` {_verb(second, True)} it, "
        "and the compiler may move, merge or repeat plain accesses",
        Label(first.span, _label(first)),
        (Label(second.span, _label(second)),),
        "make both accesses atomic; memory_order_relaxed is enough for this",
        "warning",
    )


def _verb(access: RacingAccess, present: bool = False) -> str:
    if present:
        return "writes" if access.writes else "reads"
    return "written" if access.writes else "read"


def _label(access: RacingAccess) -> str:
    kind = "plain " if access.is_plain else ""
    return f"{kind}{'write' if access.writes else 'read'} by `{access.process}`"


def _unfinished(program: Program) -> Diagnostic:
    return Diagnostic(
        Code.RACES_UNFINISHED,
        "not every plain access was checked for races: the program has too many states for that",
        Label(program.source.span(0, min(1, len(program.source.text)))),
        severity="warning",
    )


def covered_facts(program: Program, model: ModelName, verbose: bool) -> list[tuple[str, str]]:
    """The lines of a text report; the first few only, unless `verbose`. Nothing for models."""
    taken = [text for text in assumptions(program, model) if text not in program.notes]
    left_out = () if verbose else (READINGS[model], *_environment(program.options.c))
    shown = [text for text in taken if text not in left_out]
    return [("covers" if not n else "", text) for n, text in enumerate(shown)]


def warning_lines(program: Program, races: PlainRaces | None, width: int) -> list[str]:
    """A paragraph for each warning about races."""
    return [line for warning in race_warnings(program, races) for line in wrap(warning_text(warning), width)]


def coverage_fact(program: Program, model: ModelName) -> list[tuple[str, str]]:
    """The first thing to know, for the head of a page."""
    return [("Covers", text) for text in assumptions(program, model)[:1]]


def warning_text(warning: Diagnostic) -> str:
    """`warning[MF206]: what (places).`"""
    places = [_place(label.span) for label in (warning.at, *warning.related) if warning.related]
    hint = f"; {warning.hint}" if warning.hint else ""
    where = f" ({', '.join(places)})" if places else ""
    return f"warning[{warning.code.id}]: {warning.message}{where}{hint}"


def _place(span: Span) -> str:
    return "generated code" if span.source is NOWHERE.source else span.place
