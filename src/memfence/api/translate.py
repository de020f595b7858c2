"""`memfence.translate`: the program written out for another tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

from memfence.api.inputs import Source, read_program
from memfence.passes.atomic_writes import WaitsFor
from memfence.program.ir import Program
from memfence.tasks.deadline import Deadline
from memfence.tasks.usage import WrongUsage

Target = Literal["promela", "dve", "dot"]
Instrument = Literal["persistence"]


def translate(
    source: Source,
    to: Target,
    *,
    store_buffers: bool = False,
    atomic: str | Path | None = None,
    atomic_waits: WaitsFor = "own",
    instrument: Instrument | None = None,
    **keywords: Any,
) -> str:
    """The text in the language `to`: Promela with the SC meaning, DVE with the store buffers in it, or a drawing.

    `atomic`: a list of writes that bypass the buffers. `instrument="persistence"`: a program that fails under SC iff
    this one is not persistent.
    """
    if to not in get_args(Target):
        raise WrongUsage("to", f"{to!r} is not one of {', '.join(map(repr, get_args(Target)))}")
    if to == "dve" and not store_buffers:
        what = "DVE is written with the store buffers in it: add --store-buffers, or use --to promela for the model"
        raise WrongUsage("to", what)
    if store_buffers and to != "dve":
        raise WrongUsage("store_buffers", "it goes with --to dve")
    if atomic is not None and not store_buffers:
        raise WrongUsage("atomic", "it goes with --store-buffers")
    if instrument is not None and to != "promela":
        raise WrongUsage("instrument", "it goes with --to promela")
    program = read_program(source, keywords, Deadline())
    if instrument is not None:
        from memfence.translation.persistence_query import persistence_query

        program = persistence_query(program)
    return _with_store_buffers(program, atomic, atomic_waits) if store_buffers else _written(program, to)


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
    from memfence.frontends.registry import LANGUAGES

    return [language.name for language in LANGUAGES]
