"""Certificates of every kind that were tampered with: none is accepted wrongly, none crashes a checker.

What was changed may still be a proof. That is decided here by definitions: the claim is true, as the engines say, and
the section covers what it must, which a reference search finds: every reachable state, pair or word, every outcome, and
for a minimum a bound that is found by trying every choice.
"""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, permutations, product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from memfence.api.certify import certify_fix
from memfence.api.check import check
from memfence.api.fix import fix
from memfence.certificates.checker.native import NotForTheFastChecker
from memfence.certificates.checker.question import Question, question_of
from memfence.certificates.checker.ranks import product_of
from memfence.certificates.checker.triangular import Marked, first_marked, steps_of
from memfence.certificates.checker.verify import verify
from memfence.certificates.format.automata import NUMBER, SymbolicRows, read_automata
from memfence.certificates.format.columns import Columns, planes
from memfence.certificates.format.container import MAGIC, VERSION, read_chunks
from memfence.certificates.format.header import Claim, read_header
from memfence.certificates.format.minimum import read_minimum
from memfence.certificates.format.ranks import read_ranks
from memfence.certificates.format.sections import HEAD, OBJECT, PROGRAM, ROWS, SECTION
from memfence.certificates.writer.certify import certify
from memfence.certificates.writer.dual import dual_chunks
from memfence.models.buffering import Buffering
from memfence.models.reference_search import breadth_first, reachable
from memfence.models.spec import SC
from memfence.models.state import Failure, State
from memfence.models.steps import set_at
from memfence.pipeline import load, load_text
from memfence.program.ir import Program
from memfence.program.text.canonical import canonical_text, digest_of
from memfence.source import SourceText
from memfence.synthesis.result import FixResult
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import Bound, Fixpoint, Implied
from memfence.tasks.limits import Limits
from support.certificates import beginning, blocks_of, container, judge
from twins import dual as twin

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BOTH = """#include "memfence.h"
byte x, y; active proctype P() { byte a; x = 1; FENCE a = y; a = 0 }
active proctype Q() { byte b; y = 1; FENCE b = x; b = 0 }
"""
FENCED = BOTH.replace("FENCE", "mfence();")
PLAIN = BOTH.replace("FENCE", "").replace("a = 0", "assert(a + x < 9)")
APART = "byte x, y; active proctype P() { x = 1; x = 2 } active proctype Q() { byte r; y = 1; r = y }"
RACY = """#include "memfence.h"
byte x, y; active proctype P() { x = 1; sfence(); y = 1 } active proctype Q() { byte b; b = y; b = x }
"""
FOREVER = (
    "byte x, y; active proctype P() { do :: x = 1; y = 1 od } active proctype Q() { byte r; do :: r = x; r = y od }"
)
SHORT = "bit x, y; active proctype P() { bit a; x = 1; x = 1; a = y } active proctype Q() { y = 1 }"
TURNS = "bit x; active proctype P() { do :: x == 0 -> x = 1 :: x == 1 -> x = 0 od }"
GUARDED = """byte x, y, n; active proctype P() { x = 1; (y == 0) -> n = n + 1; assert(n == 1); n = n - 1 }
active proctype Q() { y = 1; (x == 0) -> n = n + 1; assert(n == 1); n = n - 1 }
"""
COPIES = """#include "memfence.h"
bit x, y; byte seen; active proctype Q() { y = 1; seen = x } active [3] proctype P() { bit a; x = 1; mfence(); a = y }
"""
Chunks = list[tuple[bytes, bytes]]
FEW, MANY = 26, 260


@dataclass(frozen=True)
class Sample:
    """A kind of section, a program, and a claim that it proves."""

    kind: str
    text: str
    claim: Claim

    @property
    def program(self) -> Program:
        return _program(self.kind, self.text)


