"""`memfence.compare_variants`: which version is right under every model, and which of these is cheapest?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from memfence.api.inputs import Source, options_for, read_program, understand
from memfence.api.revisions import Revisions
from memfence.api.values import said_in, spell_out
from memfence.deadline import Deadline
from memfence.models.catalogue import USUAL, OrderCosts, is_x86
from memfence.questions.conflicts import refuse_other_processors
from memfence.records import Record
from memfence.synthesis.variants import ComparedVariants, Variant
from memfence.synthesis.variants import compare_variants as ask
from memfence.tasks.options import CheckOptions
from memfence.tasks.usage import WrongUsage
from memfence.verbs.models import RELAXED, models_in

if TYPE_CHECKING:
    from memfence.api.typed import CompareVariantsKeywords

MACRO = "@-D"


class Named(Record):
    """What a variant is called, in parts."""

    name: str
    file: str
    macros: tuple[str, ...] = ()
    revision: str = ""


def variant_named(text: str) -> Named:
    """`FILE`, `FILE@-DX=1@-DY`, `REV:FILE` or both; a file that is called so is just that file."""
    if Path(text).exists() or text == "-":
        return Named(text, text)
    file, *macros = text.split(MACRO)
    if not file or not all(macros):
        raise WrongUsage("variants", f"`{text}` is not FILE, FILE{MACRO}NAME=VALUE or REV:FILE")
    revision, colon, inside = file.partition(":")
    if colon and revision and inside and not Path(file).exists():
        return Named(text, inside, tuple(macros), revision)
    return Named(text, file, tuple(macros))


def compare_variants(
    variants: Sequence[Source],
    models: str | Sequence[str] | None = None,
    *,
    unroll: int | None = None,
    cost: Literal["measured"] | None = None,
    given: Mapping[str, Any] | None = None,
    **typed: Unpack[CompareVariantsKeywords],
) -> ComparedVariants:
    """A verdict and a price for each variant under each of the models, and which variants are best.

    `variants`: programs, or names of files: `FILE@-DX=1` defines a macro, `REV:FILE` is read by git. `models`: as for
    `check_models`; without them x86, rc11 and armv8 for C, else tso and pso. `cost="measured"`: prices of x86 as on
    this processor. Other keywords as for `check`. The time limit holds for each variant.
    """
    keywords = dict[str, Any](typed)
    spell_out(keywords)
    if not variants:
        raise WrongUsage("variants", "name the files to compare")
    named = [variant_named(str(one)) if isinstance(one, str | Path) and _is_name(one) else None for one in variants]
    names = None if models is None else models_in(models)
    typed_in = said_in("compare", keywords, None) if given is None else given
    said = {name: value for name, value in typed_in.items() if name != "also"} | {"variants": True}
    with Revisions() as revisions:
        read = [
            _read(source, name, names, said, dict(keywords), unroll, revisions)
            for source, name in zip(variants, named, strict=True)
        ]
    names = names or _usual(read)
    for one in read:
        for name in names:
            refuse_other_processors(one.program, name)
    return ask(read, names, unrolled=unroll, measured=_measured(names) if cost is not None else None)


def _is_name(source: str | Path) -> bool:
    return isinstance(source, Path) or "\n" not in source


def _read(
    source: Source,
    named: Named | None,
    models: tuple[str, ...] | None,
    said: Mapping[str, Any],
    keywords: dict[str, Any],
    unroll: int | None,
    revisions: Revisions,
) -> Variant:
    """The program, with the options of its question."""
    place: Source = source if named is None else named.file
    if named is not None:
        keywords["macros"] = (*(keywords.get("macros") or ()), *named.macros)
        if named.revision:
            place = revisions.path_of(named.revision, named.file)
            folders = keywords.get("include") or ()
            keywords["include"] = tuple(revisions.folder_of(named.revision, folder) for folder in folders)
    said = {**said, **({"macros": keywords["macros"]} if keywords.get("macros") else {})}
    besides = {"unroll": unroll}
    usage = understand("compare", place, keywords, models=models or (), given=said, besides=besides, known=besides)
    deadline = Deadline(keywords.get("timeout_seconds"))
    program = read_program(place, keywords, deadline, usage, for_every_processor=True)
    options = options_for(CheckOptions, program, None, keywords, deadline, usage)
    if named is None:
        path = program.source.path or program.name
        return Variant(path, path, program, options)
    return Variant(named.name, named.file, program, options, named.macros, named.revision)


def _usual(variants: Sequence[Variant]) -> tuple[str, ...]:
    is_c = all(one.program.language in ("c", "clitmus") for one in variants)
    return tuple(USUAL.split(",")) if is_c else RELAXED


def _measured(models: Sequence[str]) -> dict[str, OrderCosts]:
    """Prices of this processor, for the models that describe it; tenths of nanoseconds."""
    from memfence.silicon.costs import measure_costs, order_costs_of

    found = order_costs_of(measure_costs())
    return {name: found for name in models if is_x86(name) and not name.endswith(".cat")}
