"""The page of a check: what holds or fails, the run to step through, and what the verdict rests on."""

from __future__ import annotations

from memfence.certificates.result import Certified
from memfence.execution.trace import Trace
from memfence.program.ir import Final
from memfence.report.describe.check_text import limit_facts, verdict_text
from memfence.report.describe.found import tone_of
from memfence.report.describe.verify import proof_facts
from memfence.report.formats.herd import show_state
from memfence.report.page import OutcomeView, Page
from memfence.report.views.run_page import with_run
from memfence.report.views.run_view import run_view
from memfence.report.views.source_view import sources_of
from memfence.report.words.actions import actions
from memfence.report.words.coverage import assumptions, coverage_fact, race_warnings, warning_text
from memfence.report.words.findings import headline
from memfence.report.words.model_name import model_text, model_title
from memfence.report.words.properties import is_about_infinite_runs
from memfence.report.words.reason import reasons
from memfence.report.words.sentences import detail_lines, scope_text
from memfence.report.words.vacuity import vacuity_warnings
from memfence.tasks.result import CheckResult

MOST_FINAL_STATES = 100


def check_page(result: CheckResult, proof: Certified | None = None) -> Page:
    """The page that `memfence check --html` writes; with what became of the `proof`, where one was asked for."""
    trace = result.trace
    finals = _final_states(result)
    outcomes = tuple(OutcomeView(title, run_view(run, sources_of(run))) for title, run in finals)
    page = Page(
        title=f"{result.program.name}: {verdict_text(result).lower()} under {model_text(result)}",
        subject=result.program.source.path,
        verdict=verdict_text(result),
        tone=tone_of(result.verdict),
        headline=headline(result),
        facts=(*_facts(result), *proof_facts(proof)),
        why=reasons(result),
        run=outcomes[0].run if outcomes else None,  # where nothing goes wrong, there is that to be stepped through
        run_title="The run" if trace is not None or not outcomes else f"A run to {outcomes[0].title}",
        outcomes=outcomes,
        details=(*detail_lines(result), *(f"Final state {title} {_way_to(run)}" for title, run in finals)),
        warnings=tuple(warning_text(warning) for warning in race_warnings(result.program, result.races)),
        assumptions=assumptions(result.program, result.model),
        statistics=statistics_of(result),
    )
    return with_run(page, result.program.source, trace, loop_start=_first_of_loop(result))


def _first_of_loop(result: CheckResult) -> int | None:
    """None, too, for a run that ends where nothing happens any more."""
    if result.loop_start is None or result.trace is None or result.loop_start == len(result.trace.steps):
        return None
    return result.loop_start + 1


def _facts(result: CheckResult) -> tuple[tuple[str, str], ...]:
    is_temporal = any(is_about_infinite_runs(stated) for stated in result.properties)
    facts = [
        ("Memory model", model_title(result)),
        ("Criterion", "liveness (LTL)" if is_temporal else result.criterion.value),
        ("Scope", scope_text(result)),
    ]
    facts += [("Note", note) for note in result.program.notes]
    facts += coverage_fact(result.program, result.model)
    facts += [(name.capitalize(), text) for name, text in limit_facts(result)]
    facts += [("Warning", f"{one.message} ({one.at.span.place})") for one in vacuity_warnings(result)]
    return tuple(facts)


def _final_states(result: CheckResult) -> tuple[tuple[str, Trace], ...]:
    """The final states of a litmus test, each with a run to it."""
    condition = next((p for p in result.program.properties if isinstance(p, Final) and p.observed), None)
    if condition is None or result.final_states is None:
        return ()
    found = sorted(result.answer.final_states[:MOST_FINAL_STATES], key=lambda state: state.values)
    return tuple((show_state(condition, one.values[1:]), one.run()) for one in found)


def _way_to(trace: Trace) -> str:
    names = [process.name for process in trace.program.processes]
    steps = [f"{names[p]} {does.line}" for at, _ in enumerate(trace.steps) for p, does in actions(trace, at).items()]
    return f"by {'; '.join(steps)}" if steps else "at once"


def statistics_of(result: CheckResult) -> tuple[tuple[str, str], ...]:
    """What the search cost, as text."""
    stats = result.stats
    return (
        ("engine", result.engine),
        ("states", f"{stats.states:,}"),
        ("transitions", f"{stats.transitions:,}"),
        ("seconds", f"{stats.seconds:.2f}"),
        ("peak memory", f"{stats.peak_mb:.0f} MB"),
        *((name.replace("_", " "), f"{count:,}") for name, count in stats.extra),
    )