SAMPLES = [
    Sample("invariant", FENCED, Claim(model="tso", forbid=("P.a == 2",))),
    Sample("outcomes", "store_buffering.litmus", Claim(model="sc")),
    Sample("automata", FOREVER, Claim(model="tso", forbid=("x == 2",))),
    Sample("race-free", APART, Claim(model="tso", criterion="drf")),
    Sample("persistent", FENCED, Claim(model="tso", criterion="persistent")),
    Sample("implied", FENCED, Claim(model="tso", forbid=("P.a == 2",))),
    Sample("robust", FENCED, Claim(model="tso", criterion="robust")),
    Sample("robust", RACY, Claim(model="pso", criterion="robust")),
    Sample("triangular", FENCED, Claim(model="tso", criterion="trf")),
    Sample("state-robust", FENCED, Claim(model="tso", criterion="state-robust")),
    Sample("state-robust", FENCED, Claim(model="pso", criterion="state-robust")),
    Sample("invariant", COPIES, Claim(model="tso", bound=1, forbid=("seen == 2",))),
    Sample("robust", COPIES.replace("seen = x", "skip"), Claim(model="tso", criterion="robust")),
    Sample("sc-itself", PLAIN, Claim(model="sc", criterion="robust")),
    Sample("ranks", TURNS, Claim(model="tso", bound=1, ltl="[] <> (x == 0)", fair=True)),
    Sample("ranks", FENCED, Claim(model="pso", bound=1, ltl="<> [] (x == 1)")),
    Sample("dual", SHORT, Claim(model="tso", forbid=("P@#0 && P.a == 1 && Q@#1",))),
    Sample("minimum", GUARDED, Claim(model="tso")),
    Sample("minimum", BOTH.replace("FENCE", ""), Claim(model="tso", criterion="persistent")),
]


@cache
def _program(kind: str, text: str) -> Program:
    if text.endswith(".litmus"):
        return load(EXAMPLES / text)
    path = str(EXAMPLES / "sample.pml")
    if kind == "minimum":
        fixed = _fixed(text, "safety" if text == GUARDED else "persistent")
        assert fixed.patched is not None
        return load_text(SourceText(path, fixed.patched))
    return load_text(SourceText(path, text))


@cache
def _fixed(text: str, criterion: str) -> FixResult:
    fixed = fix(load_text(SourceText(str(EXAMPLES / "sample.pml"), text)), criterion=criterion)
    assert isinstance(fixed, FixResult)
    return fixed


@cache
def made(sample: Sample, folder: Path) -> Chunks:
    path = folder / "proof.mfc"
    if sample.kind == "minimum":
        keywords = {} if sample.claim.criterion == "safety" else {"criterion": sample.claim.criterion}
        proof = certify_fix(_fixed(sample.text, sample.claim.criterion), path, verified=False, **keywords)
        assert proof is not None and proof.not_minimum is None and proof.written is not None
    elif sample.kind == "dual":
        section = dual_chunks(question_of(sample.claim, sample.program), Limits())
        path.write_bytes(container([*beginning(sample.program, sample.claim), *section]))
    else:
        evidence = {"implied": Implied(Criterion.PERSISTENT, True), "automata": Fixpoint(0)}
        certify(sample.program, sample.claim, path, Limits(), evidence=evidence.get(sample.kind))
    return chunks_of(path.read_bytes())


