"""Does the certificate prove its claim about this program? Each section is checked by itself, then all together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import BinaryIO

from memfence.certificates.checker.abridged import ends_of
from memfence.certificates.checker.automata import AutomataCheck
from memfence.certificates.checker.criteria import (
    check_implied,
    check_persistent,
    check_race_free,
    check_state_robust,
    require_no_look_at_buffers,
    require_shared_memory,
    require_single_stores,
)
from memfence.certificates.checker.dual import check_dual, for_processes_alone, prepared
from memfence.certificates.checker.finals import check_outcomes, read_outcomes
from memfence.certificates.checker.invariant import BYTES_OF_A_STATE, check_invariant, read_states
from memfence.certificates.checker.minimum import check_bound, check_clause, require_only_waiting
from memfence.certificates.checker.question import Question, question_of
from memfence.certificates.checker.ranks import check_ranks, product_of
from memfence.certificates.checker.refusal import Checked, Condition, NotProved, Refused
from memfence.certificates.checker.robust import check_robust
from memfence.certificates.checker.triangular import check_triangular, read_marked
from memfence.certificates.format.abridged import Abridgement, read_abridgement
from memfence.certificates.format.automata import SymbolicRows, read_automata
from memfence.certificates.format.columns import MOST_PENDING, Columns
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.dual import Configurations, read_configurations
from memfence.certificates.format.header import Claim
from memfence.certificates.format.minimum import Clause, read_minimum
from memfence.certificates.format.ranks import read_marks, read_ranks
from memfence.certificates.format.sections import OBJECT, ROWS, Opened, Section, open_certificate
from memfence.models.buffering import Buffering
from memfence.models.spec import SC
from memfence.models.state import State
from memfence.program.ir import Fence, Op, Program
from memfence.program.text.canonical import canonical_text, digest_of
from memfence.records import Record

STATES = "states"
"""What sections prove: something about all states, or about one temporal property."""
ROBUST, PERSISTENT = frozenset({"robust", "state-robust"}), frozenset({"persistent", "state-robust"})
"""What freedom from attacks proves: Theorems 9 and 6, and what Theorem 20 makes of them."""
CRITERIA = frozenset({"persistent", "robust", "state-robust", "trf", "drf"})
MOST_BYTES = 8 << 30


class Case(Record):
    """What the sections are checked against: the program that is at hand and the claim about it.

    `fast`: the C++ checker does what it can. `most_bytes`: for the states of a section. `is_proved`: the checker that
    is itself proved does it, and knows invariants and ranks only.
    """

    program: Program
    claim: Claim
    fast: bool
    most_bytes: int = MOST_BYTES
    is_proved: bool = False

    @property
    def question(self) -> Question:
        return question_of(self.claim, self.program)


class Proved(Record):
    """What a section proves, how many states it needed, and whether the C++ checker did it."""

    what: frozenset[str]
    states: int
    is_fast: bool = False


def verify(
    file: BinaryIO, program: Program, *, fast: bool = False, most_bytes: int = MOST_BYTES, proved: bool = False
) -> Checked:
    """Return if the certificate in `file` proves its claim about `program`.

    NotACertificate if it is none; Refused, with the first condition that is violated, if it proves nothing; MemoryError
    if its states need more than `most_bytes`. `proved`: by the checker that is itself proved; NotProved if it cannot.
    """
    return verify_opened(open_certificate(file), program, fast=fast, most_bytes=most_bytes, proved=proved)


def verify_opened(
    certificate: Opened, program: Program, *, fast: bool = False, most_bytes: int = MOST_BYTES, proved: bool = False
) -> Checked:
    """The same for a certificate of which the beginning was read."""
    check_program(certificate, program)
    case = Case(program, certificate.header.claim, fast, most_bytes, proved)
    if program.any_number != case.claim.any_number:
        raise Refused(Condition.PROGRAM, "it has another number of threads")
    if any(isinstance(op, Fence) and op.kind.startswith(("dmb", "isb")) for op in _ops(program)):
        raise Refused(Condition.KIND, "a fence of the program means nothing to models with store buffers")
    wanted = needed(case)
    states, shown, is_fast = 0, set[str](), True
    for section in certificate.sections(most_bytes=most_bytes):
        check = _KINDS.get(section.kind)
        if check is None:
            raise NotACertificate(f"there is no kind of section `{section.kind}`")
        if proved and check not in (_invariant, _ranks):
            raise NotProved(f"the proved checker does not know sections of the kind `{section.kind}`")
        if program.any_number and check not in (_dual, _alone):
            raise Refused(Condition.KIND, "they are about a certain number of threads")
        found = check(case, section)
        states += found.states
        shown |= found.what
        is_fast &= found.is_fast
    if not shown >= wanted:
        raise Refused(Condition.KIND)
    return Checked(states, "proved" if proved else "native" if is_fast else "python")


def _ops(program: Program) -> Iterator[Op]:
    return (op for process in program.processes for transition in process.transitions for op in transition.ops)


def needed(case: Case) -> set[str]:
    """What has to be proved for the claim. A criterion is about the whole program: no property goes with it."""
    claim = case.claim
    if claim.price is not None and claim.fences is None:
        raise NotACertificate("a cost is claimed of no fences")
    minimum = set[str]() if claim.fences is None else {"minimum"}
    if claim.criterion in CRITERIA:
        if claim.forbid or claim.invariant or claim.final or claim.deadlock or claim.ltl is not None:
            raise NotACertificate(f"`{claim.criterion}` is claimed together with a property")
        if claim.criterion in ("trf", "persistent") and case.question.model.reorders_stores:
            raise Refused(Condition.KIND, f"`{claim.criterion}` is defined for TSO only")
        return {claim.criterion} | minimum
    if claim.criterion != "safety":
        raise NotACertificate(f"`{claim.criterion}` is not a criterion")
    temporal = {f"temporal {number}" for number, _ in enumerate(case.question.temporal)}
    return minimum | (temporal if temporal and not case.question.asks_states else {STATES, *temporal})


def check_program(certificate: Opened, program: Program) -> None:
    """Condition 0: the program is the one that the certificate is about."""
    text = canonical_text(program)
    if certificate.header.digest != digest_of(text) or certificate.text != text:
        raise Refused(Condition.PROGRAM, certificate.header.program)


def _invariant(case: Case, section: Section) -> Proved:
    question = case.question
    capacity = section.number("capacity", most=MOST_PENDING)
    columns = Columns(question.program, question.model.buffering, capacity)
    left_out = read_abridgement(question.program, section.details)
    outcomes = read_outcomes(question, only(section.chunks(OBJECT))) if question.finals else None
    blocks = section.chunks(ROWS)
    if case.fast or (case.is_proved and left_out.passing):
        from memfence.certificates.checker.native import NativeInvariant

        model = question.model.definition
        ends = ends_of(question.program, model, left_out, question.looks_at, deadlock=question.deadlock)
        native = NativeInvariant(question, columns, capacity, outcomes, ends)
        count = native.check(blocks, most_bytes=case.most_bytes)
        blocks = native.reachable(most_bytes=case.most_bytes)  # the proved checker wants every state
    if case.is_proved:
        from memfence.certificates.checker.proved import ProvedInvariant

        count = ProvedInvariant(question, columns, capacity, outcomes).check(blocks, most_bytes=case.most_bytes)
    elif not case.fast:
        states = read_states(columns, blocks, most_bytes=case.most_bytes)
        check_invariant(question, states, left_out)
        if outcomes is not None:
            check_outcomes(question, outcomes, states)
        count = len(states)
    return Proved(frozenset({STATES}), count, case.fast)


def _automata(case: Case, section: Section) -> Proved:
    automata = read_automata(section.chunks(OBJECT))
    if case.fast:
        from memfence.certificates.checker.native_automata import NativeAutomata

        native = NativeAutomata(case.question, automata)
        return Proved(frozenset({STATES}), native.check(section.chunks(ROWS), most_bytes=case.most_bytes), is_fast=True)
    rows = SymbolicRows(case.question.program)
    return Proved(frozenset({STATES}), AutomataCheck(case.question, automata, _few(case, rows, section)).check())


def _few(case: Case, rows: SymbolicRows, section: Section) -> Iterator[tuple[State, tuple[int, ...]]]:
    """The rows with numbers of a section; MemoryError for more than fit."""
    left = case.most_bytes // BYTES_OF_A_STATE
    for state in (state for block in section.chunks(ROWS) for state in rows.states(block)):
        left -= 1
        if left < 0:
            raise MemoryError
        yield state


def _sc_states(case: Case, section: Section) -> set[State]:
    return read_states(
        Columns(case.question.program, Buffering.NOWHERE, 0), section.chunks(ROWS), most_bytes=case.most_bytes
    )


def _race_free(case: Case, section: Section) -> Proved:
    left_out, proved = read_abridgement(case.program, section.details), {"drf", *_implied_by_race_freedom(case)}
    if case.fast:
        from memfence.certificates.checker.native_criteria import fast_race_free

        count = fast_race_free(case.question, section.chunks(ROWS), left_out, case.most_bytes)
        return Proved(frozenset(proved), count, is_fast=True)
    states = _sc_states(case, section)
    check_race_free(case.program, states, left_out)
    return Proved(frozenset(proved), len(states))


def _implied_by_race_freedom(case: Case) -> set[str]:
    """Theorem 11: without data races there is no triangular one, and every run has the trace of an SC run."""
    try:
        require_single_stores(case.program)
    except Refused:
        return set()
    return {"trf", *ROBUST}


def _sc_itself(case: Case, section: Section) -> Proved:
    """Under SC, every run is that of SC."""
    if case.question.model.has_buffers:
        raise Refused(Condition.KIND, "the claim is not about SC")
    return Proved(frozenset({"persistent", "robust", "state-robust"}), 0, case.fast)


def _robust(case: Case, section: Section) -> Proved:
    model = case.question.model
    if not model.has_buffers:
        raise Refused(Condition.KIND, "there are no attacks under SC")
    left_out = read_abridgement(case.program, section.details)
    if case.fast:
        from memfence.certificates.checker.native_criteria import fast_robust

        count = fast_robust(case.question, section.chunks(ROWS), left_out, case.most_bytes)
        return Proved(ROBUST, count, is_fast=True)
    states = _sc_states(case, section)
    check_robust(case.program, model.unbounded.definition, states, left_out)
    return Proved(ROBUST, len(states))


def _triangular(case: Case, section: Section) -> Proved:
    if case.fast:
        from memfence.certificates.checker.native_criteria import NativeTriangular

        count = NativeTriangular(case.program).check(section.chunks(ROWS), most_bytes=case.most_bytes)
        return Proved(frozenset({"trf"}), count, is_fast=True)
    marked = read_marked(case.program, section.chunks(ROWS), most=case.most_bytes // BYTES_OF_A_STATE)
    check_triangular(case.program, marked)
    return Proved(frozenset({"trf"}), len(marked))


def _persistent(case: Case, section: Section) -> Proved:
    require_tso(case)
    left_out = read_abridgement(case.program, section.details)
    if case.fast:
        require_single_stores(case.program)
        plain = replace(case.question, bad=None, deadlock=False, finals=())
        count = _fast_persistent(case, plain, section, left_out, may_fail=True)
        return Proved(PERSISTENT, count, is_fast=True)
    states = _sc_states(case, section)
    check_persistent(case.program, states, left_out)
    return Proved(PERSISTENT, len(states))


def _implied(case: Case, section: Section) -> Proved:
    require_tso(case)
    left_out = read_abridgement(case.program, section.details)
    if case.fast:
        require_no_look_at_buffers(case.question)
        require_shared_memory(case.question.program)
        require_single_stores(case.question.program)
        return Proved(frozenset({STATES}), _fast_persistent(case, case.question, section, left_out), is_fast=True)
    states = _sc_states(case, section)
    check_implied(case.question, states, left_out)
    return Proved(frozenset({STATES}), len(states))


def require_tso(case: Case) -> None:
    if case.question.model.buffering is not Buffering.PER_PROCESS:
        raise Refused(Condition.KIND, "persistence is about TSO")


def _fast_persistent(
    case: Case, question: Question, section: Section, left_out: Abridgement, *, may_fail: bool = False
) -> int:
    """The same conditions in C++: how many states of SC there are."""
    from memfence.certificates.checker.native import NativeInvariant

    under_sc = replace(question, model=SC)
    ends = ends_of(question.program, SC.definition, left_out, question.looks_at, deadlock=question.deadlock)
    columns = Columns(question.program, SC.buffering, 0)
    native = NativeInvariant(under_sc, columns, 0, None, ends, criterion="persistent", may_fail=may_fail)
    return native.check(section.chunks(ROWS), most_bytes=case.most_bytes)


def _state_robust(case: Case, section: Section) -> Proved:
    question = case.question
    capacity = section.number("capacity", most=MOST_PENDING)
    columns = Columns(case.program, question.model.buffering, capacity)
    if case.fast:
        from memfence.certificates.checker.native_criteria import fast_state_robust

        count = fast_state_robust(question, section.chunks(ROWS), capacity, case.most_bytes)
        return Proved(frozenset({"state-robust"}), count, is_fast=True)
    states = read_states(columns, section.chunks(ROWS), most_bytes=case.most_bytes)
    check_state_robust(case.program, question.model.definition, states)
    return Proved(frozenset({"state-robust"}), len(states))


def _ranks(case: Case, section: Section) -> Proved:
    question = case.question
    if not question.temporal:
        raise Refused(Condition.KIND, "the claim has no temporal property")
    number = section.number("property", most=len(question.temporal) - 1)
    product = product_of(question, case.claim, question.temporal[number], case.program)
    capacity = section.number("capacity", most=MOST_PENDING)
    columns = Columns(product.program, question.model.buffering, capacity)
    marks = read_marks(only(section.chunks(OBJECT)))
    if case.is_proved:
        from memfence.certificates.checker.proved import ProvedRanks

        proved = ProvedRanks(product, question.model, columns, capacity, marks)
        return Proved(frozenset({f"temporal {number}"}), proved.check(section.chunks(ROWS), most_bytes=case.most_bytes))
    if case.fast:
        from memfence.certificates.checker.native_ranks import NativeRanks

        native = NativeRanks(product, question.model, columns, capacity, marks)
        count = native.check(section.chunks(ROWS), most_bytes=case.most_bytes)
        return Proved(frozenset({f"temporal {number}"}), count, is_fast=True)
    ranks = read_ranks(columns, section.chunks(ROWS), most=case.most_bytes // BYTES_OF_A_STATE)
    if any(rank >= len(marks) or node >= len(product.refuting.moves) for (_, node), rank in ranks.items()):
        raise NotACertificate("a pair has a rank or a node that does not exist")
    check_ranks(product, ranks, marks.__getitem__)
    return Proved(frozenset({f"temporal {number}"}), len(ranks))


def _dual(case: Case, section: Section) -> Proved:
    left_out = read_abridgement(case.program, section.details)
    question = prepared(case.question, section.details.get("ranges"), left_out)
    found = read_configurations(question.program, section.chunks(OBJECT))
    if case.fast:
        from memfence.certificates.checker.native_dual import check_dual_fast

        return Proved(frozenset({STATES}), check_dual_fast(question, found, left_out), is_fast=True)
    return Proved(frozenset({STATES}), check_dual(question, found, left_out))


def _alone(case: Case, section: Section) -> Proved:
    """Theorem 17. The section says what to leave out: where processes come by themselves is found here."""
    left_out = read_abridgement(case.program, section.details)
    question = prepared(for_processes_alone(case.question), left_out=left_out)
    if case.fast:
        from memfence.certificates.checker.native_dual import check_dual_fast

        return Proved(frozenset({STATES}), check_dual_fast(question, Configurations(), left_out), is_fast=True)
    return Proved(frozenset({STATES}), check_dual(question, Configurations(), left_out))


def _minimum(case: Case, section: Section) -> Proved:
    """Theorem 21. The claim says how many fences are a minimum; which ones they are says the section."""
    sites, found = read_minimum(case.program, section.chunks(OBJECT))
    chosen = [site for site in sites if site.is_chosen]
    price = None if case.claim.price is None else sum(site.price for site in chosen)
    if (len(chosen), price) != (case.claim.fences, case.claim.price):
        raise Refused(Condition.MINIMUM, "the claim counts other fences than the section")
    question, criterion = case.question, case.claim.criterion
    require_only_waiting(question, criterion, sites)
    check: Callable[[Clause], int] = partial(check_clause, question, criterion, sites)
    bound: Callable[..., None] = partial(check_bound, sites)
    if case.fast:
        from memfence.certificates.checker.native_minimum import NativeMinimum

        native = NativeMinimum(question, criterion, sites, most_bytes=case.most_bytes)
        check, bound = native.check_clause, native.check_bound
    clauses, steps = [], 0
    for clause in found:
        clauses.append(clause)
        steps += check(clause)
    bound(clauses, by_price=price is not None)
    return Proved(frozenset({"minimum"}), steps, case.fast)


_KINDS: dict[str, Callable[[Case, Section], Proved]] = {
    "invariant": _invariant,
    "alone": _alone,
    "automata": _automata,
    "race-free": _race_free,
    "persistent": _persistent,
    "implied": _implied,
    "robust": _robust,
    "sc-itself": _sc_itself,
    "triangular": _triangular,
    "state-robust": _state_robust,
    "ranks": _ranks,
    "minimum": _minimum,
    "dual": _dual,
}


def only(contents: Iterable[bytes]) -> bytes:
    """The one chunk that belongs here."""
    found: Iterator[bytes] = iter(contents)
    first, rest = next(found, None), next(found, None)
    if first is None or rest is not None:
        raise NotACertificate("a section has not the chunks that it should have")
    return first
