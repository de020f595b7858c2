"""A violation as a witness in SV-COMP's YAML format, version 2.0: the places that the run passes, the last one fails.

The format knows nothing of threads yet, so that the places stand in the order in which the run passes them, whichever
thread is there. https://gitlab.com/sosy-lab/benchmarking/sv-witnesses
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from itertools import groupby
from uuid import NAMESPACE_URL, uuid5

from memfence.execution.trace import Trace
from memfence.models.state import ProcessStep
from memfence.source import NOWHERE, Span
from memfence.tasks.answer import Verdict
from memfence.tasks.result import CheckResult
from memfence.version import VERSION

SPECIFICATIONS = (
    ("signed integer overflow", "CHECK( init(main()), LTL(G ! overflow) )"),
    ("double free", "CHECK( init(main()), LTL(G valid-free) )"),
    ("free of something", "CHECK( init(main()), LTL(G valid-free) )"),
    ("null pointer", "CHECK( init(main()), LTL(G valid-deref) )"),
    ("invalid pointer", "CHECK( init(main()), LTL(G valid-deref) )"),
    ("access out of bounds", "CHECK( init(main()), LTL(G valid-deref) )"),
    ("index outside", "CHECK( init(main()), LTL(G valid-deref) )"),
    ("use of", "CHECK( init(main()), LTL(G valid-deref) )"),
)
REACHES_ERROR = "CHECK( init(main()), LTL(G ! call(reach_error())) )"


def has_witness(result: CheckResult) -> bool:
    """Whether there is a failing step to lead to."""
    return result.verdict is Verdict.VIOLATED and result.trace is not None and result.trace.failure is not None


def render_witness(result: CheckResult, *, created: datetime) -> str:
    """The run of a violation, as a witness; `has_witness` says whether there is one."""
    assert result.trace is not None and result.trace.failure is not None
    *passed, target = _places(result.trace)
    segments = [_waypoint(place, "assumption") for place in passed] + [_waypoint(target, "target")]
    return "\n".join([*_metadata(result, created), "  content:", *(line for part in segments for line in part), ""])


def specification(reason: str) -> str:
    """The property of SV-COMP that a failure violates."""
    return next((text for start, text in SPECIFICATIONS if reason.startswith(start)), REACHES_ERROR)


def _places(trace: Trace) -> list[Span]:
    """Where the run goes, each place once while it stays there."""
    return [place for place, _ in groupby(_all_places(trace))]


def _all_places(trace: Trace) -> Iterator[Span]:
    for taken in trace.steps:
        if isinstance(taken.step, ProcessStep):
            span = trace.program.processes[taken.step.process].transitions[taken.step.transition].span
            if span.source is not NOWHERE.source:
                yield span


def _metadata(result: CheckResult, created: datetime) -> list[str]:
    assert result.trace is not None and result.trace.failure is not None
    source = result.program.source
    digest = sha256(source.text.encode()).hexdigest()
    identity = uuid5(NAMESPACE_URL, f"{source.path} {digest} {created.isoformat()}")
    return [
        "- entry_type: violation_sequence",
        "  metadata:",
        '    format_version: "2.0"',
        f'    uuid: "{identity}"',
        f'    creation_time: "{created.replace(microsecond=0).isoformat()}"',
        "    producer:",
        "      name: memfence",
        f'      version: "{VERSION}"',
        "    task:",
        "      input_files:",
        f"        - {json.dumps(source.path)}",
        "      input_file_hashes:",
        f'        {json.dumps(source.path)}: "{digest}"',
        f"      specification: {json.dumps(specification(result.trace.failure.reason))}",
        "      data_model: LP64",
        "      language: C",
    ]


def _waypoint(place: Span, kind: str) -> list[str]:
    constraint = ["          constraint:", '            value: "1"', "            format: c_expression"]
    return [
        "    - segment:",
        "      - waypoint:",
        f"          type: {kind}",
        "          action: follow",
        "          location:",
        f"            file_name: {json.dumps(place.source.path)}",
        f"            line: {place.line}",
        f"            column: {place.column}",
        *(constraint if kind == "assumption" else []),
    ]
