"""The program as a Graphviz drawing: a cluster a process, a node a location, an edge a transition."""

from __future__ import annotations

from memfence.program.facts.effects import address_written
from memfence.program.ir import Process, Program, Rmw
from memfence.program.text.steps import step_text


def render_dot(program: Program) -> str:
    """Text for `dot`. Locked steps are bold; stores, which may be delayed, are drawn in colour."""
    lines = [f"digraph {_quoted(program.name)} {{", "  rankdir=TB; node [shape=circle]; edge [fontname=monospace];"]
    for number, process in enumerate(program.processes):
        lines += _cluster(program, number, process)
    return "\n".join([*lines, "}"]) + "\n"


def _cluster(program: Program, number: int, process: Process) -> list[str]:
    lines = [f"  subgraph cluster_{number} {{", f"    label={_quoted(process.name)};"]
    left = {t.source for t in process.transitions}
    for at, location in enumerate(process.locations):
        name = ", ".join(dict.fromkeys((location.name, *location.labels)))
        shape = ", shape=doublecircle" if at not in left else ""
        style = ", style=bold" if at == process.initial else ""
        lines.append(f"    p{number}_{at} [label={_quoted(name)}{shape}{style}];")
    for transition in process.transitions:
        is_locked = transition.locked or any(isinstance(op, Rmw) for op in transition.ops)
        style = ", style=bold" if is_locked else ""
        colour = ", color=firebrick" if any(address_written(op) is not None for op in transition.ops) else ""
        label = _quoted(step_text(program, number, transition))
        ends = f"p{number}_{transition.source} -> p{number}_{transition.target}"
        lines.append(f"    {ends} [label={label}{style}{colour}];")
    return [*lines, "  }"]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
