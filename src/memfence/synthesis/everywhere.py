"""Is it impossible, or is there only no place that may be edited? The program with a fence behind every step.

That no fence helps is a claim about all fences, wherever they would have to stand: in a header of the system, in a
macro, inside an expression, in code without a text. It is made only if the program fails with all of them.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.execution.overtaking import overtaken_pairs
from memfence.execution.trace import Trace
from memfence.passes.orders import for_hardware
from memfence.program.ir import Fence, FenceKind, Location, Process, Program, Transition
from memfence.questions import check
from memfence.source import NOWHERE, Span
from memfence.synthesis.options import FixOptions
from memfence.synthesis.sites import leaves_pending
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion


def fails_with_all_fences(program: Program, criterion: Criterion, options: FixOptions) -> bool:
    """Whether a violation is left where a fence stands behind every step that can leave a store pending: proved."""
    kind: FenceKind = "sfence" if options.kinds is not None and "mfence" not in options.kinds else "mfence"
    fenced = fenced_everywhere(program, for_hardware(program, options.spec), kind)
    return check(fenced, replace(options, criterion=criterion)).verdict is Verdict.VIOLATED


def fenced_everywhere(program: Program, hardware: Program, kind: FenceKind = "mfence") -> Program:
    """`program` with such a fence behind every step that leaves stores pending, by what it is as `hardware`."""
    pairs = zip(program.processes, hardware.processes, strict=True)
    return replace(program, processes=tuple(_fenced(process, leaves_pending(known), kind) for process, known in pairs))


def _fenced(process: Process, pending: frozenset[int], kind: FenceKind) -> Process:
    locations, changed, added = list(process.locations), list[Transition](), list[Transition]()
    for number, step in enumerate(process.transitions):
        if number not in pending or process.locations[step.target].committed:
            changed.append(step)
            continue
        locations.append(Location(f"{process.locations[step.target].name}__fence{number}", span=step.span))
        added.append(Transition(len(locations) - 1, step.target, (Fence(kind),), span=step.span))
        changed.append(replace(step, target=len(locations) - 1))
    return replace(process, locations=tuple(locations), transitions=(*changed, *added))


def places_to_fence(trace: Trace | None) -> tuple[Span, ...]:
    """The stores that the run overtakes: a fence behind one of them would stop it."""
    if trace is None:
        return ()
    spans = [pair.store.span for pair in overtaken_pairs(trace) if not _is_hidden(trace, pair.store.access.variable)]
    return tuple(dict.fromkeys(span for span in spans if span.source is not NOWHERE.source))


def _is_hidden(trace: Trace, variable: int) -> bool:
    known = trace.program.variables[variable]
    return known.is_internal or known.is_bookkeeping
