"""Which function of `describe/` makes the report of a result."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memfence.report.report import Report

REPORTS = {
    "AtomicFix": "atomic.atomic_report",
    "CheckResult": "check.check_report",
    "ComparedVariants": "variants.variants_report",
    "Comparison": "compare.comparison_report",
    "ExploreResult": "explore.explore_report",
    "FixResult": "fix.fix_report",
    "MonitorResult": "monitor.monitor_report",
    "Mutation": "mutation.mutation_report",
    "NeededOrders": "orders.needed_report",
    "OrderFix": "orders.order_fix_report",
    "ModelsResult": "models.models_report",
    "RelaxResult": "relax.relax_report",
    "ReplayedRun": "replay.replayed_report",
    "RunFix": "run_fix.run_fix_report",
    "RunModels": "run_models.run_models_report",
    "RunResult": "run.run_report",
    "ObjectsResult": "clients.test_report",
    "VerifyResult": "verify.verify_report",
    "Walk": "simulate.walk_report",
    "WhyResults": "why.why_report",
}
"""By the name of the class: what is not shown is not imported."""


def report_of(result: Any, *proofs: Any) -> Report:
    """The report of the result, with what became of its `proofs` where they were asked for."""
    kind = next(kind.__name__ for kind in type(result).__mro__ if kind.__name__ in REPORTS)
    module, _, function = REPORTS[kind].partition(".")
    report: Report = getattr(import_module(f"memfence.report.describe.{module}"), function)(result, *proofs)
    return report


def written(result: Any, form: str) -> str:
    """The result as one text: `text`, `brief`, `json` or the name of a format."""
    report = report_of(result)
    if form == "brief":
        return (report.brief or report.line)()
    text: str = import_module(f"memfence.report.formats.{form}").render(report)
    return text
