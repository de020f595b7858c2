"""`memfence.fix`: where exactly do fences go, and how few are enough?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from memfence.api.check import other_name, unread_program, with_fields, with_states
from memfence.api.inputs import Source, options_for, read_program, understand
from memfence.deadline import Deadline, TimeUp
from memfence.frontends.catalogue import edits_of
from memfence.passes.atomic_writes import AtomicWrite, WaitsFor
from memfence.program.ir import Program
from memfence.questions.plain_races import races_of
from memfence.synthesis import fix as synthesise
from memfence.synthesis.atomic_writes import AtomicFix
from memfence.synthesis.evidence import SearchDidNotEnd
from memfence.synthesis.fixed_text import atomic_list as atomic_list
from memfence.synthesis.fixed_text import fix_diff as fix_diff
from memfence.synthesis.fixed_text import fixed_files as fixed_files
from memfence.synthesis.options import FixOptions
from memfence.synthesis.patch import diff_path as diff_path
from memfence.synthesis.result import FenceSet, FixResult, FixStats, FixVerdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Limits, Stop, peak_megabytes
from memfence.tasks.usage import WrongUsage
from memfence.verbs.models import BY_STATES, has_runs

if TYPE_CHECKING:
    from memfence.api.typed import FixKeywords


def fix(
    source: Source,
    options: FixOptions | None = None,
    *,
    atomic: Iterable[AtomicWrite] | str = (),
    atomic_waits: WaitsFor = "own",
    given: Mapping[str, Any] | None = None,
    **typed: Unpack[FixKeywords],
) -> FixResult | AtomicFix | Any:
    """The edits that make the program work, each needed, all together enough, and the text with them.

    `source` and keywords as for `check`; the fields of `FixOptions` besides. Where all that is asked is temporal, the
    answer is about atomic writes (DVE): `atomic` lists those that are there already, as text or as values, and
    `atomic_waits` says whose stores such a write waits for. `given`: all that was typed, where the command line asks.

    `model="rc11"` or a list of models: stronger memory orders, the `OrderFix` of `fix_models`.
    """
    keywords = dict[str, Any](typed)
    besides = {"atomic": atomic, "atomic_waits": atomic_waits if atomic_waits != "own" else None}
    if not has_runs(keywords.get("model")):
        from memfence.api.order_fix import fix_models, leaves_fences

        keywords = with_fields(options, keywords) | {name: value for name, value in besides.items() if value}
        orders = fix_models(source, keywords.pop("model"), given=given, **keywords)
        if not leaves_fences(orders) or "unroll" in keywords:
            return orders
        keywords = dict[str, Any](typed)
    named = with_states(keywords, options)
    usage = understand("fix", source, keywords, options, models=(BY_STATES[named],), given=given, besides=besides)
    deadline = Deadline(keywords.get("timeout_seconds", None if options is None else options.timeout_seconds))
    try:
        program = read_program(source, keywords, deadline, usage, for_any_number=True)
        with deadline.enforced():
            asked = options_for(FixOptions, program, options, keywords, deadline, usage)
            refuse_kinds(program, asked)
        with deadline.enforced(), _connected(asked):
            result = synthesise(program, asked, given=_writes(atomic, program), waits_for=atomic_waits)
            result = replace(result, races=races_of(program, result.limits))
    except TimeUp:
        result = _unread(source, options or FixOptions(), keywords, deadline, Stop.TIMEOUT)
    except KeyboardInterrupt:
        result = _unread(source, options or FixOptions(), keywords, deadline, Stop.CANCELLED)
    return replace(result, asked_model=other_name(named))


def _connected(options: FixOptions) -> AbstractContextManager[Any]:
    """One connection for all searches."""
    if options.cluster is None:
        return nullcontext()
    from memfence.cluster.session import connected, phase_of

    options.limits.announce(phase_of(options.cluster))
    return connected(options.cluster)


def refuse_kinds(program: Program, options: FixOptions) -> None:
    """ValueError where the language has none of the kinds of edits that may be written."""
    possible = edits_of(program.language)
    missing = [kind for kind in options.kinds or () if kind not in possible]
    if missing:
        what = f"{program.language} has no way to write `{missing[0]}`; it has {' and '.join(possible)}"
        raise WrongUsage("kinds", what)


def _writes(atomic: Iterable[AtomicWrite] | str, program: Program) -> Iterable[AtomicWrite]:
    if not isinstance(atomic, str):
        return atomic
    from memfence.passes.atomic_list import parse_atomic_writes
    from memfence.pipeline import read_source

    return parse_atomic_writes(read_source(atomic), program)


def _unread(source: Source, options: FixOptions, keywords: dict[str, Any], deadline: Deadline, stop: Stop) -> FixResult:
    return FixResult(
        program=unread_program(source),
        model=keywords.get("model") or options.model,
        criterion=Criterion(keywords.get("criterion") or options.criterion or Criterion.SAFETY),
        verdict=FixVerdict.UNKNOWN,
        evidence=SearchDidNotEnd(),
        minimise=options.minimise,
        is_minimum=False,
        limits=Limits(deadline=deadline),
        stats=FixStats(0, 0, 0, 0, deadline.elapsed, peak_megabytes()),
        stop=stop,
        chosen=FenceSet(()),
    )
