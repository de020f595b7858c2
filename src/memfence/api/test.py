"""`memfence.test`: does an object work for every small client of it?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from memfence.api.inputs import allowed, understand
from memfence.clients.comparing import Asked, compared
from memfence.clients.notation import shape_of, specifications_in
from memfence.clients.result import Consistency, ObjectsResult
from memfence.clients.specification import Specification
from memfence.deadline import Deadline
from memfence.models.catalogue import USUAL
from memfence.pipeline import read_source
from memfence.program.load_options import COptions
from memfence.source import SourceText
from memfence.tasks.options import CheckOptions
from memfence.tasks.usage import WrongUsage
from memfence.verbs.models import models_in

if TYPE_CHECKING:
    from memfence.api.typed import TestKeywords

USUAL_CLIENTS, ROUNDS = 200, 4
"""As the table of options says."""


def test(
    source: SourceText | str | Path,
    models: str | Sequence[str] = USUAL,
    *,
    given: Mapping[str, Any] | None = None,
    **typed: Unpack[TestKeywords],
) -> ObjectsResult:
    """Make the small clients of each object that the file describes, and check each under all models.

    Every outcome of a client (what its calls return, and what is observed at the end) must be one of the same calls one
    after the other. `criterion`: whether that order respects each thread's (serialisable), time as well (linearizable),
    or neither (quiescent). `objects`, `shape`, `clients`, `all` say which clients. InputError for a description that
    cannot be read or clients that do not compile. The time limit holds for all together.
    """
    keywords = dict[str, Any](typed)
    names = models_in(models)
    usage = understand("test", source, keywords, models=names, given=given, besides={"models": models})
    deadline = Deadline(keywords.get("timeout_seconds"))
    text = source if isinstance(source, SourceText) else read_source(source)
    asked = Asked(
        models=usage.models,
        consistency=Consistency(keywords.get("criterion") or Consistency.SERIALISABLE),
        options=CheckOptions(deadline=deadline, memory_megabytes=keywords.get("memory_megabytes")),
        compiling=_compiling(keywords),
        most=keywords.get("clients") or USUAL_CLIENTS,
        goes_on=bool(keywords.get("all")),
        unrolled=ROUNDS if keywords.get("unroll") is None else keywords["unroll"],
    )
    chosen = _chosen(specifications_in(text), keywords.get("objects"))
    shaped = [_shaped(one, keywords.get("shape")) for one in chosen]
    progress = keywords.get("progress")
    return ObjectsResult(tuple(compared(one, asked, progress) for one in shaped))


def _compiling(keywords: Mapping[str, Any]) -> COptions:
    known = {one.name for one in fields(COptions)}
    said = {name: value for name, value in keywords.items() if name in known and value is not None}
    if "allow" in said:
        said["allow"] = allowed(said["allow"])
    for name in ("macros", "include"):
        if name in said:
            said[name] = tuple(said[name])
    options = COptions(**said)
    return replace(options, overflow=False, deadlock=False) if options.assertions_only else options


def _chosen(known: Sequence[Specification], names: Iterable[str] | None) -> tuple[Specification, ...]:
    if names is None:
        return tuple(known)
    by_name = {one.name: one for one in known}
    for name in (wanted := tuple([names] if isinstance(names, str) else names)):
        if name not in by_name:
            raise WrongUsage("objects", f"no object `{name}` is described; there is {', '.join(by_name)}")
    return tuple(by_name[name] for name in wanted)


def _shaped(specification: Specification, texts: Iterable[str] | None) -> Specification:
    """With the shapes that were asked for in place of its own."""
    if texts is None:
        return specification
    listed = [texts] if isinstance(texts, str) else texts
    return replace(specification, shapes=tuple(shape_of(text, specification) for text in listed))
