"""`memfence.translate`: the program written out for another tool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from memfence.api.inputs import Source, read_program, understand
from memfence.deadline import Deadline
from memfence.models.spec import ModelName
from memfence.passes.atomic_writes import WaitsFor
from memfence.program.ir import Program
from memfence.tasks.usage import WrongUsage

if TYPE_CHECKING:
    from memfence.api.typed import TranslateKeywords

Target = Literal["promela", "dve", "dot", "svg"]
Subject = Literal["program", "states", "run"]
Instrument = Literal["persistence"]


def translate(
    source: Source,
    to: Target,
    *,
    store_buffers: bool = False,
    atomic: str | Path | None = None,
    atomic_waits: WaitsFor = "own",
    instrument: Instrument | None = None,
    of: Subject = "program",
    model: ModelName | None = None,
    replay: str | Path | None = None,
    **typed: Unpack[TranslateKeywords],
) -> str:
    """The text in the language `to`: Promela with the SC meaning, DVE with the store buffers in it, or a drawing.

    A drawing is `of` the program (`dot`), of its states under SC and `model`, where it is small, or of the run of a
    saved schedule, `replay` (`svg`).

    `atomic`: a list of writes that bypass the buffers. `instrument="persistence"`: a program that fails under SC iff
    this one is not persistent.
    """
    keywords = dict[str, Any](typed)
    drawing = {"of": of if of != "program" else None, "model": model, "replay": replay}
    waits = None if atomic_waits == "own" else atomic_waits
    buffers = {"store_buffers": store_buffers, "atomic": atomic, "atomic_waits": waits}
    besides = {"to": to, "instrument": instrument, **buffers, **drawing}
    usage = understand("translate", source, keywords, besides=besides)
    _refuse_text(to, of, store_buffers=store_buffers, replay=replay)
    program = read_program(source, keywords, Deadline(), usage)
    if of == "states":
        return _states(program, to, model)
    if of == "run":
        return _run(program, replay)
    if instrument is not None:
        from memfence.translation.persistence_query import persistence_query

        program = persistence_query(program)
    return _with_store_buffers(program, atomic, atomic_waits) if store_buffers else _written(program, to)


def _refuse_text(to: Target, of: Subject, *, store_buffers: bool, replay: str | Path | None) -> None:
    """WrongUsage for what cannot be written in the language `to`."""
    if to == "dve" and not store_buffers:
        what = "DVE is written with the store buffers in it: add --store-buffers, or use --to promela for the model"
        raise WrongUsage("to", what)
    if of == "program" and to == "svg":
        raise WrongUsage("to", "a picture is of the states or of a run: add --of states or --of run")
    if of != "program" and to not in ("dot", "svg"):
        raise WrongUsage("of", "it goes with --to dot and --to svg")
    if of == "run" and to != "svg":
        raise WrongUsage("to", "the chart of a run is written as SVG: use --to svg")
    if of == "run" and replay is None:
        raise WrongUsage("replay", "--of run and --replay SCHEDULE go together")


def _states(program: Program, to: Target, model: ModelName | None) -> str:
    from memfence.models.spec import SC, SPECS, TSO
    from memfence.report.views.state_graph import state_graph_dot, state_graph_svg
    from memfence.simulation.state_graph import state_graph

    weaker = TSO if model is None else SPECS[model]
    graph = state_graph(program, (SC, weaker) if weaker.has_buffers else (SC,))
    return state_graph_dot(graph) if to == "dot" else state_graph_svg(graph)


def _run(program: Program, replay: str | Path | None) -> str:
    from memfence.execution.schedule import read_schedules
    from memfence.pipeline import read_source
    from memfence.report.views.sequence_chart import sequence_chart

    assert replay is not None
    return sequence_chart(read_schedules(program, read_source(replay))[0].trace)


def _with_store_buffers(program: Program, atomic: str | Path | None, waits_for: WaitsFor) -> str:
    from memfence.passes.atomic_list import parse_atomic_writes
    from memfence.pipeline import read_source
    from memfence.translation.dve import render_store_buffer_model

    writes = () if atomic is None else parse_atomic_writes(read_source(atomic), program)
    return render_store_buffer_model(program, writes, waits_for=waits_for)


def _written(program: Program, to: Target) -> str:
    if to == "promela":
        from memfence.translation.promela import render_promela

        return render_promela(program)
    from memfence.translation.dot import render_dot

    return render_dot(program)


def language_names() -> list[str]:
    """Every language that programs can be written in, by the name that `language` takes."""
    from memfence.frontends.catalogue import LANGUAGES

    return [language.name for language in LANGUAGES]
