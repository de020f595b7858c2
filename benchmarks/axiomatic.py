"""How the search for executions grows with the number of events: a ticket lock, a seqlock and a queue.

    python benchmarks/axiomatic.py [most events] [OUT.svg]

Every answer is asserted: the correct programs never fail, and each fails with one order too weak where that matters.
`solving` is what counts as the time of a question; `making` is the time to write the formula down, both in seconds of
the processor. The plot shows the solving of the proofs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from memfence.axiomatic.code import Code
from memfence.axiomatic.library import models_named
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.unroll import unroll
from memfence.engines.axiomatic.goals import Fails
from memfence.engines.axiomatic.solve import Answer, Executions, Found, Nothing, OutOfTime
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Address, Binary, Const, Expr, Register, variable_address
from memfence.program.ir import Assert, Assume, Domain, Fence, Load, Op, Program, Rmw, SharedVar, Store
from memfence.program.orders import MemoryOrder
from memfence.report.views.plot import Panel, Series, render_plot
from memfence.tasks.limits import Limits

RELAXED, ACQUIRE, RELEASE = MemoryOrder.RELAXED, MemoryOrder.ACQUIRE, MemoryOrder.RELEASE
BYTE = Domain(0, 255)
LIMIT_SECONDS = 600
MODELS = ("sc", "tso", "pso", "rc11", "armv8")
Point = tuple[int, float | None]
KEEPING_STORES = ("sc", "tso")
"""Under which a release store is as good as any."""
DRAWN = ("tso", "rc11", "armv8")


class Body(ProcessBuilder):
    """Statements one after the other."""

    def __init__(self, name: str) -> None:
        super().__init__(name, name)
        self.here = self.location()

    def step(self, *ops: Op) -> None:
        there = self.location()
        self.emit(self.here, there, *ops)
        self.here = there

    def read(self, name: str, address: Address, order: MemoryOrder = RELAXED) -> Register:
        register = Register(self.register(name, BYTE))
        self.step(Load(register.index, address, order=order))
        return register

    def wait(self, name: str, address: Address, order: MemoryOrder, done: Callable[[Expr], Expr]) -> Register:
        """Read until the condition is true."""
        register = Register(self.register(name, BYTE))
        before, there = self.here, self.location()
        self.step(Load(register.index, address, order=order))
        self.emit(self.here, before, Assume(Binary("==", done(register), Const(0))))
        self.emit(self.here, there, Assume(done(register)))
        self.here = there
        return register


def at(variable: int) -> Address:
    return variable_address(variable)


def ticket_lock(threads: int, rounds: int, release: MemoryOrder = RELEASE) -> Program:
    """Each thread increments plain data under the lock and looks whether somebody else did, too."""
    following, serving, data = range(3)
    bodies = []
    for number in range(threads):
        body = Body(f"P{number}")
        for n in range(rounds):
            ticket = Register(body.register(f"ticket{n}", BYTE))
            body.step(Rmw(ticket.index, at(following), "add", Const(1), order=RELAXED))
            body.wait(f"served{n}", at(serving), ACQUIRE, lambda seen, ticket=ticket: Binary("==", seen, ticket))  # type: ignore[misc]
            old = body.read(f"old{n}", at(data))
            body.step(Assert(Binary("==", old, ticket)))
            body.step(Store(at(data), Binary("+", ticket, Const(1)), order=RELAXED))
            body.step(Store(at(serving), Binary("+", ticket, Const(1)), order=release))
        bodies.append(body.build(0))
    names = ("next", "serving", "data")
    return Program("ticket lock", tuple(SharedVar(name, BYTE) for name in names), tuple(bodies))


def seqlock(readers: int, rounds: int, release: MemoryOrder = RELEASE) -> Program:
    """A writer changes two variables; readers that see the same even number twice must have seen both or none."""
    number, a, b = range(3)
    writer = Body("writer")
    for n in range(rounds):
        writer.step(Store(at(number), Const(2 * n + 1), order=RELAXED))
        writer.step(Fence("thread_fence", RELEASE))
        writer.step(Store(at(a), Const(n + 1), order=RELAXED))
        writer.step(Store(at(b), Const(n + 1), order=RELAXED))
        writer.step(Store(at(number), Const(2 * n + 2), order=release))
    bodies = [writer.build(0)]
    for who in range(readers):
        reader = Body(f"reader{who}")
        for n in range(rounds):
            first = reader.read(f"first{n}", at(number), ACQUIRE)
            left, right = reader.read(f"a{n}", at(a)), reader.read(f"b{n}", at(b))
            reader.step(Fence("thread_fence", ACQUIRE))
            second = reader.read(f"second{n}", at(number))
            torn = Binary("&&", Binary("==", first, second), Binary("!=", left, right))
            odd = Binary("&", first, Const(1))
            reader.step(Assert(Binary("||", odd, Binary("==", torn, Const(0)))))
        bodies.append(reader.build(0))
    return Program("seqlock", tuple(SharedVar(name, BYTE) for name in ("seq", "a", "b")), tuple(bodies))


def queue(size: int, rounds: int, release: MemoryOrder = RELEASE) -> Program:
    """One producer, one consumer, a ring of `size` places."""
    head, tail, first = 0, 1, 2
    producer, consumer = Body("producer"), Body("consumer")
    for n in range(rounds):
        place = variable_address(first + n % size)
        if n >= size:
            producer.wait(f"head{n}", at(head), ACQUIRE, lambda seen, n=n: Binary(">", seen, Const(n - size)))  # type: ignore[misc]
        producer.step(Store(place, Const(n + 1), order=RELAXED))
        producer.step(Store(at(tail), Const(n + 1), order=release))
        consumer.wait(f"tail{n}", at(tail), ACQUIRE, lambda seen, n=n: Binary(">", seen, Const(n)))  # type: ignore[misc]
        value = consumer.read(f"value{n}", place)
        consumer.step(Assert(Binary("==", value, Const(n + 1))))
        consumer.step(Store(at(head), Const(n + 1), order=release))
    names = ("head", "tail", *(f"buffer[{n}]" for n in range(size)))
    return Program("queue", tuple(SharedVar(name, BYTE) for name in names), (producer.build(0), consumer.build(0)))


FAMILIES: dict[str, Callable[[int, MemoryOrder], Program]] = {
    "ticket lock": lambda n, order: ticket_lock(3, n, order),
    "seqlock": lambda n, order: seqlock(2, n, order),
    "queue": lambda n, order: queue(4, 2 * n, order),
}


def events_of(code: Code) -> int:
    return sum(1 for thread in code.threads for _ in thread.events)


def ask(code: Code, model: AxiomaticModel) -> tuple[Answer, float, float]:
    """What was found, and the processor seconds of making the formula and of solving it."""
    start = time.process_time()
    executions = Executions(code, limits=Limits(timeout_seconds=LIMIT_SECONDS))
    active = executions.add(model)
    made = time.process_time()
    answer = executions.find(active, Fails())
    return answer, made - start, time.process_time() - made


def shown(answer: Answer, seconds: float) -> str:
    return f"over {LIMIT_SECONDS}" if isinstance(answer, OutOfTime) else f"{seconds:.2f}"


def sizes(make: Callable[[int, MemoryOrder], Program], most: int) -> Iterator[int]:
    """Of the codes with about 30, 60, 90, ... events, how often each goes round."""
    rounds, wanted = 1, 30
    while wanted <= most:
        while events_of(unroll(make(rounds + 1, RELEASE), 1)) <= wanted:
            rounds += 1
        yield rounds
        wanted += 30


def measure(name: str, make: Callable[[int, MemoryOrder], Program], most: int) -> dict[str, list[Point]]:
    """Print every answer with its times; for each model the points of the plot."""
    points: dict[str, list[Point]] = {model: [] for model in MODELS}
    for rounds in sizes(make, most):
        code, weak = (unroll(make(rounds, order), 1) for order in (RELEASE, RELAXED))
        for model in (model for model_name in MODELS for model in models_named(model_name)[:1]):
            proof, making, proving = ask(code, model)
            assert not isinstance(proof, Found), (name, model.name)
            times = f"{making:9.2f} {shown(proof, proving):>9}"
            if model.name not in KEEPING_STORES:
                bug, _, finding = ask(weak, model)
                assert not isinstance(bug, Nothing), (name, model.name)
                times += f" {shown(bug, finding):>15}"
            print(f"{name:12} {model.name:6} {events_of(code):6} {times}", flush=True)
            points[model.name].append((events_of(code), None if isinstance(proof, OutOfTime) else proving))
    return points


def main(most: int, output: Path | None) -> None:
    print(f"{'program':12} {'model':6} {'events':>6} {'making s':>9} {'solving s':>9} {'weak: solving s':>15}")
    panels = []
    for name, make in FAMILIES.items():
        points = measure(name, make, most)
        panels.append(Panel(name, tuple(Series(model, tuple(points[model])) for model in DRAWN)))
    if output is not None:
        title = "Proof that no execution fails: solving time against the number of events"
        output.write_text(render_plot(title, panels, x_label="events", limit_seconds=LIMIT_SECONDS), encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120, Path(sys.argv[2]) if len(sys.argv) > 2 else None)
