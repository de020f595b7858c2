"""From executions to what cat texts are about: sets of events and relations between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memfence.axiomatic.code import Barrier, Code, Read, Write
from memfence.axiomatic.execution import Decisions, Execution, Place
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.replay import runs_of
from memfence.axiomatic.thread_run import Did, ThreadRun
from memfence.models.cat.candidate import Candidate
from memfence.models.cat.relations import Rows, complement, from_pairs, identity, mask_of, nothing, union

Pairs = Iterator[tuple[int, int]]


def candidate(execution: Execution, model: AxiomaticModel, *, dependencies: bool = True) -> Candidate:
    """The execution as the model's text sees it; events are numbered as in `execution.events`.

    Without `dependencies`, `addr`, `data` and `ctrl` are empty: a compiler may have removed them.
    """
    local = Local(execution.code, runs_of(execution.code, execution.decisions), model, dependencies=dependencies)
    return local.candidate(execution.decisions)


class Local:
    """What the threads do by themselves, and all of a candidate that depends on nothing else."""

    def __init__(
        self, code: Code, runs: Sequence[ThreadRun], model: AxiomaticModel, *, dependencies: bool = True
    ) -> None:
        self.variables = len(code.program.variables)
        self.places: list[Place] = [(-1, variable) for variable in range(self.variables)]
        self.did: list[Did | None] = [None] * self.variables
        self.by_thread: list[list[int]] = []
        for number, run in enumerate(runs):
            first = len(self.places)
            self.places += [(number, did.position) for did in run.did]
            self.did += run.did
            self.by_thread.append(list(range(first, len(self.places))))
        self.size = len(self.places)
        self.number = {place: event for event, place in enumerate(self.places)}
        self.sets = self._sets(code, model)
        self.relations = self._relations(model)
        if dependencies:
            self.relations |= self._dependencies(model)

    def candidate(self, decisions: Decisions) -> Candidate:
        """With who reads from whom, and the order of writes."""
        number = self.number
        rf = ((number[write], number[read]) for read, write in decisions.read_from.items())
        orders = [[number[place] for place in order] for order in decisions.order.values()]
        return self.with_communication(rf, orders)

    def with_communication(self, rf: Iterable[tuple[int, int]], orders: Iterable[Sequence[int]]) -> Candidate:
        """The same, by the numbers of events."""
        co = ((first, later) for order in orders for n, first in enumerate(order) for later in order[n + 1 :])
        communication = {"rf": from_pairs(self.size, rf), "co": from_pairs(self.size, co)}
        return Candidate(self.size, self.sets, self.relations | communication)

    def _sets(self, code: Code, model: AxiomaticModel) -> dict[str, int]:
        initial = range(self.variables)
        found: dict[str, list[int]] = {"IW": list(initial), "W": list(initial), "R": [], "F": []}
        for event, did in enumerate(self.did):
            if did is not None:
                tags = model.tags(code.threads[self.places[event][0]], did.item)
                kind = {Read: "R", Write: "W", Barrier: "F"}[type(did.item)]
                for name in (kind, *tags):
                    found.setdefault(name, []).append(event)
        found["M"] = found["R"] + found["W"]
        return {name: mask_of(events) for name, events in found.items()}

    def _relations(self, model: AxiomaticModel) -> dict[str, Rows]:
        size = self.size
        same = identity(size)
        internal = union(same, from_pairs(size, ((a, b) for events in self.by_thread for a in events for b in events)))
        pairs = list(self._pairs())
        rmw = from_pairs(size, ((read, write) for read, write, _ in pairs))
        amo = from_pairs(size, ((r, w) for r, w, exclusive in pairs if not (exclusive or model.rmw_by_pair)))
        lxsx = from_pairs(size, ((r, w) for r, w, exclusive in pairs if exclusive or model.rmw_by_pair))
        return {
            "po": from_pairs(size, self._in_program_order()),
            "loc": from_pairs(size, self._at_same_variable()),
            "int": internal,
            "ext": complement(internal),
            "rmw": rmw,
            "amo": amo,
            "lxsx": lxsx,
            "together": union(same, from_pairs(size, self._in_one_step(locked=False))),
            "step": union(same, from_pairs(size, self._in_one_step(locked=True))),
            "addr": nothing(size),
            "data": nothing(size),
            "ctrl": nothing(size),
        }

    def _in_program_order(self) -> Pairs:
        return ((a, b) for events in self.by_thread for n, a in enumerate(events) for b in events[n + 1 :])

    def _at_same_variable(self) -> Pairs:
        at = [event if did is None else did.variable for event, did in enumerate(self.did)]
        return ((a, b) for a, x in enumerate(at) for b, y in enumerate(at) if x is not None and x == y)

    def _in_one_step(self, *, locked: bool) -> Pairs:
        marked = self.sets.get("LOCKED", 0)
        for events in self.by_thread:
            for a in events:
                for b in events:
                    if self._step(a) == self._step(b) >= 0 and (not locked or marked >> a & marked >> b & 1):
                        yield a, b

    def _step(self, event: int) -> int:
        did = self.did[event]
        return -1 if did is None else did.item.step

    def _pairs(self) -> Iterator[tuple[int, int, bool]]:
        """Read-modify-writes: the read, the write, and whether that is a store-exclusive."""
        for event, did in enumerate(self.did):
            if did is not None and isinstance(did.item, Write) and did.item.reads_by is not None:
                thread, _ = self.places[event]
                yield self.number[thread, did.item.reads_by], event, did.item.exclusive

    def _dependencies(self, model: AxiomaticModel) -> dict[str, Rows]:
        found: dict[str, list[tuple[int, int]]] = {"addr": [], "data": [], "ctrl": []}
        for event, did in enumerate(self.did):
            if did is not None:
                thread, _ = self.places[event]
                control = did.control | did.pair if model.rmw_by_pair else did.control
                for name, reads in (("addr", did.address), ("data", did.data), ("ctrl", control)):
                    found[name] += [(self.number[thread, position], event) for position in reads]
        return {name: from_pairs(self.size, pairs) for name, pairs in found.items()}
