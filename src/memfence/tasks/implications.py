"""Which criterion implies which, for which programs: the one table that `compare`, the shortcuts and state-robustness
read. `docs/theory/criteria.md` has the reasons, `tests/properties/test_implications.py` tries them.
"""

from __future__ import annotations

from collections.abc import Iterator

from memfence.models.spec import PSO, TSO, ModelSpec
from memfence.passes.lock_regions import has_lock_regions
from memfence.program.facts.effects import has_guarded_writes, has_torn_steps
from memfence.program.ir import Program
from memfence.records import Record
from memfence.tasks.criterion import Criterion


class Requirement(Record):
    """A criterion under a model. Races are about SC runs, persistence is about TSO: they have one model only."""

    criterion: Criterion
    model: ModelSpec

    @property
    def name(self) -> str:
        """Unique, and stable: the key of a JSON object."""
        alone = self.criterion.is_about_races or self.criterion.is_about_tso
        return self.criterion.value if alone else f"{self.criterion.value}-{self.model.name}"


DRF, TRF = Requirement(Criterion.DRF, TSO), Requirement(Criterion.TRF, TSO)
PERSISTENT = Requirement(Criterion.PERSISTENT, TSO)
POVSO, PO = Requirement(Criterion.POVSO, TSO), Requirement(Criterion.PO, TSO)
ROBUST_TSO, ROBUST_PSO = Requirement(Criterion.ROBUST, TSO), Requirement(Criterion.ROBUST, PSO)
STATE_TSO, STATE_PSO = Requirement(Criterion.STATE_ROBUST, TSO), Requirement(Criterion.STATE_ROBUST, PSO)

STRONGEST_FIRST = (DRF, TRF, PERSISTENT, ROBUST_TSO, ROBUST_PSO, STATE_TSO, STATE_PSO)
"""So that one proof answers many; TSO before PSO, so that one violation does. PoVso and Po are not among them: they are
decided by following every run, which `compare` would have to wait for."""

_WEAKER: dict[Requirement, tuple[Requirement, ...]] = {
    DRF: (TRF, ROBUST_PSO),
    TRF: (PERSISTENT, ROBUST_TSO),
    PERSISTENT: (POVSO,),
    ROBUST_PSO: (ROBUST_TSO, STATE_PSO),
    ROBUST_TSO: (POVSO,),
    POVSO: (PO, STATE_TSO),
    STATE_PSO: (STATE_TSO,),
}


def weaker(program: Program, requirement: Requirement) -> Iterator[Requirement]:
    """What `requirement` directly implies for this program.

    Freedom of triangular races says nothing where a step reads one variable and writes another (a lock region with a
    loop may), or makes several stores; nothing else implies persistence where steps make several.
    """
    writes_by_others = has_guarded_writes(program) or has_lock_regions(program)
    if requirement == TRF and (writes_by_others or has_torn_steps(program)):
        return
    for other in _WEAKER.get(requirement, ()):
        if other != PERSISTENT or not has_torn_steps(program):
            yield other


def implies(program: Program, stronger: Requirement, other: Requirement) -> bool:
    """Whether a program like this that meets `stronger` meets `other`, too."""
    return stronger == other or any(implies(program, step, other) for step in weaker(program, stronger))


def attackable(
    program: Program, model: ModelSpec, criterion: Criterion = Criterion.STATE_ROBUST
) -> tuple[Requirement, ...]:
    """Those of `model` that imply the criterion, and that SC exploration decides."""
    wanted = Requirement(criterion, model.unbounded)
    return tuple(
        stronger
        for stronger in STRONGEST_FIRST
        if stronger.criterion in (Criterion.PERSISTENT, Criterion.ROBUST)
        and stronger.model == model.unbounded
        and implies(program, stronger, wanted)
    )
