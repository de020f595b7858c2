"""Do the clients of an object see only what some order of their calls gives?

Each client is a program with an assertion about its outcome, and is checked as every other program: HOLDS and VIOLATED
mean for it what they always mean.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from memfence.clients.generate import clients_of
from memfence.clients.order import MOST_ORDERS, Order, Outcome, count_orders, in_any_order, may_be_stuck
from memfence.clients.program import client_path, client_program, result_names
from memfence.clients.result import ClientResult, Consistency, ObjectResult
from memfence.clients.serial import SerialRunner
from memfence.clients.specification import Client, Specification
from memfence.deadline import Deadline, TimeUp
from memfence.models.state import State
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.program.load_options import COptions, LoadOptions
from memfence.questions.models import check_models
from memfence.records import Record
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import ModelAnswer

Progress = Callable[[int, int], None]
"""Called before each client with its number and that of all."""


class Asked(Record, kw_only=True):
    """What is asked of the clients. `most`: so many clients at most; `goes_on`: after one that fails, too."""

    models: tuple[str, ...]
    consistency: Consistency
    options: CheckOptions
    compiling: COptions
    most: int
    goes_on: bool = False
    unrolled: int | None = None


def compared(specification: Specification, asked: Asked, progress: Progress | None = None) -> ObjectResult:
    """The clients, smallest first, up to the first one that fails. InputError if a client cannot be compiled."""
    clock = Deadline()
    clients = clients_of(specification)
    with TemporaryDirectory(prefix="memfence-") as folder:
        runner = SerialRunner(specification, asked.compiling, Path(folder))
        tried, stuck = _tried(runner, clients, asked, progress)
    return ObjectResult(
        specification, asked.models, asked.consistency, len(clients), tuple(tried), stuck, clock.elapsed
    )


def _tried(
    runner: SerialRunner, clients: Sequence[Client], asked: Asked, progress: Progress | None
) -> tuple[list[ClientResult], int]:
    """What is found of the clients that there is time for, and how many of them get stuck whatever comes first."""
    deadline = asked.options.limits.deadline
    tried: list[ClientResult] = []
    stuck = 0
    for number, client in enumerate(clients):
        if len(tried) >= asked.most or deadline.passed:
            break
        if progress is not None:
            progress(number + 1, len(clients))
        try:
            with deadline.enforced(grace=0):
                found = _client(runner, client, asked)
        except (TimeUp, subprocess.TimeoutExpired):
            tried.append(ClientResult(client, (), "", None, 0.0))
            break
        except KeyboardInterrupt:
            break
        stuck += found is None
        tried += () if found is None else (found,)
        if found is not None and found.verdict is Verdict.VIOLATED and not asked.goes_on:
            break
    return tried, stuck


def _client(runner: SerialRunner, client: Client, asked: Asked) -> ClientResult | None:
    """What is found of the client; None if no order of its calls comes to an end."""
    clock, specification = Deadline(), runner.specification
    if count_orders(specification, _as_called(client, asked.consistency)) > MOST_ORDERS:
        return ClientResult(client, (), "", None, 0.0, is_too_large=True)
    orders = serial_orders(runner, client, asked.consistency, asked.options.limits.deadline)
    if all(order.is_stuck for order in orders):
        return None
    in_time = asked.consistency is Consistency.LINEARIZABLE
    text = client_program(specification, client, [one for one in orders if one.outcome is not None], in_time=in_time)
    stuck = may_be_stuck(_as_called(client, asked.consistency), orders)
    program = _loaded(specification, text, asked.compiling, may_be_stuck=stuck)
    answers = check_models(program, asked.models, asked.options, unrolled=asked.unrolled)
    return ClientResult(client, orders, text, answers, clock.elapsed, may_be_stuck=stuck)


def _loaded(specification: Specification, text: str, compiling: COptions, *, may_be_stuck: bool) -> Program:
    """The client as a program. Where an order of its calls gets stuck, that all threads wait is no error."""
    compiling = replace(compiling, deadlock=compiling.deadlock and not may_be_stuck)
    source = SourceText(str(client_path(specification)), text)
    return load_text(source, LoadOptions(language="c", c=compiling))


def serial_orders(
    runner: SerialRunner, client: Client, consistency: Consistency, deadline: Deadline
) -> tuple[Order, ...]:
    """The orders that the outcomes are compared with."""
    return runner.orders(_as_called(client, consistency), deadline)


def _as_called(client: Client, consistency: Consistency) -> Client:
    """The client whose threads the order has to respect."""
    return in_any_order(client) if consistency is Consistency.QUIESCENT else client


def outcome_of(specification: Specification, result: ClientResult) -> Outcome | None:
    """The outcome that no order gives; None where the client fails in another way: a race, a deadlock, ..."""
    failing = result.failing
    if failing is None:
        return None
    names = result_names(specification, result.client)
    outcome = tuple(_values(failing, names))
    return outcome if len(outcome) == len(names) and outcome not in result.outcomes else None


def _values(answer: ModelAnswer, names: tuple[str, ...]) -> Iterator[int]:
    """What is in memory at the end of the run or execution that the answer shows."""
    memory: tuple[int, ...] = ()
    program = answer.program
    if answer.shown is not None:
        memory = answer.shown.execution.memory
    elif answer.check is not None and answer.check.trace is not None:
        memory, program = _as_written(answer.check.trace.end), answer.check.trace.program
    places = {variable.name: number for number, variable in enumerate(program.variables)}
    for name in names:
        if name in places and memory:
            yield memory[places[name]]


def _as_written(state: State) -> tuple[int, ...]:
    """Memory with all that is still in buffers: each result is written by one thread."""
    memory = list(state.memory)
    for buffer in (buffer for buffers in state.buffers for buffer in buffers):
        for entry in buffer:
            if entry is not None:
                memory[entry[0]] = entry[1]
    return tuple(memory)
