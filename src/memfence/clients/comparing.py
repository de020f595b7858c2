"""Do the clients of an object see only what some order of their calls gives?

Each client is a program with an assertion about its outcome, and is checked as every other program: HOLDS and VIOLATED
mean for it what they always mean.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from memfence.clients.generate import clients_of
from memfence.clients.order import Order, Outcome, in_any_order
from memfence.clients.program import client_path, client_program, result_names
from memfence.clients.result import ClientResult, Consistency, ObjectResult
from memfence.clients.serial import SerialRunner
from memfence.clients.specification import Client, Specification
from memfence.deadline import Deadline, TimeUp
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.program.load_options import COptions, LoadOptions
from memfence.questions.models import check_models
from memfence.records import Record
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import ModelAnswer, ModelsResult

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
    begun = time.monotonic()
    clients = clients_of(specification)
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
                found = _client(specification, client, asked)
        except (TimeUp, subprocess.TimeoutExpired):
            tried.append(ClientResult(client, (), "", None, 0.0))
            break
        except KeyboardInterrupt:
            break
        stuck += found is None
        tried += () if found is None else (found,)
        if found is not None and found.verdict is Verdict.VIOLATED and not asked.goes_on:
            break
    seconds = time.monotonic() - begun
    return ObjectResult(specification, asked.models, asked.consistency, len(clients), tuple(tried), stuck, seconds)


def _client(specification: Specification, client: Client, asked: Asked) -> ClientResult | None:
    """What is found of the client; None if no order of its calls comes to an end."""
    begun = time.monotonic()
    orders = serial_orders(specification, client, asked.consistency, asked.compiling, asked.options.limits.deadline)
    if all(order.is_stuck for order in orders):
        return None
    in_time = asked.consistency is Consistency.LINEARIZABLE
    text = client_program(specification, client, [one for one in orders if one.outcome is not None], in_time=in_time)
    program = _loaded(specification, text, asked.compiling, may_be_stuck=any(order.is_stuck for order in orders))
    answers = check_models(program, asked.models, asked.options, unrolled=asked.unrolled)
    return ClientResult(client, orders, text, answers, time.monotonic() - begun)


def _loaded(specification: Specification, text: str, compiling: COptions, *, may_be_stuck: bool) -> Program:
    """The client as a program. Where an order of its calls gets stuck, that all threads wait is no error."""
    compiling = replace(compiling, deadlock=compiling.deadlock and not may_be_stuck)
    source = SourceText(str(client_path(specification)), text)
    return load_text(source, LoadOptions(language="c", c=compiling))


def serial_orders(
    specification: Specification, client: Client, consistency: Consistency, compiling: COptions, deadline: Deadline
) -> tuple[Order, ...]:
    """The orders that the outcomes are compared with."""
    runner = SerialRunner(specification, compiling)
    if consistency is not Consistency.QUIESCENT:
        return runner.orders(client, deadline)
    return runner.orders(in_any_order(client), deadline)


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
    memory, program = (), answer.program
    if answer.shown is not None:
        memory = answer.shown.execution.memory
    elif answer.check is not None and answer.check.trace is not None:
        memory, program = answer.check.trace.end.memory, answer.check.trace.program
    places = {variable.name: number for number, variable in enumerate(program.variables)}
    for name in names:
        if name in places and memory:
            yield memory[places[name]]


def all_answers(result: ObjectResult) -> Iterator[ModelsResult]:
    """The answers about the clients, in their order."""
    return (one.answers for one in result.tried if one.answers is not None)
