"""Every clause of persistence and robustness from one SC exploration: a fence does nothing under SC.

The attacks on the program with fences are the attacks on the program itself that cross none of them, so that whatever
meets all clauses is enough, and nothing needs to be explored again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from memfence.engines.native.attacks import Attack, Decided, explore_attacks
from memfence.execution.trace import Trace
from memfence.program.ir import Program
from memfence.questions.criteria import attack_kind, require_plain_processes
from memfence.questions.safety import limits_of
from memfence.synthesis.clauses import Clause, EditsByPlace
from memfence.synthesis.options import FixOptions
from memfence.synthesis.sites import FenceEdit
from memfence.tasks.options import Criterion


def explore_all_attacks(program: Program, criterion: Criterion, options: FixOptions) -> Decided:
    """One attack for every distinct clause; all of them if the exploration is complete."""
    require_plain_processes(program)
    return explore_attacks(program, attack_kind(criterion, options.model), collect=True, limits=limits_of(options))


def clauses_of(
    decided: Decided, criterion: Criterion, options: FixOptions, edits: Sequence[FenceEdit]
) -> tuple[Clause, ...]:
    """The clauses of all attacks that were found; one without edits is an attack that no fence stops."""
    places = EditsByPlace(edits)
    model: Literal["tso", "pso"] = "pso" if attack_kind(criterion, options.model) == "pso" else "tso"

    def clause(attack: Attack) -> Clause:
        def witness() -> Trace:
            return decided.attack_trace(attack, model)

        found: dict[int, None] = {}
        for transition in attack.walk:
            if transition in attack.crossed:
                found |= dict.fromkeys(places.at("mfence", attack.attacker, transition))
            if transition in attack.separable:
                found |= dict.fromkeys(places.at("sfence", attack.attacker, transition))
        return Clause(tuple(found), witness)

    return _least([clause(attack) for attack in decided.attacks])


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
