"""All executions of unrolled code, one by one, as graphs. What the core finds comes back as decisions, which
`axiomatic.replay` carries out: its events are items of the code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

from memfence import _core
from memfence.axiomatic.code import Choose, Code, End, Given, Read, Write
from memfence.axiomatic.execution import Decisions, Place
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.unrolling.refusal import NotUnrolled, Unfit
from memfence.engines.native.expression_code import ExpressionCodes
from memfence.engines.native.graph_items import Rows
from memfence.engines.native.limits import for_core
from memfence.engines.native.slots import Slots
from memfence.models.catalogue import model_of
from memfence.program.expressions import BufferEmpty, Const, Expr, rewrite
from memfence.records import Record
from memfence.tasks.limits import Limits, Stop

MOST_STARTS = 16
"""Of memory, where variables may start with several values: each is explored by itself."""
FAILS, ENDS, RACES, WAITS, MAY_WAIT = range(5)
_MODELS = ("sc", "tso", "rc11")
"""As the core numbers them; `models.catalogue` says which of them a model is."""
_WAITING = -2
"""In place of the thread that a read reads from: none, since it waits."""

Graph = tuple[list[list[tuple[int, int, int, int]]], list[list[tuple[int, int]]]]
"""Events (item, value, source: thread and number) of each thread; writes (thread and number) to each variable."""


class Asked(Record, kw_only=True):
    """`bad`: conditions on how executions end, `observed`: values then. `waits`: whether it matters that threads wait
    for ever. `races_branch`: plain reads see any write, as the model's text has it; else the search ends at a race.
    `keep`: how many executions are wanted. `most_events`: a limit; 0: none."""

    bad: tuple[Expr, ...] = ()
    observed: tuple[Expr, ...] = ()
    waits: bool = False
    races_branch: bool = False
    keep: int = 0
    most_events: int = 0


class Counts(Record):
    """`executions`: in which every thread ends. `blocked`: in which some thread waits, or that do not count. `cut`: in
    which one reaches the bound of the unrolling. `given_up`: graphs that were begun and led to none."""

    executions: int = 0
    blocked: int = 0
    cut: int = 0
    given_up: int = 0
    events: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, name) + getattr(other, name) for name in self.__match_args__))


class Wrong(Record):
    """An execution that goes wrong: `what`, and which of `bad` is true at its end."""

    what: int
    condition: int
    found: Recorded


class Explored(Record):
    """`outcomes`: the values of what is observed, in executions in which every thread ends."""

    stop: Stop
    counts: Counts
    wrong: tuple[Wrong, ...]
    kept: tuple[Decisions, ...]
    outcomes: frozenset[tuple[int, ...]]

    def of(self, what: int) -> Wrong | None:
        """The first execution that goes wrong in this way."""
        return next((wrong for wrong in self.wrong if wrong.what == what), None)


class GraphCode:
    """Unrolled code in the core's terms, under one model."""

    def __init__(self, code: Code, model: AxiomaticModel) -> None:
        """NotUnrolled where what a thread does is no sequence of single accesses, and for models without graphs."""
        known = model_of(model.name)
        if known is None or not known.graphs:
            raise NotUnrolled(Unfit.NO_GRAPHS)
        self.code = code
        self.model = _MODELS.index(known.graphs)
        self.rows = Rows(code, model, steps_matter=bool(known.states))
        self.registers = [len(t.items[-1].registers) for t in code.threads if isinstance(t.items[-1], End)]

    def explore(self, asked: Asked, limits: Limits) -> Explored:
        """All executions that the model allows; NotUnrolled where a value is too large for the core."""
        counts, wrong, kept, outcomes = Counts(), list[Wrong](), list[Decisions](), set[tuple[int, ...]]()
        stop = Stop.NOTHING_LEFT
        for initial in self._starts():
            found = self._explore(initial, asked, limits)
            if found.is_beyond:
                raise NotUnrolled(Unfit.NO_GRAPHS)
            counts += Counts(found.executions, found.blocked, found.cut, found.given_up, found.events)
            wrong += [Wrong(what, n, Recorded(self, graph, initial)) for what, n, graph in found.wrong]
            kept += [next(Recorded(self, graph, initial).ways()) for graph in found.kept]
            outcomes |= {tuple(values) for values in found.outcomes}
            stop = Stop(found.stop)
            if stop is not Stop.NOTHING_LEFT:
                break
        return Explored(stop, counts, tuple(wrong), tuple(kept), frozenset(outcomes))

    def _starts(self) -> list[tuple[int, ...]]:
        """The values that memory may start with."""
        found = list(islice(product(*(variable.init for variable in self.code.program.variables)), MOST_STARTS + 1))
        if len(found) > MOST_STARTS:
            raise NotUnrolled(Unfit.NO_GRAPHS)
        return found

    def _explore(self, initial: Sequence[int], asked: Asked, limits: Limits) -> _core.GraphsExplored:
        slots = [self.rows.variables + thread.slots for thread in self.code.threads]
        expressions = [list(one) for one in self.rows.codes.codes]
        endings, numbers = self._endings((*asked.bad, *asked.observed))
        return _core.explore_graphs(
            _core.GraphCode(self.rows.threads, slots, list(initial), expressions),
            self.model,
            endings,
            numbers[: len(asked.bad)],
            numbers[len(asked.bad) :],
            self.registers,
            asked.waits,
            asked.races_branch,
            asked.keep,
            asked.most_events,
            **for_core(limits),
        )

    def _endings(self, exprs: Sequence[Expr]) -> tuple[list[list[int]], list[int]]:
        """Expressions about memory and the last registers."""
        variables = self.rows.variables
        first = tuple(variables + sum(self.registers[:thread]) for thread in range(len(self.registers)))
        codes = ExpressionCodes(Slots(variables, None, (), first, 0), self.code.program.source)
        numbers = [codes.number(rewrite(expr, _emptied), 0) for expr in exprs]
        return [list(one) for one in codes.codes], numbers


