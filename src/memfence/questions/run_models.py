"""What a compiled program does under several models: one exploration each."""

from __future__ import annotations

from memfence.questions.run_result import RunResult
from memfence.records import Record
from memfence.tasks.answer import Verdict
from memfence.tasks.shown import Shown


class RunModels(Shown, Record, repr=False):
    """The results, in the order in which the models were named."""

    results: tuple[RunResult, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst."""
        order = (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.HOLDS_UP_TO, Verdict.HOLDS)
        found = {result.verdict for result in self.results}
        return next(verdict for verdict in order if verdict in found)
