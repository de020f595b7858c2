"""The straight line of a run: every access that its processes made, to be made again on the processor.

Where all loads see what they saw in the run, the program itself would have taken the same branches and gone wrong: the
violation has happened. Loads of a spin loop are kept as often as the run has them.
"""

from __future__ import annotations

from memfence.execution.event import Cell
from memfence.execution.graph import ExecutionGraph, Node
from memfence.execution.trace import Trace
from memfence.execution.trace_graph import trace_graph
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Expr, RegisterOf, Shared, conjunction, variable_address
from memfence.program.ir import WIDEST, Fence, Load, Op, Process, Program, SharedVar, Store
from memfence.program.orders import MemoryOrder
from memfence.silicon.c_code import refuse
from memfence.silicon.harness import Experiment
from memfence.source import Span


def experiment_of_run(trace: Trace) -> Experiment:
    """The accesses of the run; wanted is that each load sees the value that it saw there.

    Without any load it is the values in memory at the end that are wanted.
    """
    graph = trace_graph(trace).graph
    lines: dict[int, list[Node]] = {number: [] for number in range(len(trace.program.processes))}
    for node in graph.nodes:
        if isinstance(node.event.thread, int):
            lines[node.event.thread].append(node)
    apart = _bystanders(graph, lines)
    made = [_Line(trace, thread, nodes) for thread, nodes in lines.items() if nodes and thread not in apart]
    processes = tuple(line.process() for line in made)
    variables = tuple(_variable(trace, number) for number in range(len(trace.program.variables)))
    program = Program(trace.program.name, variables, processes, source=trace.program.source)
    wanted: list[tuple[str, Expr, int]] = [
        (name, RegisterOf(p, k), value) for p, line in enumerate(made) for k, (name, value) in enumerate(line.reads)
    ]
    at_the_end = _read_at_the_end(lines, apart) if wanted else _stored_last(graph)
    wanted += [
        (f"{variables[number].name} at the end", Shared(variable_address(number)), value)
        for number, value in sorted(at_the_end.items())
    ]
    conditions = [Binary("==", expr, Const(value)) for _, expr, value in wanted]
    observed = tuple((name, expr) for name, expr, _ in wanted)
    return Experiment(program, observed, conjunction(*conditions))


def _bystanders(graph: ExecutionGraph, lines: dict[int, list[Node]]) -> frozenset[int]:
    """Threads that nobody reads from, and that could as well have read at the end: a main that waits, and then looks.

    They need not run beside the others, and the outcome is easier to meet if they do not.
    """
    found = frozenset(thread for thread in lines if _is_bystander(graph, lines, thread))
    is_enough = sum(bool(nodes) for thread, nodes in lines.items() if thread not in found) >= 2
    return found if is_enough else frozenset()


def _is_bystander(graph: ExecutionGraph, lines: dict[int, list[Node]], thread: int) -> bool:
    own = {node.number for node in lines[thread] if node.event.writes}
    if any(store in own and graph.nodes[read].event.thread != thread for read, store in graph.read_from.items()):
        return False
    last = _last_values(graph)
    written = {graph.nodes[number].event.address for number in own}
    others = {node.event.address for t, nodes in lines.items() if t != thread for node in nodes if node.event.writes}
    reads = [node.event for node in lines[thread] if node.event.reads]
    return written.isdisjoint(others) and all(
        event.address not in written and event.value == last.get(event.address, event.value) for event in reads
    )


def _last_values(graph: ExecutionGraph) -> dict[Cell | None, int | None]:
    """Of every address that was stored to, the value that stays."""
    return {address: graph.nodes[stores[-1]].event.value for address, stores in graph.store_order.items() if stores}


def _stored_last(graph: ExecutionGraph) -> dict[int, int]:
    last = _last_values(graph).items()
    return {address: value for address, value in last if isinstance(address, int) and value is not None}


def _read_at_the_end(lines: dict[int, list[Node]], apart: frozenset[int]) -> dict[int, int]:
    events = [node.event for thread in apart for node in lines[thread] if node.event.reads]
    return {e.address: e.value for e in events if isinstance(e.address, int) and e.value is not None}


def _variable(trace: Trace, number: int) -> SharedVar:
    """With the value that the run starts from, and room for any other."""
    variable = trace.program.variables[number]
    return SharedVar(variable.name, variable.domain, (trace.start.memory[number],))


class _Line:
    """One process: its accesses in order, each with the line of the source it comes from."""

    def __init__(self, trace: Trace, thread: int, nodes: list[Node]) -> None:
        self.name = trace.program.processes[thread].name
        self.nodes = nodes
        self.reads: list[tuple[str, int]] = []
        self.variables = trace.program.variables
        self.builder = ProcessBuilder(self.name, self.name)

    def process(self) -> Process:
        here = self.builder.location()
        start, index = here, 0
        while index < len(self.nodes):
            step = [self.nodes[index]]
            while self._is_same_locked_step(step[0], index + len(step)):
                step.append(self.nodes[index + len(step)])
            there = self.builder.location()
            locked = step[0].event.order is MemoryOrder.SEQ_CST and step[0].event.is_access
            ops = tuple(op for node in step for op in self._ops(node))
            self.builder.emit(here, there, *ops, locked=locked, span=step[0].event.span)
            here, index = there, index + len(step)
        return self.builder.build(start)

    def _is_same_locked_step(self, first: Node, index: int) -> bool:
        if first.event.order is not MemoryOrder.SEQ_CST or not first.event.is_access or index >= len(self.nodes):
            return False
        other = self.nodes[index]
        return other.step == first.step and other.event.is_access

    def _ops(self, node: Node) -> tuple[Op, ...]:
        event = node.event
        if event.kind == "fence":
            strong = event.order is MemoryOrder.SEQ_CST
            return (Fence("mfence"),) if strong else (Fence("sfence"),) if event.order is MemoryOrder.RELEASE else ()
        if not isinstance(event.address, int) or event.value is None:
            raise refuse("a step of two processes at once", _span(node))
        address = variable_address(event.address)
        if event.kind == "load":
            number = len(self.reads)
            self.reads.append(
                (f"{self.name} reads {self.variables[event.address].name} (line {_span(node).line})", event.value)
            )
            self.builder.register(f"seen{number}", WIDEST)
            return (Load(number, address),)
        if event.kind == "store":
            return (Store(address, Const(event.value)),)
        raise refuse("a store that goes past the buffer", _span(node))


def _span(node: Node) -> Span:
    return node.event.span
