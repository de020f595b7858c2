"""The checker that is itself proved: made from `proof/` by Coq, a program of its own that knows invariants only.

It gets what is asked, the canonical text of the program and the blocks of states, and answers with a line of JSON. Its
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
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, NotProved, Refused
from memfence.certificates.format.columns import ROWS_IN_A_BLOCK, Columns
from memfence.certificates.format.container import NotACertificate
from memfence.models.buffering import Buffering
from memfence.models.spec import ModelSpec
from memfence.models.state import Commit, DropSeparator, Failure, Rendezvous, Run, State, Step
from memfence.models.steps import take
from memfence.program.ir import Final
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
}


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
        self._question, self._columns = question, columns
        self._task = task_text(question, capacity, outcomes)

    def check(self, blocks: Iterable[bytes], *, most_bytes: int) -> int:
        """The number of states, if the set is an invariant; Refused, NotACertificate or MemoryError if not."""
        frames = [(b"TASK", self._task.encode()), (b"PROG", canonical_text(self._question.program).encode())]
        answer = ask(frames, self._limited(blocks, most_bytes))
        match answer:
            case ["accepted", int(count)]:
                return count
            case ["malformed", str(reason)]:
                raise NotACertificate(reason)
            case [str(word), [*_] as state, *rest] if word in _CONDITIONS:
                raise self._refused(_CONDITIONS[word], state_of(state), rest)
            case _:
                raise NotProved(f"the proved checker cannot judge this program: {answer}")

    def _limited(self, blocks: Iterable[bytes], most_bytes: int) -> Iterator[bytes]:
        """The blocks, as long as their states fit."""
        bytes_of_a_state, taken = BYTES_OF_A_STATE + 40 * len(self._columns.columns), 0
        for block in blocks:
            if len(block) > ROWS_IN_A_BLOCK * self._columns.width:
                raise NotACertificate("a block has too many states")
            taken += len(block) // self._columns.width * bytes_of_a_state
            if taken > most_bytes:
                raise MemoryError
            yield block

    def _refused(self, condition: Condition, state: State, rest: list[Any]) -> Refused:
        if not rest:
            return Refused(condition, state=state)
        step = step_of(rest[0])
        after = take(self._question.program, self._question.model.definition, state, step)
        detail = after.reason if isinstance(after, Failure) else ""
        return Refused(condition, detail, state=state, step=step, after=after if isinstance(after, State) else None)


def ask(frames: Iterable[tuple[bytes, bytes]], blocks: Iterable[bytes]) -> Any:
    """What the executable answers to the frames and the blocks of states behind them."""
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


def task_text(question: Question, capacity: int, outcomes: Outcomes | None, *, shows_steps: bool = False) -> str:
    """The question as the executable reads it."""
    bad = ABSENT if question.bad is None else expression_text(question.bad)
    finals = "".join(_final(final, outcomes) for final in question.finals if outcomes is not None)
    return (
        f"(model {_BUFFERS[question.model.buffering]} {_limit(question.model)})\n(capacity {capacity})\n(bad {bad})\n"
        f"(deadlock {_flag(question.deadlock)})\n(finals{finals})\n(show {_flag(shows_steps)})\n"
    )


def _limit(model: ModelSpec) -> str:
    if model.bound is None:
        return ABSENT
    return f"({'each' if model.per_variable else 'entries'} {model.bound})"


def _final(final: Final, outcomes: Outcomes) -> str:
    observed = " ".join(expression_text(expr) for _, expr in final.observed)
    values = " ".join(f"({' '.join(map(str, listed))})" for listed in sorted(outcomes.values))
    return f" ({expression_text(final.expr)} {_flag(final.quantifier == 'forall')} ({observed}) ({values}))"


def _flag(value: bool) -> str:
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
    match found:
        case ["run", int(p), int(n)]:
            return Run(p, n)
        case ["meet", int(p), int(n), int(q), int(k)]:
            return Rendezvous(Run(p, n), Run(q, k))
        case ["commit", int(p), int(n)]:
            return Commit(p, n)
        case ["drop", int(p)]:
            return DropSeparator(p)
        case _:
            raise AssertionError(f"the proved checker has shown {found} for a step")