def _emptied(leaf: Expr) -> Expr:
    """At the end of an execution every store has reached memory."""
    return Const(1) if isinstance(leaf, BufferEmpty) else leaf


class Recorded:
    """An execution as the core has recorded it."""

    def __init__(self, graphs: GraphCode, graph: Graph, initial: tuple[int, ...]) -> None:
        threads, orders = graph
        positions = graphs.rows.positions
        self.code = graphs.code
        self.initial = initial
        self.places = [[(t, positions[t][event[0]]) for event in events] for t, events in enumerate(threads)]
        self.order: dict[int, tuple[Place, ...]] = {}
        for variable in range(len(initial)):
            writes = orders[variable] if variable < len(orders) else []
            self.order[variable] = ((-1, variable), *(self.places[t][n] for t, n in writes))
        self.written = {(-1, variable): value for variable, value in enumerate(initial)}
        self.chosen: dict[Place, int] = {}
        self.values: dict[Place, int] = {}
        self.sources: dict[Place, Place] = {}
        self.waiting: dict[Place, int] = {}
        for t, events in enumerate(threads):
            for place, event in zip(self.places[t], events, strict=True):
                self._enter(place, *event)
            self.chosen |= self._guesses(t)

    def ways(self) -> Iterator[Decisions]:
        """What is decided; where threads wait, for each write that they may have seen, the newest ones first."""
        seen = [self.order[variable][::-1] for variable in self.waiting.values()]
        for writes in product(*seen):
            sources = dict(zip(self.waiting, writes, strict=True))
            values = {place: self.written[write] for place, write in sources.items()}
            yield Decisions(self.initial, self.chosen, self.sources | sources, self.order, self.values | values)

    def _enter(self, place: Place, item: int, value: int, source: int, number: int) -> None:
        match self.code.item_at(place):
            case Choose(_, values):
                self.chosen[place] = values[value]
            case Write():
                self.written[place] = value
            case Read() if source == _WAITING:
                self.waiting[place] = number
            case Read():
                self.values[place] = value
                self.sources[place] = self.places[source][number] if source >= 0 else (-1, number)

    def _guesses(self, thread: int) -> dict[Place, int]:
        """Whether each compare-exchange that happened succeeded."""
        given = (item for item in self.code.threads[thread].items if isinstance(item, Given))
        happened = self.sources.keys() | self.waiting.keys()
        return {(thread, item.guess): int((thread, item.succeeds) in happened) for item in given}
