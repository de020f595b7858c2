"""Backward search: the least configurations from which something bad is reached.

For any number of threads, counters that have a wide range are tried with narrow ones: that they stay there is proved
along with the rest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

from memfence.certificates.checker.dual import for_processes_alone, prepared
from memfence.certificates.checker.native import NotForTheFastChecker
from memfence.certificates.checker.native_dual import DualSearch, check_dual_fast
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Refused
from memfence.certificates.format.abridged import Abridgement
from memfence.certificates.format.dual import Configurations, section_objects
from memfence.certificates.format.sections import OBJECT, SECTION
from memfence.certificates.writer.abridging import passed_alone
from memfence.certificates.writer.chunks import Chunks, NoCertificate
from memfence.engines.parameterised import MOST_COUNTED
from memfence.passes.small_counters import has_counters, with_small_counters
from memfence.program.ir import Load, Program, RegisterVar, Rmw, SharedVar
from memfence.tasks.limits import Limits

MOST_CONFIGURATIONS, FEW = 200_000, 1000
"""A set of few can be compared with all of itself: it has no hints."""


def dual_chunks(question: Question, limits: Limits, *, few: bool = False) -> Chunks:
    """A section that proves what `question` asks under TSO with buffers of any length, or under SC.

    `few`: only if that takes few configurations.
    """
    reasons, most = list[str](), FEW if few else MOST_CONFIGURATIONS
    for ranges in _ranges(question.program):
        try:
            asked, left_out = _abridged(question, ranges)
            search = DualSearch(asked, left_out)
            is_reached = search.run(lambda size: size > most or limits.deadline.passed)
        except (Refused, NotForTheFastChecker) as problem:
            reasons.append(_reason(problem))
            continue
        if is_reached is False:
            narrow = {} if ranges is None else {"ranges": ranges}
            yield SECTION, json.dumps({"kind": "dual"} | narrow | left_out.as_lists()).encode()
            for part in section_objects(_with_hints(search.found())):
                yield OBJECT, json.dumps(part, separators=(",", ":")).encode()
            return
        reasons.append(
            "something bad can be reached"
            if is_reached
            else "there are too many configurations for the backward search"
        )
    raise NoCertificate(reasons[-1])


def _reason(problem: Refused | NotForTheFastChecker) -> str:
    return problem.detail if isinstance(problem, Refused) else str(problem)


def _with_hints(found: Configurations) -> Configurations:
    return found if len(found.all) > FEW else Configurations(found.all)


def _abridged(question: Question, ranges: dict[str, Any] | None) -> tuple[Question, Abridgement]:
    """The question as the checker wants it, and as much left out as it puts up with."""
    *some, whole = passed_alone(question, question.model.unbounded)
    for left_out in some:
        try:
            return prepared(question, ranges, left_out), left_out
        except Refused:
            continue
    return prepared(question, ranges, whole), whole


def alone_chunks(question: Question) -> Chunks:
    """A section that proves what single processes prove by themselves, under any model."""
    try:
        asked, left_out = _abridged(for_processes_alone(question), None)
        check_dual_fast(asked, Configurations(), left_out)
    except (Refused, NotForTheFastChecker) as problem:
        raise NoCertificate(_reason(problem)) from None
    yield SECTION, json.dumps({"kind": "alone"} | left_out.as_lists()).encode()


def _ranges(program: Program) -> Iterator[dict[str, Any] | None]:
    """What to try: the ranges that the program has, or narrower ones of its counters, each once.

    First without -1, since most counters never get there, and every value more is dear.
    """
    if not has_counters(program):
        yield None
        return
    tried = list[dict[str, Any]]()
    for least, most in product((0, -1), MOST_COUNTED):
        small = with_small_counters(program, most)
        ranges = {
            "variables": [_from(least, *_loadable(small, x), small.variables[x]) for x in range(len(small.variables))],
            "registers": [
                [_from(least, r.domain.lo, r.domain.hi, r) for r in process.registers] for process in small.processes
            ],
        }
        if ranges not in tried:
            tried.append(ranges)
            yield ranges


def _from(least: int, lo: int, hi: int, variable: SharedVar | RegisterVar) -> list[int]:
    """The range from `least` on; the declared one where the variable does not start in it."""
    first, domain = max(lo, min(least, *variable.init)), variable.domain
    return [first, hi] if all(first <= value <= hi for value in variable.init) else [domain.lo, domain.hi]


def _loadable(program: Program, variable: int) -> tuple[int, int]:
    """The range of the variable, as far as all registers that it is loaded into have room for it.

    A value that does not fit would be a step that fails, wherever it comes from: the checker looks at what a step
    reads, and one that fails in a load has not read yet. That nobody stores such a value is proved along with the rest.
    """
    domain = program.variables[variable].domain
    loads = (
        process.registers[op.register].domain
        for process in program.processes
        for transition in process.transitions
        for op in transition.ops
        if isinstance(op, Load | Rmw) and op.register is not None and variable in op.address.variables
    )
    fitting = [(room.lo, room.hi) for room in loads if room.lo <= domain.hi and room.hi >= domain.lo]
    return max([domain.lo, *(lo for lo, _ in fitting)]), min([domain.hi, *(hi for _, hi in fitting)])
