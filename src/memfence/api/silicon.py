"""`memfence.reproduce`, `memfence.conform` and `memfence.cost`: programs on the processor at hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, get_args

from memfence.api.fix import fix
from memfence.api.inputs import Source, options_for, read_program, understand
from memfence.deadline import Deadline
from memfence.frontends.frontend import EditKind, EditStyle
from memfence.pipeline import load
from memfence.silicon.conform import Conformance
from memfence.silicon.conform import conform as compare_one
from memfence.silicon.costs import Cost, costs_of_edits, measure_costs
from memfence.silicon.machine import processors
from memfence.silicon.reproduce import Reproduction, StressOptions
from memfence.silicon.reproduce import reproduce as look_for
from memfence.silicon.variants import Timed, Variant, require_place, time_variants
from memfence.synthesis.atomic_writes import AtomicFix
from memfence.synthesis.options import DEFAULT_COSTS
from memfence.tasks.options import CheckOptions
from memfence.tasks.usage import WrongUsage
from memfence.verbs.refusal import refuse_unused
from memfence.verbs.usage import Usage

if TYPE_CHECKING:
    from memfence.api.typed import ConformKeywords, FixKeywords, ReproduceKeywords

__all__ = ["StressOptions", "assumed_costs", "conform", "cost", "measured_costs", "processors", "reproduce"]


def reproduce(source: Source, stress: StressOptions | None = None, **typed: Unpack[ReproduceKeywords]) -> Reproduction:
    """Find a violation under the model (default TSO), and look for it on the processor at hand.

    Keywords are those of `memfence.check`. InputError where the program has steps that a processor cannot take.
    """
    keywords = dict[str, Any](typed)
    models = (str(keywords.get("model") or "tso"),)
    usage = understand("reproduce", source, keywords, models=models)
    deadline = Deadline(keywords.get("timeout_seconds"))
    program = read_program(source, keywords, deadline, usage)
    options = options_for(CheckOptions, program, CheckOptions(model="tso"), keywords, deadline, usage)
    return look_for(program, options, stress or StressOptions())


def conform(
    paths: Iterable[str | Path], stress: StressOptions | None = None, **keywords: Unpack[ConformKeywords]
) -> Iterator[Conformance]:
    """Run litmus tests, files or folders of them, and compare what is observed with what SC and TSO allow."""
    for path in map(Path, paths):
        for test in sorted(path.rglob("*.litmus")) if path.is_dir() else [path]:
            yield compare_one(test, stress or StressOptions(seconds=0.5), **keywords)


def bench_fixes(file: Path, command: str, **keywords: Unpack[FixKeywords]) -> list[Timed]:
    """The program as it is, and with each way to write its fix, timed by the user's command."""
    require_place(command)
    refuse_unused(Usage(verb="fix", said={"bench": command}, files=(str(file),), program=load(file)))
    variants = [Variant("as it is", file.read_text(), 0)]
    ways: list[tuple[str, dict[str, Any]]] = [(f"--style {style}", {"style": style}) for style in get_args(EditStyle)]
    ways.append(("--minimise cost, as measured", {"minimise": "cost", "costs": measured_costs()}))
    for name, more in ways:
        result = fix(file, **{**keywords, **more})
        if isinstance(result, AtomicFix) or result.patched is None:
            continue
        if any(one.source is not result.program.source for one in result.files):
            raise WrongUsage("bench", "the fix changes other files than FILE, which the command does not see")
        if all(result.patched != known.text for known in variants):
            variants.append(Variant(name, result.patched, result.chosen.count))
    return time_variants(file, variants, command)


def assumed_costs() -> dict[EditKind, int]:
    """The weights that `fix --minimise cost` has without a measurement."""
    return dict(DEFAULT_COSTS)


def measured_costs() -> dict[EditKind, int]:
    """The weights of `fix --minimise cost`, as measured here."""
    return costs_of_edits(measure_costs())


def cost() -> tuple[Cost, ...]:
    """What fences cost here."""
    return measure_costs()
