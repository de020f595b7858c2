"""Every clause of persistence and robustness from SC exploration: a fence does nothing under SC.

The attacks on the program with fences are the attacks on the program itself that cross none of them, so that whatever
meets all clauses is enough, and nothing needs to be explored again.

Few programs need to be explored to the end. The core stops where the text shows that the clauses found so far are all
there are (core/attacks/open_walks.hpp). Where the program is large, attacks of few processes are looked for first
(engines/few_moving.py); and with `--abstract`, instead of every state, those of one abstract program per process.
"""

from __future__ import annotations

from collections.abc import Sequence

from memfence.engines.attacks import attack_kind
from memfence.engines.few_moving import LEAST_MOVING, small_searches
from memfence.engines.native.attacks import Attack, Attacks, AttackSearch, Known
from memfence.execution.trace import Trace
from memfence.models.spec import TSO
from memfence.passes.flattening import can_be_flattened, flatten
from memfence.passes.orders import for_hardware
from memfence.program.ir import Program
from memfence.questions.criteria import in_form
from memfence.records import Record
from memfence.synthesis.clauses import Clause, EditsByPlace
from memfence.synthesis.options import FixOptions
from memfence.synthesis.sites import FenceEdit
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Stop


class CollectedAttacks(Record):
    """What several searches found. The last of them knew what the others had found: `complete` if it saw the rest.

    `beyond`: instead of it, searches of abstract programs, none of which found anything else.
    """

    searches: tuple[Attacks, ...]
    beyond: tuple[Attacks, ...] = ()

    @property
    def last(self) -> Attacks:
        return self.searches[-1]

    @property
    def complete(self) -> bool:
        return bool(self.beyond) or self.last.complete

    @property
    def states(self) -> int:
        return sum(found.cost.states for found in (*self.searches, *self.beyond))


def explore_all_attacks(program: Program, criterion: Criterion, options: FixOptions) -> CollectedAttacks:
    """One attack for every distinct clause; all of them if the exploration is complete."""
    search = AttackSearch(in_form(program), attack_kind(criterion, options.spec), frozenset(options.reduce))
    if len(program.processes) <= LEAST_MOVING:  # a search that is cut short would only be made again
        return CollectedAttacks((search.explore(collect=True, limits=options.limits),))
    found = list(small_searches(search, options.limits, collect=True))
    if found[0].stop is not Stop.STATES:
        return CollectedAttacks((found[0],))
    known = [attack.clause for part in found for attack in part.attacks]
    if options.abstract is not None and criterion is Criterion.PERSISTENT:
        beyond = _flattened(search, options.abstract, known, options)
        if beyond is not None:
            return CollectedAttacks(tuple(found), beyond)
    return CollectedAttacks((*found, search.explore(collect=True, limits=options.limits, known=known)))


def _flattened(search: AttackSearch, steps: int, known: list[Known], options: FixOptions) -> tuple[Attacks, ...] | None:
    """Searches of the abstract program of each process, whose attacks all cross a known clause; None if some do not.

    The abstract program keeps the process as it is: an attack of it there crosses what it crosses in the program.
    """
    program = for_hardware(search.program, TSO)
    if not can_be_flattened(program):
        return None
    done = []
    for process in range(len(program.processes)):
        alone = AttackSearch(flatten(program, process, steps), search.kind, search.reductions)
        mine = [clause for clause in known if clause[0] == process]
        done.append(alone.explore(collect=True, limits=options.limits, known=mine))
        if done[-1].attacks or not done[-1].complete:
            return None
    return tuple(done)


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
