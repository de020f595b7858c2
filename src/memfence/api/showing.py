"""How results are written: each kind by its own report. Importing this arranges it; the reports come when needed."""

from __future__ import annotations

from typing import Any

from memfence.questions.compare import Comparison
from memfence.questions.explore import ExploreResult
from memfence.questions.monitor import MonitorResult
from memfence.synthesis.necessity import WhyResults
from memfence.synthesis.result import Fix
from memfence.tasks.result import CheckResult
from memfence.tasks.shown import Renderer, show_by

WIDTH = 100


def _dump(value: dict[str, Any]) -> str:
    from memfence.reports.json import dump

    return dump(value)


def _page(page: Any) -> str:
    from memfence.reports.html import render_html

    return render_html(page)


def _check_text(result: CheckResult) -> str:
    from memfence.reports.text import render_text

    return render_text(result)


def _check_line(result: CheckResult) -> str:
    from memfence.reports.text import verdict_text

    return f"{verdict_text(result)} under {result.model} ({result.criterion}), {result.program.source.path}"


def _check_json(result: CheckResult) -> str:
    from memfence.reports.json import render_json

    return render_json(result)


def _check_html(result: CheckResult) -> str:
    from memfence.reports.check_page import check_page

    return _page(check_page(result))


def _fix_text(result: Any) -> str:
    from memfence.reports.fix_files import fix_report_text

    return fix_report_text(result, width=WIDTH, quiet=False, verbose=False)


def _fix_line(result: Fix) -> str:
    return f"{result.verdict} under {result.model} ({result.criterion}), {result.program.source.path}"


def _fix_json(result: Any) -> str:
    from memfence.reports.fix_files import fix_report_object

    return _dump(fix_report_object(result))


def _fix_html(result: Any) -> str:
    from memfence.reports.fix_page import fix_page
    from memfence.synthesis.result import FixResult

    if not isinstance(result, FixResult):
        raise ValueError("there is no page about atomic writes: use to_json, or str")
    return _page(fix_page(result))


def _why_text(results: WhyResults) -> str:
    from memfence.reports.necessity import necessity_text

    return necessity_text(results, width=WIDTH)


def _why_line(results: WhyResults) -> str:
    needs = [reason.need.value for result in results for reason in result.reasons]
    return ", ".join(f"{needs.count(need)} {need}" for need in dict.fromkeys(needs)) or "no fence"


def _why_json(results: WhyResults) -> str:
    from memfence.reports.necessity import necessity_object

    return _dump(necessity_object(results))


def _why_html(results: WhyResults) -> str:
    from memfence.reports.why_page import why_page

    return _page(why_page(results))


def _compare_text(comparison: Comparison) -> str:
    from memfence.reports.compare import render_comparison

    return render_comparison(comparison, width=WIDTH)


def _compare_json(comparison: Comparison) -> str:
    from memfence.reports.compare import render_comparison_json

    return render_comparison_json(comparison)


def _compare_html(comparison: Comparison) -> str:
    from memfence.reports.compare import comparison_page

    return _page(comparison_page(comparison))


def _explore_text(result: ExploreResult) -> str:
    from memfence.reports.exploration import explore_text

    return explore_text(result, width=WIDTH)


def _explore_json(result: ExploreResult) -> str:
    from memfence.reports.exploration import explore_object

    return _dump(explore_object(result))


def _explore_html(result: ExploreResult) -> str:
    from memfence.reports.explore_page import explore_page

    return _page(explore_page(result))


def _monitor_text(result: MonitorResult) -> str:
    from memfence.reports.monitoring import monitor_text

    return monitor_text(result)


def _monitor_json(result: MonitorResult) -> str:
    from memfence.reports.monitoring import monitor_object

    return _dump(monitor_object(result))


def _monitor_html(result: MonitorResult) -> str:
    from memfence.reports.monitor_page import monitor_page

    return _page(monitor_page(result))


show_by(CheckResult, Renderer(_check_text, _check_line, _check_json, _check_html))
show_by(Fix, Renderer(_fix_text, _fix_line, _fix_json, _fix_html))
show_by(WhyResults, Renderer(_why_text, _why_line, _why_json, _why_html))
show_by(Comparison, Renderer(_compare_text, lambda one: one.program.source.path, _compare_json, _compare_html))
show_by(ExploreResult, Renderer(_explore_text, lambda one: str(one.verdict), _explore_json, _explore_html))
show_by(MonitorResult, Renderer(_monitor_text, lambda one: str(one.verdict), _monitor_json, _monitor_html))
