"""Every clause of persistence and robustness from one SC exploration: a fence does nothing under SC.

The attacks on the program with fences are the attacks on the program itself that cross none of them, so that whatever
meets all clauses is enough, and nothing needs to be explored again.
"""

from __future__ import annotations

from collections.abc import Sequence

from memfence.engines.attacks import attack_kind
from memfence.engines.native.attacks import Attack, Attacks, explore_attacks
from memfence.execution.trace import Trace
from memfence.program.ir import Program
from memfence.questions.criteria import in_form
from memfence.synthesis.clauses import Clause, EditsByPlace
from memfence.synthesis.options import FixOptions
from memfence.synthesis.sites import FenceEdit
from memfence.tasks.criterion import Criterion


def explore_all_attacks(program: Program, criterion: Criterion, options: FixOptions) -> Attacks:
    """One attack for every distinct clause; all of them if the exploration is complete."""
    kind = attack_kind(criterion, options.spec)
    return explore_attacks(in_form(program), kind, collect=True, limits=options.limits)


def clauses_of(found: Attacks, edits: Sequence[FenceEdit]) -> tuple[Clause, ...]:
    """The clauses of all attacks that were found; one without edits is an attack that no fence stops."""
    places = EditsByPlace(edits)

    def clause(attack: Attack) -> Clause:
        def witness() -> Trace:
            return found.trace(attack)

        met: dict[int, None] = {}
        for transition in attack.walk:
            if transition in attack.crossed:
                met |= dict.fromkeys(places.at("mfence", attack.attacker, transition))
            if transition in attack.separable:
                met |= dict.fromkeys(places.at("sfence", attack.attacker, transition))
        return Clause(tuple(met), witness)

    return _least([clause(attack) for attack in found.attacks])


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
