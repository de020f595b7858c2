"""Parts of what several verbs print: places, diagnostics, states, steps, proofs."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from memfence.report.contract.shape import Least, Pattern, closed

Count = Annotated[int, Least(0)]
Seconds = Annotated[float, Least(0)]
ModelName = Literal["sc", "tso", "pso"]
RelaxedName = Literal["tso", "pso"]
CriterionName = Literal["safety", "persistent", "robust", "povso", "po", "state-robust", "trf", "drf"]
AskedName = Literal[CriterionName, "liveness"]
VerdictName = Literal["holds", "holds_up_to", "violated", "unknown"]
AskedModel = Annotated[Literal["x86"], "The name that was asked about, where the model has another one: x86 is tso."]
Assumptions = Annotated[list[str], "About C: what the verdict takes for granted. Empty for models."]
Reading = Annotated[
    Literal["c", "sv-comp", None],
    "About C: what counts as failing. In sv-comp, a call of abort or exit just ends a run.",
]
Allow = Annotated[list[Literal["abort", "exit"]], "About C: what --allow makes a normal end."]


class Place(TypedDict):
    file: str
    line: Annotated[int, Least(1)]
    column: Annotated[int, Least(1)]
    length: Annotated[int, Least(1)]
    label: str


class Diagnostic(TypedDict):
    code: Annotated[str, Pattern("^MF[0-9]{3}$")]
    severity: Literal["error", "warning"]
    message: str
    file: str
    line: Annotated[int, Least(1)]
    column: Annotated[int, Least(1)]
    length: Annotated[int, Least(1)]
    label: str
    related: list[Place]
    hint: str | None


class Error(TypedDict):
    error: str
    diagnostics: list[Diagnostic]


@closed
class PendingStore(TypedDict):
    variable: str
    value: int


@closed
class Separator(TypedDict):
    separator: Literal[True]


class State(TypedDict):
    memory: Annotated[dict[str, int], "Value of every shared variable."]
    buffers: Annotated[
        dict[str, list[PendingStore | Separator]],
        "For each process, its pending stores, oldest first; under PSO variable by variable.",
    ]
    registers: dict[str, dict[str, int]]
    locations: Annotated[dict[str, str], "Where each process stands."]


class Call(TypedDict):
    file: str
    line: int


class Step(State):
    """A step and the state after it."""

    step: Annotated[int, Least(1)]
    process: str
    kind: Literal["run", "rendezvous", "commit", "drop_separator"]
    partner: NotRequired[Annotated[str, "The receiver of a rendezvous."]]
    file: str | None
    line: int | None
    calls: NotRequired[
        Annotated[
            list[Call], "About C: the calls that lead to the step, outermost first; left out where there are none."
        ]
    ]
    text: str
    failure: str | None


class Proof(TypedDict):
    file: str | None
    size: int | None
    missing: str | None
    verification: Annotated[dict[str, Any] | None, "As `memfence verify --json` prints it."]
