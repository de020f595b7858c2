"""Every clause of persistence and robustness from SC exploration: a fence does nothing under SC.

The attacks on the program with fences are the attacks on the program itself that cross none of them, so that whatever
meets all clauses is enough, and nothing needs to be explored again.

Few programs need to be explored to the end. The core stops where the text shows that the clauses found so far are all
there are (core/attacks/open_walks.hpp). Where the program is large, attacks of few processes are looked for first, the
others staying where they begin: such a run is a run of the program, and there are few of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from memfence.engines.attacks import attack_kind
from memfence.engines.native.attacks import Attack, Attacks, AttackSearch
from memfence.execution.trace import Trace
from memfence.program.ir import Program
from memfence.questions.criteria import in_form
from memfence.records import Record
from memfence.synthesis.clauses import Clause, EditsByPlace
from memfence.synthesis.options import FixOptions
from memfence.synthesis.sites import FenceEdit
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Stop

LARGE = 20_000
"""SC states beyond which attacks of few processes are looked for, and as many for each group of processes."""
LEAST_MOVING, MOST_MOVING = 2, 3
MOST_GROUPS = 500
"""Groups of processes that are tried."""


class CollectedAttacks(Record):
    """What several searches found. The last of them knew what the others had found: `complete` if it saw the rest."""

    searches: tuple[Attacks, ...]

    @property
    def last(self) -> Attacks:
        return self.searches[-1]

    @property
    def complete(self) -> bool:
        return self.last.complete

    @property
    def states(self) -> int:
        return sum(found.cost.states for found in self.searches)


def explore_all_attacks(program: Program, criterion: Criterion, options: FixOptions) -> CollectedAttacks:
    """One attack for every distinct clause; all of them if the exploration is complete."""
    search = AttackSearch(in_form(program), attack_kind(criterion, options.spec), frozenset(options.reduce))
    if (
        len(program.processes) <= LEAST_MOVING
    ):  # there are no smaller groups, and a search cut short would be made again
        return CollectedAttacks((search.explore(collect=True, limits=options.limits),))
    first = search.explore(collect=True, limits=options.limits.within(most_states=LARGE, threads=1))
    if first.stop is not Stop.STATES:
        return CollectedAttacks((first,))
    found = [first, *_with_few_moving(search, first, options)]
    known = [attack.clause for part in found for attack in part.attacks]
    return CollectedAttacks((*found, search.explore(collect=True, limits=options.limits, known=known)))


def _with_few_moving(search: AttackSearch, first: Attacks, options: FixOptions) -> Iterator[Attacks]:
    """Attacks of processes that may have more than were found, by small groups of processes."""
    limits = options.limits.within(most_states=LARGE, threads=1)
    known = [attack.clause for attack in first.attacks]
    left = set(first.open)
    for group in _groups(len(search.program.processes), first.alike):
        if not left or limits.deadline.passed:
            return
        if left.isdisjoint(group):
            continue
        found = search.explore(collect=True, limits=limits, known=known, moving=group)
        left = (left - set(group)) | found.open
        known += [attack.clause for attack in found.attacks]
        if found.attacks:
            yield found


def _groups(processes: int, alike: tuple[tuple[int, ...], ...]) -> Iterator[tuple[int, ...]]:
    """Small groups of processes; of those that exchanging processes makes equal, the first."""
    tried = 0
    for size in range(LEAST_MOVING, min(MOST_MOVING, processes - 1) + 1):
        for group in combinations(range(processes), size):
            if any([p for p in members if p in group] != _first_of(members, group) for members in alike):
                continue
            if tried == MOST_GROUPS:
                return
            tried += 1
            yield group


def _first_of(members: tuple[int, ...], group: tuple[int, ...]) -> list[int]:
    return list(members[: sum(p in group for p in members)])


def clauses_of(found: CollectedAttacks, edits: Sequence[FenceEdit]) -> tuple[Clause, ...]:
    """The clauses of all attacks that were found; one without edits is an attack that no fence stops."""
    places = EditsByPlace(edits)
    return _least([_clause(part, attack, places) for part in found.searches for attack in part.attacks])


def _clause(found: Attacks, attack: Attack, places: EditsByPlace) -> Clause:
    def witness() -> Trace:
        return found.trace(attack)

    met: dict[int, None] = {}
    for transition in attack.walk:
        if transition in attack.crossed:
            met |= dict.fromkeys(places.at("mfence", attack.attacker, transition))
        if transition in attack.separable:
            met |= dict.fromkeys(places.at("sfence", attack.attacker, transition))
    return Clause(tuple(met), witness)


def _least(clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """Those that include no other one, shortest first: the others say nothing more."""
    kept: list[Clause] = []
    known: list[frozenset[int]] = []
    for clause in sorted(clauses, key=lambda c: (len(c.edits), sorted(c.edits))):
        edits = frozenset(clause.edits)
        if not any(other <= edits for other in known):
            kept.append(clause)
            known.append(edits)
    return tuple(kept)
