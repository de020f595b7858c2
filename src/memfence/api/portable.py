"""`memfence.check_models`: the same question under several memory models, among them C11 and ARMv8."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memfence.api.inputs import Source, options_for, read_program, with_stated
from memfence.axiomatic.library import NAMES
from memfence.deadline import Deadline
from memfence.questions.conflicts import refuse_other_processors
from memfence.questions.portable import check_models as ask
from memfence.questions.portable_result import PortableResult
from memfence.tasks.options import CheckOptions
from memfence.tasks.usage import WrongUsage

MEANT = {
    **dict.fromkeys(("arm", "armv8-a", "arm64", "aarch64"), "armv8"),
    **dict.fromkeys(("c", "c11", "c++", "c++11", "cpp", "c20", "c++20"), "rc11"),
    **dict.fromkeys(("x86-64", "x86_64", "amd64", "x64"), "x86"),
}
"""Names that people try."""


def check_models(
    source: Source, models: str | Sequence[str] = "x86,rc11,armv8", *, unroll: int | None = None, **keywords: Any
) -> PortableResult:
    """A verdict for each of the models: names or paths of cat files, in a list or with commas between.

    `unroll`: loops are gone round so often; without it once, twice, four times and so on, until nothing is cut off.
    Other keywords as for `check`.
    """
    names = models_of(models)
    with_stated(source, keywords)
    deadline = Deadline(keywords.get("timeout_seconds"))
    program = read_program(source, keywords, deadline, for_every_processor=True)
    for name in names:
        refuse_other_processors(program, name)
    with deadline.enforced():
        options = options_for(CheckOptions, program, None, keywords, deadline)
        return ask(program, names, options, unrolled=unroll)


def models_of(models: str | Sequence[str]) -> tuple[str, ...]:
    """The names in a list; ValueError for one that is none."""
    names = tuple(name.strip() for name in (models.split(",") if isinstance(models, str) else models))
    for name in names:
        if name not in NAMES and Path(name).suffix != ".cat":
            near = f"; did you mean {MEANT[name.lower()]!r}?" if name.lower() in MEANT else ""
            raise WrongUsage(
                "model", f"{name!r} is not one of {', '.join(map(repr, NAMES))}, nor a file NAME.cat{near}"
            )
    return tuple(dict.fromkeys(names))
