"""Plain accesses that race: against a search of every SC state by the reference semantics, and on known programs."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest

from memfence import pipeline
from memfence.models.accesses import Access, accesses
from memfence.models.spec import SC
from memfence.models.state import ProcessStep, State
from memfence.models.steps import starts, successors
from memfence.program.ir import Load, Program, Store, Transition
from memfence.program.orders import MemoryOrder
from memfence.questions import plain_races as module
from memfence.questions.plain_races import plain_races
from memfence.report.words.coverage import race_warnings, warning_text
from memfence.source import SourceText
from memfence.tasks.limits import Limits
from support.c_compiler import needs_clang

pytestmark = needs_clang

Place = tuple[int, int]


def program(shared: str, first: str, second: str) -> Program:
    text = f"""#include <pthread.h>
#include <stdatomic.h>
{shared}
static void *one(void *u) {{
{first}
return 0; }}
static void *two(void *u) {{
{second}
return 0; }}
int main(void) {{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0); pthread_create(&b, 0, two, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    return 0;
}}
"""
    return pipeline.load_text(SourceText("racing.c", text))


def racing_places(found: Program) -> set[Place]:
    races = plain_races(found, Limits())
    assert races.complete
    sides = [side for race in races.races for side in (race.first, race.second) if side.is_plain]
    return {(side.span.line, side.span.column) for side in sides}


def racing_places_naive(found: Program) -> set[Place]:
    """Every plain access that is possible in a reachable SC state beside a conflicting one of another thread."""
    model = SC.definition
    waiting, seen = list(starts(found, model)), set(starts(found, model))
    places: set[Place] = set()
    while waiting:
        state = waiting.pop()
        steps = list(successors(found, model, state))
        places |= _racing_in(found, state, [step for step, _ in steps if isinstance(step, ProcessStep)])
        for _, after in steps:
            if isinstance(after, State) and after not in seen:
                seen.add(after)
                waiting.append(after)
    return places


def _racing_in(found: Program, state: State, steps: list[ProcessStep]) -> set[Place]:
    places: set[Place] = set()
    about = [(step, access) for step in steps for access in accesses(found, SC.definition, state, step)]
    for (one, mine), (other, theirs) in permutations(about, 2):
        transition = found.processes[one.process].transitions[one.transition]
        if one.process != other.process and _conflict(mine, theirs) and _is_plain(transition):
            places.add((transition.span.line, transition.span.column))
    return places


def _conflict(mine: Access, theirs: Access) -> bool:
    return mine.variable == theirs.variable and "store" in (mine.kind, theirs.kind)


def _is_plain(transition: Transition) -> bool:
    plain = [op.order is MemoryOrder.PLAIN for op in transition.ops if isinstance(op, Load | Store)]
    return not transition.locked and bool(plain) and all(plain)


STATEMENTS = (
    "x = 1;", "y = x;", "y = 2;", "if (x) y = 3;", "v = 1;", "while (!v) ;", "if (v) x = 4;", "a[v & 1] = 1;",
    "y = a[1];", "y++;", "atomic_fetch_add(&flag, 1);", "atomic_store(&flag, 1);", "if (atomic_load(&flag)) y = 6;",
    "pthread_mutex_lock(&m); x = 5; pthread_mutex_unlock(&m);",
)  # fmt: skip
SHARED = "int x, y, a[2]; volatile int v; atomic_int flag; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;"


@pytest.mark.parametrize("seed", range(12))
def test_the_same_places_race_as_in_a_search_of_every_state(seed: int) -> None:
    random = Random(seed)
    bodies = ["\n".join(random.choice(STATEMENTS) for _ in range(3)) for _ in range(2)]
    found = program(SHARED, *bodies)
    assert racing_places(found) == racing_places_naive(found)


def test_the_generator_makes_programs_with_races_and_without() -> None:
    counts = []
    for seed in range(12):
        random = Random(seed)
        bodies = ["\n".join(random.choice(STATEMENTS) for _ in range(3)) for _ in range(2)]
        counts.append(len(racing_places_naive(program(SHARED, *bodies))))
    assert 0 in counts
    assert sum(count > 0 for count in counts) >= 4


def test_a_warning_names_the_variable_and_both_places() -> None:
    found = program("int x;", "x = 1;", "int r = x; (void)r;")
    (warning,) = race_warnings(found, plain_races(found, Limits()))
    assert warning.code.id == "MF206"
    assert {label.span.line for label in (warning.at, *warning.related)} == {5, 8}
    assert "`x`" in warning.message
    assert "racing.c:5" in warning_text(warning)
    assert "racing.c:8" in warning_text(warning)


@pytest.mark.parametrize(
    "shared",
    ["volatile int x;", "atomic_int x;", "_Atomic int x;"],
)
def test_atomic_and_volatile_accesses_do_not_count_as_plain(shared: str) -> None:
    found = program(shared, "x = 1;", "int r = x; (void)r;")
    assert plain_races(found, Limits()).races == ()


def test_a_lock_keeps_accesses_apart() -> None:
    body = "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);"
    found = program("int x; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;", body, body)
    assert plain_races(found, Limits()).races == ()


def test_a_search_that_does_not_end_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_STATES", 2)
    found = program("int x, y; atomic_int a;", "for (;;) { a = 1; a = 2; x = 1; }", "for (;;) { a = 3; y = 1; a = x; }")
    races = plain_races(found, Limits())
    assert not races.complete
    assert [warning.code.id for warning in race_warnings(found, races)][-1] == "MF207"
