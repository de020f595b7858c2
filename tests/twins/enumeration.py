"""All executions of unrolled code, one by one, as herd finds them: what each thread may do, who reads whom, which write
comes first. For small programs: the slow twin of the solver.

Reads may return every value that somebody might write there. Values come from values; a chain of them is followed
through each write once, so a value that comes out of itself is found only where another way leads to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product

from memfence.axiomatic.candidates import Local
from memfence.axiomatic.code import Choose, Code, Read, Thread, Write
from memfence.axiomatic.execution import Decisions, Execution, Place
from memfence.axiomatic.library import is_coherent
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.replay import carry_out
from memfence.axiomatic.thread_run import ThreadRun, run_thread
from memfence.digraph import is_acyclic
from memfence.models.cat.interpreter import Judgement, judge
from memfence.models.cat.relations import bits
from memfence.records import Record
from twins.reference_search import Outcome


class Judged(Record):
    """An execution that the model allows, with the flags that it raises."""

    execution: Execution
    judgement: Judgement


def executions(code: Code, model: AxiomaticModel, *, dependencies: bool = True) -> Iterator[Execution]:
    """Every execution that the model allows, once."""
    return (found.execution for found in judged_executions(code, model, dependencies=dependencies))


def outcomes(code: Code, model: AxiomaticModel, *, dependencies: bool = True) -> set[Outcome]:
    """Registers that last, and memory, after every allowed execution in which all threads end and no check fails."""
    found = set()
    for execution in executions(code, model, dependencies=dependencies):
        if execution.ended and not execution.failed:
            found.add((lasting_registers(execution), execution.memory))
    return found


def lasting_registers(execution: Execution) -> tuple[tuple[int, ...], ...]:
    """The last values of all registers that are not transient."""
    processes = zip(execution.code.program.processes, execution.registers, strict=True)
    return tuple(
        tuple(value for register, value in zip(process.registers, values, strict=True) if not register.transient)
        for process, values in processes
    )


def judged_executions(code: Code, model: AxiomaticModel, *, dependencies: bool = True) -> Iterator[Judged]:
    """Every execution that the model allows, once, with what the model says of it."""
    for initial in product(*(variable.init for variable in code.program.variables)):
        runs = local_runs(code, initial)
        for chosen in product(*runs):
            if _is_fed(initial, chosen):
                yield from _of_runs(code, model, initial, chosen, dependencies)


class Option(Record):
    """One thing that a thread may do by itself, and the choices that make it do that."""

    run: ThreadRun
    choices: tuple[tuple[int, int], ...]


def local_runs(code: Code, initial: Sequence[int]) -> list[list[Option]]:
    """What each thread may do, whatever the others do: every read may return every value that could be there."""
    readable = [{value} for value in initial]
    rounds = sum(isinstance(item, Write) for thread in code.threads for item in thread.items)
    for _ in range(rounds + 1):
        found = [list(_options(thread, readable)) for thread in code.threads]
        known = sum(map(len, readable))
        for did in (did for options in found for option in options for did in option.run.did):
            if isinstance(did.item, Write) and did.variable is not None and did.value is not None:
                readable[did.variable].add(did.value)
        if known == sum(map(len, readable)):
            break
    return found


def _options(thread: Thread, readable: Sequence[set[int]]) -> Iterator[Option]:
    """Every different run of the thread: decisions are tried in turn, the last one first."""
    seen: set[ThreadRun] = set()
    script: list[tuple[int, int]] = []
    """Of each decision of the last run: how many possibilities there were, and which was taken."""
    while True:
        tried = _Script(script, readable)
        run = run_thread(thread, tried.look, tried.choose)
        if run not in seen and not run.contradicted:
            seen.add(run)
            yield Option(run, tuple(tried.choices))
        script = tried.taken
        while script and script[-1][1] + 1 == script[-1][0]:
            script.pop()
        if not script:
            return
        count, number = script.pop()
        script.append((count, number + 1))


class _Script:
    """Decides as `script` says, and behind its end takes the first possibility."""

    def __init__(self, script: list[tuple[int, int]], readable: Sequence[set[int]]) -> None:
        self.script = script
        self.readable = readable
        self.taken: list[tuple[int, int]] = []
        self.choices: list[tuple[int, int]] = []

    def decide(self, values: Sequence[int]) -> int:
        at = len(self.taken)
        number = self.script[at][1] if at < len(self.script) else 0
        self.taken.append((len(values), number))
        return values[number]

    def look(self, position: int, item: Read, variable: int) -> int:
        return self.decide(sorted(self.readable[variable]))

    def choose(self, position: int, item: Choose) -> int:
        value = self.decide(item.values)
        self.choices.append((position, value))
        return value


def _is_fed(initial: Sequence[int], chosen: Sequence[Option]) -> bool:
    """Whether somebody writes every value that is read."""
    written = set(enumerate(initial))
    read: set[tuple[int, int]] = set()
    for option in chosen:
        for did in option.run.did:
            if did.variable is not None and did.value is not None:
                (read if isinstance(did.item, Read) else written).add((did.variable, did.value))
    return read <= written


Communication = tuple[tuple[tuple[int, int], ...], tuple[int, ...]]
"""Of one variable: pairs of writes and reads, and the order of writes."""


def _of_runs(
    code: Code, model: AxiomaticModel, initial: tuple[int, ...], chosen: Sequence[Option], dependencies: bool
) -> Iterator[Judged]:
    local = Local(code, [option.run for option in chosen], model, dependencies=dependencies)
    coherent = is_coherent(model)
    parts = [list(_communications(local, x, initial[x], coherent=coherent)) for x in range(len(initial))]
    for communication in product(*parts):
        rf = [pair for pairs, _ in communication for pair in pairs]
        judgement = judge(model.cat, local.with_communication(rf, [order for _, order in communication]))
        if judgement.is_allowed:
            decisions = _decisions(local, initial, chosen, rf, [order for _, order in communication])
            yield Judged(carry_out(code, decisions), judgement)


def _communications(local: Local, variable: int, first: int, *, coherent: bool) -> Iterator[Communication]:
    """Who reads whom at one variable, and in which order writes reach it."""
    writes: list[tuple[int, int | None]] = []
    reads: list[tuple[int, int | None]] = []
    for event, did in enumerate(local.did):
        if did is not None and did.variable == variable:
            (reads if isinstance(did.item, Read) else writes).append((event, did.value))
    sources = [[w for w, value in [(variable, first), *writes] if value == seen] for _, seen in reads]
    for order in permutations([write for write, _ in writes]):
        for found in product(*sources):
            pairs = tuple((write, read) for write, (read, _) in zip(found, reads, strict=True))
            if not coherent or _is_plausible(local, pairs, (variable, *order)):
                yield pairs, (variable, *order)


def _is_plausible(local: Local, pairs: Sequence[tuple[int, int]], order: Sequence[int]) -> bool:
    """Whether a model like ours may allow this at one variable."""
    return _is_atomic(local, pairs, order) and _is_sequential(local, pairs, order)


def _is_atomic(local: Local, pairs: Sequence[tuple[int, int]], order: Sequence[int]) -> bool:
    """Whether no write of another thread comes between the halves of a read-modify-write."""
    for write, read in pairs:
        for own in bits(local.relations["rmw"][read]):
            between = order[order.index(write) + 1 : order.index(own)]
            if any(local.places[other][0] != local.places[own][0] for other in between):
                return False
    return True


def _is_sequential(local: Local, pairs: Sequence[tuple[int, int]], order: Sequence[int]) -> bool:
    """Whether the accesses of one variable fit into one order that everybody sees."""
    edges: dict[int, set[int]] = {}
    events = [*order, *(read for _, read in pairs)]
    for a in events:
        for b in events:
            if local.relations["po"][a] >> b & 1:
                edges.setdefault(a, set()).add(b)
    for n, write in enumerate(order):
        edges.setdefault(write, set()).update(order[n + 1 :])
    for write, read in pairs:
        edges.setdefault(write, set()).add(read)
        edges.setdefault(read, set()).update(order[order.index(write) + 1 :])
    return is_acyclic(local.size, lambda event: edges.get(event, ()))


def _decisions(
    local: Local,
    initial: tuple[int, ...],
    chosen: Sequence[Option],
    rf: Sequence[tuple[int, int]],
    orders: Sequence[Sequence[int]],
) -> Decisions:
    places = local.places
    values: dict[Place, int] = {}
    for _, read in rf:
        did = local.did[read]
        assert did is not None
        assert did.value is not None
        values[places[read]] = did.value
    return Decisions(
        initial,
        {(thread, position): value for thread, option in enumerate(chosen) for position, value in option.choices},
        {places[read]: places[write] for write, read in rf},
        {variable: tuple(places[event] for event in order) for variable, order in enumerate(orders)},
        values,
    )
