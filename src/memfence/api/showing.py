"""How results are written: each kind by its own report. Importing this arranges it; the reports come when needed."""

from __future__ import annotations

from typing import Any

from memfence.questions.compare import Comparison
from memfence.questions.explore import ExploreResult
from memfence.questions.monitor import MonitorResult
from memfence.questions.portable_result import PortableResult
from memfence.questions.run_result import RunResult
from memfence.synthesis.necessity import WhyResults
from memfence.synthesis.orders.needed import NeededOrders
from memfence.synthesis.orders.result import OrderFix
from memfence.synthesis.result import Fix
from memfence.tasks.result import CheckResult
from memfence.tasks.shown import Renderer, show_by

WIDTH = 100


def _dump(value: dict[str, Any]) -> str:
    from memfence.report.formats.json import dump

    return dump(value)


def _page(page: Any) -> str:
    from memfence.report.formats.html import render_html

    return render_html(page)


def _check_text(result: CheckResult) -> str:
    from memfence.report.describe.check_text import render_text

    return render_text(result)


def _check_line(result: CheckResult) -> str:
    from memfence.report.describe.check_text import verdict_text

    return f"{verdict_text(result)} under {result.model} ({result.criterion}), {result.program.source.path}"


def _check_json(result: CheckResult) -> str:
    from memfence.report.formats.json import render_json

    return render_json(result)


def _check_html(result: CheckResult) -> str:
    from memfence.report.describe.check import check_page

    return _page(check_page(result))


def _fix_text(result: Any) -> str:
    from memfence.report.describe.fix_files import fix_report_text

    return fix_report_text(result, width=WIDTH, quiet=False, verbose=False)


def _fix_line(result: Fix) -> str:
    return f"{result.verdict} under {result.model} ({result.criterion}), {result.program.source.path}"


def _fix_json(result: Any) -> str:
    from memfence.report.describe.fix_files import fix_report_object

    return _dump(fix_report_object(result))


def _fix_html(result: Any) -> str:
    from memfence.report.describe.fix import fix_page
    from memfence.synthesis.result import FixResult

    if not isinstance(result, FixResult):
        raise ValueError("there is no page about atomic writes: use to_json, or str")
    return _page(fix_page(result))


def _why_text(results: WhyResults) -> str:
    from memfence.report.describe.why_text import necessity_text

    return necessity_text(results, width=WIDTH)


def _why_line(results: WhyResults) -> str:
    needs = [reason.need.value for result in results for reason in result.reasons]
    return ", ".join(f"{needs.count(need)} {need}" for need in dict.fromkeys(needs)) or "no fence"


def _why_json(results: WhyResults) -> str:
    from memfence.report.describe.why_text import necessity_object

    return _dump(necessity_object(results))


def _why_html(results: WhyResults) -> str:
    from memfence.report.describe.why import why_page

    return _page(why_page(results))


def _compare_text(comparison: Comparison) -> str:
    from memfence.report.describe.compare import render_comparison

    return render_comparison(comparison, width=WIDTH)


def _compare_json(comparison: Comparison) -> str:
    from memfence.report.describe.compare import render_comparison_json

    return render_comparison_json(comparison)


def _compare_html(comparison: Comparison) -> str:
    from memfence.report.describe.compare import comparison_page

    return _page(comparison_page(comparison))


def _explore_text(result: ExploreResult) -> str:
    from memfence.report.describe.explore_text import explore_text

    return explore_text(result, width=WIDTH)


def _explore_json(result: ExploreResult) -> str:
    from memfence.report.describe.explore_text import explore_object

    return _dump(explore_object(result))


def _explore_html(result: ExploreResult) -> str:
    from memfence.report.describe.explore import explore_page

    return _page(explore_page(result))


def _monitor_text(result: MonitorResult) -> str:
    from memfence.report.describe.monitor_text import monitor_text

    return monitor_text(result)


def _monitor_json(result: MonitorResult) -> str:
    from memfence.report.describe.monitor_text import monitor_object

    return _dump(monitor_object(result))


def _monitor_html(result: MonitorResult) -> str:
    from memfence.report.describe.monitor import monitor_page

    return _page(monitor_page(result))


def _run_text(result: RunResult) -> str:
    from memfence.report.describe.run_text import run_text

    return run_text(result, width=WIDTH)


def _run_line(result: RunResult) -> str:
    return f"{result.verdict}, {' '.join(result.files)}"


def _run_json(result: RunResult) -> str:
    from memfence.report.describe.run_json import run_object

    return _dump(run_object(result))


def _run_html(result: RunResult) -> str:
    from memfence.report.describe.run import running_page

    return _page(running_page(result))


def _portable_text(result: PortableResult) -> str:
    from memfence.report.describe.portable import render_portable

    return render_portable(result, width=WIDTH)


def _portable_line(result: PortableResult) -> str:
    from memfence.report.describe.portable import verdict_text

    verdicts = (f"{answer.name} {verdict_text(answer)}" for answer in result.answers)
    return f"{', '.join(verdicts)}, {result.program.source.path}"


def _portable_json(result: PortableResult) -> str:
    from memfence.report.describe.portable import portable_object

    return _dump(portable_object(result))


def _portable_html(result: PortableResult) -> str:
    from memfence.report.describe.portable_page import portable_page

    return _page(portable_page(result))


def _order_fix_text(result: OrderFix) -> str:
    from memfence.report.describe.order_fix import order_fix_text

    return order_fix_text(result, width=WIDTH)


def _order_fix_line(result: OrderFix) -> str:
    return f"{result.verdict} under {', '.join(result.models)}, {result.program.source.path}"


def _order_fix_json(result: OrderFix) -> str:
    from memfence.report.describe.order_fix import order_fix_object

    return _dump(order_fix_object(result))


def _needed_text(result: NeededOrders) -> str:
    from memfence.report.describe.order_fix import needed_text

    return needed_text(result, width=WIDTH)


def _needed_json(result: NeededOrders) -> str:
    from memfence.report.describe.order_fix import needed_object

    return _dump(needed_object(result))


def _no_page(_: object) -> str:
    raise ValueError("there is no page about stronger orders: use to_json, or str")


show_by(CheckResult, Renderer(_check_text, _check_line, _check_json, _check_html))
show_by(Fix, Renderer(_fix_text, _fix_line, _fix_json, _fix_html))
show_by(WhyResults, Renderer(_why_text, _why_line, _why_json, _why_html))
show_by(Comparison, Renderer(_compare_text, lambda one: one.program.source.path, _compare_json, _compare_html))
show_by(ExploreResult, Renderer(_explore_text, lambda one: str(one.verdict), _explore_json, _explore_html))
show_by(MonitorResult, Renderer(_monitor_text, lambda one: str(one.verdict), _monitor_json, _monitor_html))
show_by(RunResult, Renderer(_run_text, _run_line, _run_json, _run_html))
show_by(PortableResult, Renderer(_portable_text, _portable_line, _portable_json, _portable_html))
show_by(OrderFix, Renderer(_order_fix_text, _order_fix_line, _order_fix_json, _no_page))
show_by(NeededOrders, Renderer(_needed_text, lambda one: one.program.source.path, _needed_json, _no_page))
