"""Write down why an answer is true, in a file that `memfence verify` checks without the engines.

A kind of proof is imported where it is wanted: there are many, and small checks are over before all are loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import chain
from pathlib import Path

from memfence.certificates.checker.question import Question, question_of
from memfence.certificates.format.container import NotACertificate, Writer
from memfence.certificates.format.header import Claim, Header, header_bytes, reading_of
from memfence.certificates.format.sections import HEAD, PLACES, PROGRAM
from memfence.certificates.writer.chunks import Chunks, NoCertificate, first_that_works
from memfence.output_files import write_file
from memfence.program.ir import Program
from memfence.program.text.canonical import canonical_text, digest_of
from memfence.records import Record
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import Closure, Evidence, Exhausted, Fixpoint, Implied, Invariant
from memfence.tasks.limits import Limits
from memfence.version import VERSION


class Written(Record):
    """A certificate that was written."""

    path: Path
    size: int


def certify(
    program: Program,
    claim: Claim,
    path: Path,
    limits: Limits,
    *,
    evidence: Evidence | None = None,
    minimum: Iterable[tuple[bytes, bytes]] = (),
    whole: bool = False,
    visited: object = None,
) -> Written:
    """Write a certificate that `claim` is true of `program` to `path`, whole or not at all; else NoCertificate,
    or CannotWrite.

    `evidence`: what the answer rests on. It says where to start; any proof will do. `minimum`: the section that proves
    the fences to be a minimum, where the claim says so. `whole`: with every state, where checkers would also put up
    with fewer of them. `visited`: the states that the answer rests on, where its engine has kept them.
    """
    content = BytesIO()  # packed, it is small beside the states themselves
    writer = Writer(content)
    for kind, chunk in chain(_all_chunks(program, claim, limits, evidence, whole, visited), minimum):
        writer.add(kind, chunk)
    writer.close()
    write_file(path, content.getvalue())
    return Written(path, content.tell())


def _all_chunks(
    program: Program, claim: Claim, limits: Limits, evidence: Evidence | None, whole: bool, visited: object
) -> Chunks:
    text = canonical_text(program)
    header = Header(
        tool=f"memfence {VERSION}",
        program=program.name,
        digest=digest_of(text),
        reading=reading_of(program.options),
        claim=claim,
    )
    yield HEAD, header_bytes(header)
    yield PROGRAM, text.encode()
    yield PLACES, "".join(_places(program)).encode()
    yield from _proof(program, claim, limits, evidence, whole, visited)


def _proof(
    program: Program, claim: Claim, limits: Limits, evidence: Evidence | None, whole: bool, visited: object
) -> Chunks:
    try:
        question = question_of(claim, program)
    except NotACertificate as problem:
        raise NoCertificate(str(problem)) from None
    if program.any_number:
        if claim.criterion != "safety" or question.temporal:
            raise NoCertificate("for any number of threads there are certificates of safety only")
        yield from _dual(question, limits)
        return
    if claim.criterion != "safety":
        from memfence.certificates.writer.criteria import criterion_chunks

        by = evidence.by.value if isinstance(evidence, Implied) else None
        yield from criterion_chunks(claim.criterion, question, limits, implied_by=by, whole=whole, visited=visited)
        return
    for number, stated in enumerate(question.temporal):
        from memfence.certificates.writer.ranks import rank_chunks

        yield from rank_chunks(number, question, claim, stated, program, limits)
    if question.temporal and not question.asks_states:
        return
    yield from first_that_works(_attempts(question, limits, evidence, whole))


def _attempts(question: Question, limits: Limits, evidence: Evidence | None, whole: bool) -> Iterator[Chunks]:
    """The kinds of proof for single states: first the one that resembles what the answer rests on."""
    from memfence.certificates.writer.invariant import invariant_chunks

    pending = evidence.pending if isinstance(evidence, Exhausted) else None
    closure = evidence.closure if isinstance(evidence, Fixpoint) else None
    if isinstance(evidence, Implied) and evidence.by is Criterion.PERSISTENT:
        from memfence.certificates.writer.criteria import sc_chunks

        yield sc_chunks("implied", question, limits, whole=whole)
    if closure is Closure.DUAL:
        yield _dual(question, limits, few=True)
    if closure is not None:
        yield _automata(question, limits)
    if isinstance(evidence, Invariant):
        yield _alone(question)
    yield invariant_chunks(question, limits, pending=pending or 0, whole=whole)
    if closure is None:
        yield _automata(question, limits)
    yield _dual(question, limits)
    if not isinstance(evidence, Invariant):
        yield _alone(question)


def _automata(question: Question, limits: Limits) -> Chunks:
    from memfence.certificates.writer.automata import automata_chunks

    return automata_chunks(question, limits)


def _dual(question: Question, limits: Limits, *, few: bool = False) -> Chunks:
    from memfence.certificates.writer.dual import dual_chunks

    return dual_chunks(question, limits, few=few)


def _alone(question: Question) -> Chunks:
    from memfence.certificates.writer.dual import alone_chunks

    return alone_chunks(question)


def _places(program: Program) -> Iterator[str]:
    """Where each transition stands in the user's text, for people: process, number, place, text."""
    for process in program.processes:
        for number, transition in enumerate(process.transitions):
            span, source = transition.span, transition.span.source
            line = span.line
            column = span.start - source.start_of_line(line) + 1
            yield f"{process.name} {number} {source.path}:{line}:{column} {span.text!r}\n"
