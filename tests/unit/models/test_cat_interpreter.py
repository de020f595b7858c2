"""What models say of executions drawn by hand, and the algebra of relations against sets of pairs."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from memfence.models.cat import relations
from memfence.models.cat.candidate import Candidate
from memfence.models.cat.interpreter import Judgement, judge
from memfence.models.cat.polarity import offences
from memfence.models.cat.reader import library_text, parse
from memfence.source import SourceText

SIZE = 5
PAIRS = st.sets(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)))


def judged(text: str, *, sets: dict[str, set[int]] | None = None, **given: set[tuple[int, int]]) -> Judgement:
    candidate = Candidate(
        SIZE,
        {name: relations.mask_of(events) for name, events in (sets or {}).items()},
        {name: relations.from_pairs(SIZE, pairs) for name, pairs in given.items()},
    )
    return judge(parse(SourceText("test.cat", text)), candidate)


def composed(left: set[tuple[int, int]], right: set[tuple[int, int]]) -> set[tuple[int, int]]:
    return {(a, d) for a, b in left for c, d in right if b == c}


def closed(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    while not (more := composed(pairs, pairs)) <= pairs:
        pairs = pairs | more
    return pairs


@given(PAIRS, PAIRS)
def test_relations_are_what_sets_of_pairs_are(left: set[tuple[int, int]], right: set[tuple[int, int]]) -> None:
    a, b = relations.from_pairs(SIZE, left), relations.from_pairs(SIZE, right)
    everything = set(product(range(SIZE), repeat=2))
    assert set(relations.pairs_of(relations.union(a, b))) == left | right
    assert set(relations.pairs_of(relations.intersection(a, b))) == left & right
    assert set(relations.pairs_of(relations.difference(a, b))) == left - right
    assert set(relations.pairs_of(relations.complement(a))) == everything - left
    assert set(relations.pairs_of(relations.compose(a, b))) == composed(left, right)
    assert set(relations.pairs_of(relations.inverse(a))) == {(y, x) for x, y in left}
    assert set(relations.pairs_of(relations.closure(a))) == closed(left)
    assert set(relations.bits(relations.domain(a))) == {x for x, _ in left}
    assert set(relations.bits(relations.image(a))) == {y for _, y in left}


@given(PAIRS)
def test_a_cycle_that_is_named_is_a_cycle_and_none_is_missed(pairs: set[tuple[int, int]]) -> None:
    cycle = relations.shortest_cycle(relations.from_pairs(SIZE, pairs))
    if cycle is None:
        assert not any(a == b for a, b in closed(pairs))
    else:
        assert all(pair in pairs for pair in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
        assert len(set(cycle)) == len(cycle)


def test_checks_name_what_breaks_them() -> None:
    text = "acyclic po as a irreflexive rf as b empty co as c empty R as d ~empty loc as e"
    found = judged(text, sets={"R": {3}}, po={(0, 1), (1, 2), (2, 0)}, rf={(4, 4)}, co={(1, 3)})
    assert [(f.axiom.name, f.events) for f in found.failed] == [
        ("a", (0, 1, 2)),
        ("b", (4,)),
        ("c", (1, 3)),
        ("d", (3,)),
        ("e", ()),
    ]
    assert not found.is_allowed


def test_a_flag_is_raised_and_forbids_nothing() -> None:
    text = "flag ~empty rf as race flag empty po as idle acyclic po as a"
    found = judged(text, rf={(1, 2)})
    assert found.is_allowed
    assert [(f.axiom.name, f.events) for f in found.flags] == [("race", (1, 2)), ("idle", ())]
    assert not judged(text, po={(0, 1)}).flags


def test_recursion_means_the_least_solution() -> None:
    text = (
        "let rec odd = po | even; po and even = odd; po empty even \\ (po; po)+ as sound empty (po; po)+ \\ even as all"
    )
    assert judged(text, po={(0, 1), (1, 2), (2, 3), (3, 1)}).is_allowed
    assert judged("let rec r = r empty r", po={(0, 1)}).is_allowed


def test_our_models_are_monotone() -> None:
    for name in ("sc.cat", "tso.cat", "pso.cat", "rc11.cat", "armv8.cat"):
        assert offences(parse(library_text(name))) == ()


def test_a_model_that_is_not_monotone_is_told_where() -> None:
    cat = parse(
        SourceText("test.cat", "let weak = R \\ ACQ let ppo = po; [weak] acyclic ppo as global empty po as other")
    )
    (found,) = offences(cat)
    assert (found.axiom.name, found.node.name, found.node.span.text, found.node.span.start) == (
        "global",
        "ACQ",
        "ACQ",
        15,
    )


def test_a_flag_must_get_rarer() -> None:
    assert offences(parse(SourceText("test.cat", "flag ~empty loc \\ (po; [ACQ]) as race"))) == ()
    assert offences(parse(SourceText("test.cat", "flag ~empty loc & (po; [ACQ]) as odd"))) != ()
