"""Does the processor stay within the model? Every outcome that was observed must be one that is allowed."""

from __future__ import annotations

from pathlib import Path

from memfence.diagnostics import InputError
from memfence.pipeline import load
from memfence.program.ir import Final, Program
from memfence.questions import check
from memfence.questions.conflicts import refuse_other_processors
from memfence.records import Record
from memfence.silicon.harness import Experiment, render_harness
from memfence.silicon.reproduce import StressOptions, stressed, title
from memfence.tasks.options import CheckOptions

Values = tuple[int, ...]


class Conformance(Record):
    """One test: the outcomes that SC and TSO allow, and those that were observed, with how often.

    `refused`: why it was not run.
    """

    path: Path
    experiment: Experiment | None = None
    sc: frozenset[Values] = frozenset()
    tso: frozenset[Values] = frozenset()
    observed: tuple[tuple[Values, int], ...] = ()
    rounds: int = 0
    refused: str = ""

    @property
    def outside(self) -> tuple[Values, ...]:
        """Observed, and not allowed: a finding of the first rank."""
        return tuple(values for values, _ in self.observed if values not in self.tso)

    @property
    def relaxed(self) -> frozenset[Values]:
        """What only store buffers explain."""
        return self.tso - self.sc

    @property
    def relaxed_seen(self) -> frozenset[Values]:
        return frozenset(values for values, _ in self.observed) & self.relaxed


def conform(path: Path, stress: StressOptions, *, timeout_seconds: float | None = None) -> Conformance:
    """Run one litmus test and compare."""
    try:
        program = load(path)
        refuse_other_processors(program)
        final = next((stated for stated in program.properties if isinstance(stated, Final)), None)
        if final is None:
            return Conformance(path, refused="it lists no values to look at: not a litmus test")
        allowed = [_allowed(program, model, timeout_seconds) for model in ("sc", "tso")]
        if None in allowed:
            return Conformance(path, refused="what is allowed was not found in the time given")
        sc, tso = (found or frozenset() for found in allowed)
        experiment = Experiment(program, final.observed, final.expr)
        text = render_harness(_looking_for_more(experiment, tso - sc), title(program))
        counted = stressed(text, path.stem, stress)
    except InputError as error:
        return Conformance(path, refused=error.diagnostics[0].message)
    observed = tuple((values, count) for values, count, _ in counted.outcomes)
    return Conformance(path, experiment, sc, tso, observed, counted.rounds)


def _allowed(program: Program, model: str, timeout_seconds: float | None) -> frozenset[Values] | None:
    result = check(program, CheckOptions(model=model, timeout_seconds=timeout_seconds))  # type: ignore[arg-type]
    if result.final_states is None or not result.answer.is_conclusive:
        return None
    return frozenset(values for values, _ in result.final_states)


def _looking_for_more(experiment: Experiment, relaxed: frozenset[Values]) -> Experiment:
    """The same test; strategies that see outcomes of store buffers are preferred."""
    from memfence.program.expressions import Binary, Const, conjunction, disjunction

    wanted = [
        conjunction(*(Binary("==", expr, Const(v)) for (_, expr), v in zip(experiment.observed, values, strict=True)))
        for values in sorted(relaxed)[:16]
    ]
    return Experiment(experiment.program, experiment.observed, disjunction(*wanted)) if wanted else experiment
