"""The self-check of every counterexample: a fair infinite run that really violates what it is shown for.

The core says so, and the reference model has replayed it; here the formula itself is evaluated on the run, straight
from the definition of LTL, and every fairness condition on its loop. What does not pass is a fault of memfence.
"""

from __future__ import annotations

from memfence.execution.trace import UnreplayableWitness
from memfence.models.fairness import Condition, Position, is_met_for_ever, is_true, steps_of_runs
from memfence.models.state import State, Step
from memfence.program.expressions import Expr
from memfence.questions.ltl.automaton import Automaton
from memfence.questions.ltl.evaluate import Lasso as Word
from memfence.questions.ltl.evaluate import accepts, holds
from memfence.questions.ltl.formula import Formula
from memfence.tasks.evidence import Lasso


def check_lasso(
    lasso: Lasso,
    atoms: tuple[Expr, ...],
    conditions: tuple[Condition, ...],
    *,
    formula: Formula | None,
    automaton: Automaton,
) -> None:
    """Check that the run violates `formula`, or is accepted by `automaton` where there is none, and that it is fair."""
    word = word_of(lasso, atoms)
    if formula is not None and holds(formula, word):
        raise UnreplayableWitness("the run satisfies the formula")
    if formula is None and not accepts(automaton, word):
        raise UnreplayableWitness("the run is not accepted by the property process")
    never_met = _never_met(lasso, conditions)
    if never_met:
        raise UnreplayableWitness(f"the run is not fair: {never_met[0]}")


def word_of(lasso: Lasso, atoms: tuple[Expr, ...]) -> Word:
    """The truth of the atoms along the run."""
    letters = tuple(
        sum(is_true(lasso.trace.program, state, atom) << n for n, atom in enumerate(atoms))
        for state, _ in _positions(lasso)
    )
    return Word(letters[: lasso.loop_start], letters[lasso.loop_start :])


def _positions(lasso: Lasso) -> list[tuple[State, Step | None]]:
    """Every state of the run with the step that leaves it; where it ends it stands still for ever."""
    trace = lasso.trace
    positions: list[tuple[State, Step | None]] = [
        (trace.state_before(number), taken.step) for number, taken in enumerate(trace.steps)
    ]
    return positions if lasso.loop_start < len(positions) else [*positions, (trace.end, None)]


def _never_met(lasso: Lasso, conditions: tuple[Condition, ...]) -> list[Condition]:
    """The conditions that the loop does not meet."""
    program, model = lasso.trace.program, lasso.trace.memory_model
    loop = [
        Position(state, step, [other for other, _ in steps_of_runs(program, model, state)])
        for state, step in _positions(lasso)[lasso.loop_start :]
    ]
    return [condition for condition in conditions if not is_met_for_ever(program, condition, loop)]