def chunks_of(content: bytes) -> Chunks:
    return [(chunk.kind, chunk.content) for chunk in read_chunks(io.BytesIO(content))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates")


# What a certificate has to be.


def sections_of(chunks: Chunks) -> Iterator[tuple[dict[str, Any], list[bytes], list[bytes]]]:
    """What each section says first, its lists, and its blocks of rows."""
    starts = [n for n, (kind, _) in enumerate(chunks) if kind == SECTION]
    for here, end in zip(starts, [*starts[1:], len(chunks)], strict=True):
        part = chunks[here + 1 : end]
        lists, blocks = ([content for kind, content in part if kind == one] for one in (OBJECT, ROWS))
        yield json.loads(chunks[here][1]), lists, blocks


def is_proof(program: Program, chunks: Chunks) -> bool:
    """The definition: the claim is true, the text is that of the program, and every section covers what it must."""
    claim = read_header(chunks[0][1]).claim
    return is_true(program, claim) and all(
        covers(program, claim, details, lists, blocks) for details, lists, blocks in sections_of(chunks)
    )


@cache
def is_true(program: Program, claim: Claim) -> bool:
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
        for numbers, memory, fifos, _ in read["configurations"]:
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


# Mutations: chunks to bytes.


def width_of(sample: Sample, chunks: Chunks, at: int) -> int:
    """Bytes of a row of the block `at`."""
    details = json.loads(next(content for kind, content in reversed(chunks[:at]) if kind == SECTION))
    question = question_of(sample.claim, sample.program)
    plain = Columns(question.program, Buffering.NOWHERE, 0).width
    match details["kind"]:
        case "automata" | "triangular":
            return plain + NUMBER * len(sample.program.processes)
        case "invariant" | "state-robust" | "ranks":
            width = Columns(question.program, question.model.buffering, details["capacity"]).width
            return width + (2 * NUMBER if details["kind"] == "ranks" else 0)
        case _:
            return plain


def rows_changed(sample: Sample, random: Random, chunks: Chunks, change: Callable[[list[bytes]], list[bytes]]) -> bytes:
    places = [n for n, (kind, _) in enumerate(chunks) if kind == ROWS]
    if not places:
        return flip_a_byte_of_a_chunk(sample, random, chunks)
    at = random.choice(places)
    rows = change(list(planes(chunks[at][1], width_of(sample, chunks, at))))
    return container([*chunks[:at], *((ROWS, block) for block in blocks_of(rows)), *chunks[at + 1 :]])


def drop_a_row(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    return rows_changed(sample, random, chunks, lambda rows: (rows.pop(random.randrange(len(rows))), rows)[1])


def change_a_row(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    def change(rows: list[bytes]) -> list[bytes]:
        at = random.randrange(len(rows))
        changed = bytearray(rows[at])
        changed[random.randrange(len(changed))] ^= random.choice((1, 2, 3, 255))
        return sorted({*rows[:at], *rows[at + 1 :], bytes(changed)})

    return rows_changed(sample, random, chunks, change)


def add_a_row(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    def change(rows: list[bytes]) -> list[bytes]:
        changed = bytearray(random.choice(rows))
        changed[random.randrange(len(changed))] ^= random.choice((1, 2))
        return sorted({*rows, bytes(changed)})

    return rows_changed(sample, random, chunks, change)


def change_a_list(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    """Somewhere in an automaton, a run, the marks, the sites or a clause: an element less, twice, or another one."""
    places = [n for n, (kind, _) in enumerate(chunks) if kind == OBJECT]
    if not places:
        return change_a_row(sample, random, chunks)
    at = random.choice(places)
    found = json.loads(chunks[at][1])
    holder: Any = found
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        inner = [key for key in keys if isinstance(holder[key], dict | list) and holder[key]]
        if not inner or (isinstance(holder, list) and random.random() < 0.3):
            break
        holder = holder[random.choice(inner)]
    if keys:
        key, way = random.choice(keys), random.randrange(3)
        if way == 0:
            del holder[key]
        elif way == 1 and isinstance(holder, list):
            holder.insert(key, holder[key])
        else:
            old = holder[key]
            holder[key] = random.choice([old + 1, old - 1, 0]) if isinstance(old, int) else random.choice([None, [], 0])
    return container([*chunks[:at], (OBJECT, json.dumps(found).encode()), *chunks[at + 1 :]])


def flip_a_byte(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    content = bytearray(container(chunks))
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    return bytes(content)


def flip_a_byte_of_a_chunk(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    """The checksums are right again."""
    at = random.randrange(len(chunks))
    kind, content = chunks[at]
    changed = bytearray(content or b"x")
    changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return container([*chunks[:at], (kind, bytes(changed)), *chunks[at + 1 :]])


def cut_off(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    content = container(chunks)
    return content[: random.randrange(len(content))]


def drop_a_chunk(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    at = random.randrange(len(chunks))
    return container([*chunks[:at], *chunks[at + 1 :]])


def repeat_a_chunk(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    at = random.randrange(len(chunks))
    return container([*chunks[: at + 1], *chunks[at:]])


def forge_the_claim(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    header = json.loads(chunks[0][1])
    field, value = random.choice([
        ("model", "pso"), ("model", "tso"), ("model", "sc"), ("forbid", ["true"]), ("forbid", ["x == 1"]), ("bound", 1),
        ("invariant", ["false"]), ("criterion", "persistent"), ("criterion", "robust"), ("criterion", "drf"),
        ("criterion", "trf"), ("criterion", "state-robust"), ("criterion", "safety"), ("deadlock", True), ("fences", 1),
        ("fences", 3), ("fences", None), ("price", 2), ("ltl", "<> (x == 2)"), ("fair", False), ("bound", None),
    ])  # fmt: skip
    header["claim"][field] = value
    return container([(HEAD, json.dumps(header).encode()), *chunks[1:]])


def rename_a_section(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    places = [n for n, (kind, _) in enumerate(chunks) if kind == SECTION]
    at = random.choice(places)
    details = json.loads(chunks[at][1]) | random.choice([
        {"kind": random.choice([one.kind for one in SAMPLES])},
        {"capacity": random.choice((-1, 0, 1, 2, 65, None, True))}, {"property": random.choice((-1, 0, 1, "0"))},
    ])  # fmt: skip
    return container([*chunks[:at], (SECTION, json.dumps(details).encode()), *chunks[at + 1 :]])


def forge_the_classes(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    """Other processes are said to be alike, or the states stand for none but themselves."""
    places = [n for n, (kind, content) in enumerate(chunks) if kind == SECTION and b"passing" in content]
    if not places:
        return rename_a_section(sample, random, chunks)
    at, numbers = random.choice(places), list(range(len(sample.program.processes)))
    details = json.loads(chunks[at][1])
    details["alike"] = random.choice([
        [], [numbers], [sorted(random.sample(numbers, 2))], [[0, 0, 1]], [[0], [1, 0]], [[1, 2]], [[len(numbers), 0]],
        [numbers[1:]], [numbers[:2], numbers[2:]], [[]],
    ])  # fmt: skip
    return container([*chunks[:at], (SECTION, json.dumps(details).encode()), *chunks[at + 1 :]])


def swap_programs(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    """Header and text of another program, or the text alone."""
    text = load_text(SourceText("other.pml", random.choice([APART, FENCED, FOREVER, TURNS])))
    header = json.loads(chunks[0][1])
    if random.random() < 0.5:
        header["digest"] = digest_of(canonical_text(text))
    return container([(HEAD, json.dumps(header).encode()), (PROGRAM, canonical_text(text).encode()), *chunks[2:]])


def bomb(sample: Sample, random: Random, chunks: Chunks) -> bytes:
    """A chunk that unpacks to more than it says, or than there may be."""
    content = zlib.compress(bytes(1 << 26), 1)
    frame = struct.Struct("<4sIII")
    kind, said = random.choice([ROWS, OBJECT, SECTION, PROGRAM]), random.choice([10, 1 << 25, 1 << 26, (1 << 32) - 1])
    at = random.randrange(len(chunks))
    good = container(chunks[:at])[: -len(container([])) + len(MAGIC) + 1]
    assert good.startswith(MAGIC + bytes([VERSION]))
    return good + frame.pack(kind, len(content), said, 0) + content


MUTATIONS = [
    drop_a_row, change_a_row, add_a_row, change_a_list, flip_a_byte, flip_a_byte_of_a_chunk, cut_off, change_a_list,
    drop_a_chunk, repeat_a_chunk, forge_the_claim, rename_a_section, swap_programs, change_a_list, drop_a_row, bomb,
    forge_the_classes,
]  # fmt: skip


def check_mutants(sample: Sample, folder: Path, count: int) -> int:
    """How many mutations were accepted, each of them a proof."""
    program, chunks = sample.program, made(sample, folder)
    assert judge(container(chunks), program).condition is None
    assert is_proof(program, chunks)
    random, accepted = Random(count), 0
    for number in range(count):
        mutation = MUTATIONS[number % len(MUTATIONS)]
        mutant = mutation(sample, random, chunks)
        found = judge(mutant, program).condition
        with suppress(NotForTheFastChecker):
            assert (judge(mutant, program, fast=True).condition is None) == (found is None)
        if found is None:
            accepted += 1
            assert is_proof(program, chunks_of(mutant)), f"{mutation.__name__} number {number} was accepted"
    return accepted


def name_of(sample: Sample) -> str:
    return f"{sample.kind} {sample.claim.criterion} {sample.claim.model}"


@pytest.mark.parametrize("sample", SAMPLES, ids=name_of)
def test_no_certificate_of_any_kind_is_accepted_wrongly(sample: Sample, folder: Path) -> None:
    assert check_mutants(sample, folder, FEW) < FEW // 2


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES, ids=name_of)
def test_none_of_many_of_any_kind_is_accepted_wrongly(sample: Sample, folder: Path) -> None:
    """4,940 in all."""
    assert check_mutants(sample, folder, MANY) < MANY // 2


@pytest.mark.parametrize("kind", [ROWS, OBJECT])
def test_a_file_that_unpacks_to_gigabytes_takes_little_memory(folder: Path, kind: bytes) -> None:
    """Blocks of rows that repeat, and lists of empty lists, each of them small in the file."""
    sample = next(one for one in SAMPLES if one.kind == "automata")
    lists = b'{"automata": [' + b"[[[]],[]]," * 2_000 + b"[[[]],[]]]}"
    rows = bytes(width_of(sample, [(SECTION, b'{"kind": "automata"}')], 1) * (1 << 9))
    first = [*made(sample, folder)[:3], (SECTION, b'{"kind": "automata"}'), (OBJECT, lists)]
    content = container([*first, *[(kind, lists if kind == OBJECT else rows)] * 40])
    tracemalloc.start()
    with pytest.raises(MemoryError):
        verify(io.BytesIO(content), sample.program, most_bytes=2 << 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30 << 20
