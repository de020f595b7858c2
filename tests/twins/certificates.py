"""What a certificate has to be, by definitions: a true claim, and sections that cover what a reference search finds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations, permutations, product
from typing import Any

from memfence.api.check import check
from memfence.certificates.checker.question import Question, question_of
from memfence.certificates.checker.ranks import product_of
from memfence.certificates.checker.triangular import Marked, first_marked, steps_of
from memfence.certificates.format.automata import SymbolicRows, read_automata
from memfence.certificates.format.columns import Columns
from memfence.certificates.format.header import Claim, read_header
from memfence.certificates.format.minimum import read_minimum
from memfence.certificates.format.ranks import read_ranks
from memfence.certificates.format.sections import OBJECT, PROGRAM, ROWS, SECTION
from memfence.models.buffering import Buffering
from memfence.models.spec import SC
from memfence.models.state import Failure, State
from memfence.models.steps import set_at
from memfence.program.ir import Program
from memfence.program.text.canonical import canonical_text
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import Bound
from support.certificates import Chunks
from twins import dual as twin
from twins.reference_search import breadth_first, reachable


def sections_of(chunks: Chunks) -> Iterator[tuple[dict[str, Any], list[bytes], list[bytes]]]:
    """What each section says first, its lists, and its blocks of rows."""
    starts = [n for n, (kind, _) in enumerate(chunks) if kind == SECTION]
    for here, end in zip(starts, [*starts[1:], len(chunks)], strict=True):
        part = chunks[here + 1 : end]
        lists, blocks = ([content for kind, content in part if kind == one] for one in (OBJECT, ROWS))
        yield json.loads(chunks[here][1]), lists, blocks


def is_proof(program: Program, chunks: Chunks) -> bool:
    """The definition: it is about the program, the claim is true, and every section covers what it must."""
    claim, is_about_it = read_header(chunks[0][1]).claim, chunks[1] == (PROGRAM, canonical_text(program).encode())
    return (
        is_about_it
        and is_true(program, claim)
        and all(covers(program, claim, details, lists, blocks) for details, lists, blocks in sections_of(chunks))
    )


@cache
def is_true(program: Program, claim: Claim) -> bool:
    """As the engines say."""
    if claim.criterion in ("trf", "persistent") and claim.model == "pso":
        return False  # these speak about TSO
    asked: dict[str, Any] = {"model": claim.model, "criterion": claim.criterion, "deadlock": claim.deadlock}
    asked |= {"ltl": claim.ltl, "fair": claim.fair} if claim.ltl else {}
    if claim.bound and claim.criterion in ("safety", "state-robust"):  # the others hold for any bound, or for none
        asked["buffer_bound"] = claim.bound
    asked |= {"forbid": list(claim.forbid)} if claim.forbid else {}
    asked |= {"invariant": list(claim.invariant)} if claim.invariant else {}
    result = check(program, **asked)
    return result.answer.verdict is Verdict.HOLDS or isinstance(result.evidence, Bound)


def covers(program: Program, claim: Claim, details: dict[str, Any], lists: list[bytes], blocks: list[bytes]) -> bool:
    """Every reachable state, pair or word, every outcome; of a minimum, a bound that no choice goes below."""
    question = question_of(claim, program)
    whole, model = question.program, question.model
    match details["kind"]:
        case "invariant" | "state-robust":
            columns = Columns(whole, model.buffering, details["capacity"])
            reached = reachable(whole, model.definition)
            return _holds_all(_states(columns, blocks), whole, details, reached) and _runs(whole, claim, lists)
        case "race-free" | "persistent" | "implied" | "robust":
            reached = reachable(whole, SC.definition)
            return _holds_all(_states(Columns(whole, Buffering.NOWHERE, 0), blocks), whole, details, reached)
        case "triangular":
            return _pairs(whole, blocks) >= set(
                breadth_first(first_marked(whole), lambda pair: _marked_after(whole, pair))
            )
        case "automata":
            return _has_words(whole, lists, blocks)
        case "ranks":
            return _lead_down(program, claim, details, lists, blocks)
        case "minimum":
            return _is_bound(program, claim, lists)
        case "dual":
            return _is_closed_backwards(question, lists)
        case kind:
            return bool(kind == "sc-itself" and claim.model == "sc")


def _holds_all(found: set[State], program: Program, details: dict[str, Any], states: Iterable[State]) -> bool:
    """Whether each state that no abridged set may leave out is there, or one with processes of a class exchanged."""
    orders = list[list[int]]([list(range(len(program.processes)))])
    for members in details.get("alike", ()):
        ways = [dict(zip(members, way, strict=True)) for way in permutations(members)]
        orders = [[way.get(p, p) for p in order] for order in orders for way in ways]
    return all(any(_exchanged(state, order) in found for order in orders) for state in _kept(program, details, states))


def _exchanged(state: State, order: list[int]) -> State:
    parts = (tuple(part[p] for p in order) for part in (state.locations, state.registers, state.buffers))
    locations, registers, buffers = parts
    return replace(state, locations=locations, registers=registers, buffers=buffers)


def _kept(program: Program, details: dict[str, Any], states: Iterable[State]) -> set[State]:
    """What no abridged set may leave out: states in which nobody stands where he only passes, dead registers at 0."""
    if "passing" not in details:
        return set(states)
    kept = set[State]()
    for state in states:
        if any(at in passing for at, passing in zip(state.locations, details["passing"], strict=True)):
            continue
        for p, dead in enumerate(details["dead"]):
            for register in dead[state.locations[p]]:
                values = set_at(state.registers[p], register, 0)
                state = replace(state, registers=set_at(state.registers, p, values))
        kept.add(state)
    return kept


def _states(columns: Columns, blocks: list[bytes]) -> set[State]:
    return {columns.state(row) for block in blocks for row in columns.rows(block)}


def _pairs(program: Program, blocks: list[bytes]) -> set[Marked]:
    return {pair for block in blocks for pair in SymbolicRows(program).states(block)}


def _marked_after(program: Program, pair: Marked) -> Iterator[Marked]:
    return (after for _, after in steps_of(program, pair) if not isinstance(after, Failure))


def _runs(program: Program, claim: Claim, lists: list[bytes]) -> bool:
    """Of final states: as many runs as there are outcomes; that each is possible is for the checker to see."""
    finals = question_of(claim, program).finals
    return not finals or len(json.loads(lists[0])["runs"]) >= 3


def _has_words(program: Program, lists: list[bytes], blocks: list[bytes]) -> bool:
    automata = read_automata(lists)
    known = [state for block in blocks for state in SymbolicRows(program).states(block)]

    def accepts(number: int, word: Any) -> bool:
        at: int | None = 0
        for entry in word:
            at = None if at is None else automata[number].moves[at].get(entry)
        return at is not None and at in automata[number].accepting

    bounded = question_of(Claim(model="tso", bound=2), program).model.definition
    return all(
        any(
            (control.locations, control.memory, control.registers) == (state.locations, state.memory, state.registers)
            and all(accepts(number, state.buffers[p][0]) for p, number in enumerate(numbers))
            for control, numbers in known
        )
        for state in reachable(program, bounded)
    )


def _lead_down(
    program: Program, claim: Claim, details: dict[str, Any], lists: list[bytes], blocks: list[bytes]
) -> bool:
    question = question_of(claim, program)
    product = product_of(question, claim, question.temporal[details["property"]], program)
    columns = Columns(product.program, question.model.buffering, details["capacity"])
    ranks, marks = read_ranks(columns, blocks, most=10**6), json.loads(lists[0])["marks"]
    reached = list(breadth_first(product.starts(), lambda pair: (after for _, after, _ in product.moves(pair))))
    return set(reached) <= set(ranks) and all(
        ranks[after] < ranks[pair] or (ranks[after] == ranks[pair] and marks[ranks[pair]] not in visited)
        for pair in reached
        for _, after, visited in product.moves(pair)
    )


def _is_closed_backwards(question: Question, lists: list[bytes]) -> bool:
    """By the rules of the slow twin: whatever is bad, and whatever leads there, is above one of the configurations."""
    search = twin._Search(question.program, question.bad, True)
    known: dict[object, list[twin.Configuration]] = {}
    for c in _single_configurations(search, lists):
        known.setdefault(twin.key(c), []).append(c)
    owned = [_owned(search, p) for p, _ in enumerate(question.program.processes)]

    def may_be(c: twin.Configuration) -> bool:
        """Whether every process is where it may be with the own messages that it has."""
        return all((at, _newest_own(c.fifos[p])) in owned[p] for p, at in enumerate(c.controls))

    def covered(c: twin.Configuration) -> bool:
        return not may_be(c) or any(twin.is_below(other, c) for other in known.get(twin.key(c), ()))

    every = [c for some in known.values() for c in some if may_be(c)]
    return all(map(covered, search.starts())) and all(
        not search.is_initial(c) and all(map(covered, search.predecessors(c))) for c in every
    )


def _single_configurations(search: twin._Search, lists: list[bytes]) -> Iterator[twin.Configuration]:
    """Each with one control of every set, and with every memory that a configuration of the section allows."""
    sets = list[list[twin.Control]]()
    for content in lists:
        read = json.loads(content)
        sets += [[twin.Control(at, tuple(registers)) for at, registers in one] for one in read["sets"]]
        for numbers, memory, fifos, *_ in read["configurations"]:  # kinds, and hints, which prove nothing
            held = tuple(tuple(twin.Message(tuple(map(tuple, facts)), own) for facts, own in fifo) for fifo in fifos)
            values = [search.values[x] if value is None else (value,) for x, value in enumerate(memory)]
            for controls in product(*(sets[number] for number in numbers)):
                yield from (twin.Configuration(controls, one, held) for one in product(*values))


def _newest_own(fifo: twin.Fifo) -> twin.Facts:
    own = [message.facts[0] for message in fifo if message.own]
    return tuple(one for n, one in enumerate(own) if one[0] not in {x for x, _ in own[n + 1 :]})


def _owned(search: twin._Search, p: int) -> set[tuple[twin.Control, twin.Facts]]:
    """Where the process may be with which own messages, found by walking forward with all of them."""

    def after(place: tuple[twin.Control, twin.Fifo]) -> Iterator[tuple[twin.Control, twin.Fifo]]:
        control, fifo = place
        if fifo:
            yield control, fifo[1:]
        for target, ways in search.arriving[p].items():
            for source, action in ways:
                if source == control and not (fifo and (action.fenced or action.locked)):
                    stores = () if action.locked else action.stores
                    longer = (*fifo, *(twin.Message((store,), True) for store in stores))
                    yield target, tuple(m for n, m in enumerate(longer) if m not in longer[n + 1 :])

    first = [(control, ()) for control in twin.initial_controls(search.program.processes[p])]
    return {(control, _newest_own(fifo)) for control, fifo in breadth_first(first, after)}


def _is_bound(program: Program, claim: Claim, lists: list[bytes]) -> bool:
    """No choice of fewer sites meets all clauses, and there are as many fences as the smallest repair has."""
    sites, clauses = read_minimum(program, iter(lists))
    known = [clause.sites for clause in clauses]
    fewer = combinations(range(len(sites)), sum(site.is_chosen for site in sites) - 1)
    return claim.fences in (None, 2) and all(any(c.isdisjoint(choice) for c in known) for choice in fewer)
