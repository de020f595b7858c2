"""The checker that is itself proved: made from `proof/` by Coq, a program of its own that knows invariants and ranks.

It gets what is asked, the canonical text of the program and the blocks of rows, and answers with a line of JSON. Its
acceptance is a theorem about the definitions in `proof/theories`; this file hands it the question.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from typing import IO, Any

from memfence.certificates.checker.finals import Outcomes
from memfence.certificates.checker.invariant import BYTES_OF_A_STATE
from memfence.certificates.checker.proved_formula import tableau_text
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.ranks import Product
from memfence.certificates.checker.refusal import Condition, NotProved, Refused
from memfence.certificates.checker.tableau import Move
from memfence.certificates.format.columns import ROWS_IN_A_BLOCK, Columns
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.ranks import NUMBER
from memfence.certificates.format.runs import step_from_list
from memfence.models.buffering import Buffering
from memfence.models.fairness import ProcessRuns
from memfence.models.spec import ModelSpec
from memfence.models.state import Failure, State, Step
from memfence.models.steps import take
from memfence.program.ir import Final, Program
from memfence.program.text.canonical import ABSENT, canonical_text, expression_text

EXECUTABLE = "memfence-checker"
VARIABLE = "MEMFENCE_CHECKER"
"""The environment variable that says where the executable is; else it is looked for on PATH."""
_BUFFERS = {Buffering.NOWHERE: "nowhere", Buffering.PER_PROCESS: "process", Buffering.PER_VARIABLE: "variable"}
_CONDITIONS = {
    "order": Condition.ORDER,
    "initial": Condition.INITIAL,
    "closed": Condition.CLOSED,
    "failure": Condition.FAILURE,
    "bad": Condition.BAD,
    "final": Condition.FINAL,
    "deadlock": Condition.DEADLOCK,
    "grows": Condition.RANK,
    "stays": Condition.RANK,
}
_DETAILS = {"grows": "it grows", "stays": "it stays"}


def proved_checker() -> str:
    """Where the executable is; NotProved if it is nowhere."""
    found = os.environ.get(VARIABLE) or shutil.which(EXECUTABLE)
    if found is None:
        raise NotProved(f"there is no `{EXECUTABLE}` on PATH; `make proof` in memfence's sources makes it")
    return found


class ProvedInvariant:
    """A set of states that is handed over."""

    def __init__(self, question: Question, columns: Columns, capacity: int, outcomes: Outcomes | None) -> None:
        if len(question.finals) > 1:
            raise NotProved("the proved checker knows one statement about final states at most")
        self._program, self._model, self._columns = question.program, question.model, columns
        self._task = task_text(question.model, capacity, _invariant_text(question, outcomes))

    def check(self, blocks: Iterable[bytes], *, most_bytes: int) -> int:
        """The number of states, if the set is an invariant; Refused, NotACertificate or MemoryError if not."""
        limited = _limited(blocks, self._columns, self._columns.width, most_bytes)
        return _judged(self._program, self._model, ask(self._task, self._program, limited))


class ProvedRanks:
    """Ranked pairs that are handed over, with the automaton that the property became. See `ranks`."""

    def __init__(self, product: Product, model: ModelSpec, columns: Columns, capacity: int, marks: list[int]) -> None:
        if product.program.error_locations is not None:
            raise NotProved("the proved checker knows no runs that go on after an error")
        self._program, self._model, self._columns = product.program, model, columns
        self._task = task_text(model, capacity, _ranks_text(product, marks))

    def check(self, blocks: Iterable[bytes], *, most_bytes: int) -> int:
        """The number of pairs, if their ranks lead down; Refused, NotACertificate or MemoryError if not."""
        limited = _limited(blocks, self._columns, self._columns.width + 2 * NUMBER, most_bytes)
        return _judged(self._program, self._model, ask(self._task, self._program, limited))


def _limited(blocks: Iterable[bytes], columns: Columns, width: int, most_bytes: int) -> Iterator[bytes]:
    """The blocks, as long as their states fit."""
    bytes_of_a_state, taken = BYTES_OF_A_STATE + 40 * len(columns.columns), 0
    for block in blocks:
        if len(block) > ROWS_IN_A_BLOCK * width:
            raise NotACertificate("a block has too many states")
        taken += len(block) // width * bytes_of_a_state
        if taken > most_bytes:
            raise MemoryError
        yield block


def _judged(program: Program, model: ModelSpec, answer: Any) -> int:
    """The count, where the answer is that all is well."""
    match answer:
        case ["accepted", int(count)]:
            return count
        case ["malformed", str(reason)]:
            raise NotACertificate(reason)
        case [str(word), [*_] as state] if word in _CONDITIONS:
            raise Refused(_CONDITIONS[word], state=state_of(state))
        case [str(word), [*_] as state, None, *_] if word in _CONDITIONS:
            raise Refused(_CONDITIONS[word], _DETAILS.get(word, ""), state=state_of(state))
        case [str(word), [*_] as state, step, *_] if word in _CONDITIONS:
            raise _refused(program, model, word, state_of(state), step_of(step))
        case _:
            raise NotProved(f"the proved checker cannot check this program: {answer}")


def _refused(program: Program, model: ModelSpec, word: str, state: State, step: Step) -> Refused:
    after = take(program, model.definition, state, step)
    detail = after.reason if isinstance(after, Failure) else _DETAILS.get(word, "")
    shown = after if isinstance(after, State) else None
    return Refused(_CONDITIONS[word], detail, state=state, step=step, after=shown)


def _ranks_text(product: Product, marks: list[int]) -> str:
    refuting = product.refuting
    fair = any(isinstance(condition, ProcessRuns) for condition in product.fairness)
    nodes = " ".join(numbers_text(map(_move_text, moves)) for moves in refuting.moves)
    atoms = numbers_text(map(expression_text, refuting.atoms))
    existing = numbers_text(mark if 0 <= mark < product.marks else -1 for mark in marks)
    labels = tableau_text(refuting.labels)
    return f"(ranks {refuting.initial} {refuting.marks} {atoms} ({nodes}) {flag(fair)} {existing} {labels})"


def _move_text(move: Move) -> str:
    sets = (numbers_text(sorted(numbers)) for numbers in (move.positive, move.negative, move.marks))
    return f"({move.target} {' '.join(sets)})"


def numbers_text(parts: Iterable[int | str]) -> str:
    return f"({' '.join(map(str, parts))})"


def ask(task: bytes, program: Program, blocks: Iterable[bytes]) -> Any:
    """What the executable answers to the task, the program and the blocks of rows."""
    frames = [(b"TASK", task), (b"PROG", canonical_text(program).encode())]
    try:
        running = subprocess.Popen([proved_checker()], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError as problem:
        raise NotProved(f"the proved checker does not start: {problem.strerror}") from None
    assert running.stdin is not None and running.stdout is not None
    try:
        hand_over(running.stdin, frames, blocks)
        line = running.stdout.readline()
    finally:
        running.kill()
        running.stdout.close()
        running.wait()
    try:
        return json.loads(line)
    except ValueError:
        raise NotProved("the proved checker ended without an answer") from None


def hand_over(to: IO[bytes], frames: Iterable[tuple[bytes, bytes]], blocks: Iterable[bytes]) -> None:
    """Write all frames; a reader that has heard enough may go away."""
    try:
        with to:
            for kind, content in frames:
                to.write(frame(kind, content))
            for block in blocks:
                to.write(frame(b"ROWS", block))
            to.write(frame(b"DONE", b""))
    except BrokenPipeError:
        pass


def frame(kind: bytes, content: bytes) -> bytes:
    return kind + len(content).to_bytes(4) + content


def task_text(model: ModelSpec, capacity: int, asked: str) -> bytes:
    """What is asked, as the executable reads it: `(steps)`, `(invariant ...)` or `(ranks ...)`."""
    return f"(model {_BUFFERS[model.buffering]} {_limit(model)})\n(capacity {capacity})\n{asked}\n".encode()


def _invariant_text(question: Question, outcomes: Outcomes | None) -> str:
    bad = ABSENT if question.bad is None else expression_text(question.bad)
    finals = " ".join(_final(final, outcomes) for final in question.finals if outcomes is not None)
    return f"(invariant {bad} {flag(question.deadlock)} ({finals}))"


def _limit(model: ModelSpec) -> str:
    if model.bound is None:
        return ABSENT
    return f"({'each' if model.per_variable else 'entries'} {model.bound})"


def _final(final: Final, outcomes: Outcomes) -> str:
    observed = " ".join(expression_text(expr) for _, expr in final.observed)
    values = " ".join(f"({' '.join(map(str, listed))})" for listed in sorted(outcomes.values))
    return f"({expression_text(final.expr)} {flag(final.quantifier == 'forall')} ({observed}) ({values}))"


def flag(value: bool) -> str:
    return "yes" if value else "no"


def state_of(found: Any) -> State:
    """The state that the executable has shown."""
    locations, registers, memory, buffers, owner = found
    pending = tuple(
        tuple(tuple(None if entry is None else (entry[0], entry[1]) for entry in queue) for queue in own)
        for own in buffers
    )
    return State(tuple(locations), tuple(map(tuple, registers)), tuple(memory), pending, owner)


def step_of(found: Any) -> Step:
    """The step that the executable has shown."""
    try:
        return step_from_list(found)
    except NotACertificate:
        raise AssertionError(f"the proved checker has shown {found} for a step") from None
