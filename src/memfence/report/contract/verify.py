"""`memfence verify --json`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from memfence.report.contract.parts import ModelName
from memfence.report.contract.shape import Pattern, closed


@closed
class StateInProof(TypedDict):
    memory: dict[str, Any]
    buffers: dict[str, Any]
    registers: dict[str, Any]
    locations: dict[str, Any]


@closed
class Refused(TypedDict):
    condition: str
    detail: str | None
    state: StateInProof | None
    step: str | None
    after: StateInProof | None


@closed
class Verify(TypedDict):
    certificate: str
    file: str
    verdict: Annotated[
        Literal["valid", "valid_up_to", "refused", "unknown"],
        "valid_up_to: the certificate proves its claim about runs within bounds only (exit code 4).",
    ]
    valid: Annotated[bool, "Whether the certificate proves its claim about the program."]
    claim: str
    reading: NotRequired[Annotated[str, "How the text was read, as the certificate says."]]
    model: ModelName
    criterion: str
    bound: Annotated[int | None, "The claim is about at most so many pending stores; null: about any number."]
    bounds: Annotated[list[str], "Bounds of the program that runs may reach: nothing is proved beyond them."]
    digest: Annotated[str, Pattern("^[0-9a-f]{64}$")]
    tool: str
    notes: list[str]
    checker: Literal["native", "python", "proved", None]
    states: int | None
    seconds: float
    refused: Refused | None
