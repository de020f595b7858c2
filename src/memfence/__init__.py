"""memfence: does your lock-free code still work on real hardware, and where exactly do the fences go?

The public names are loaded when they are first used, so that `import memfence` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from memfence.version import VERSION as __version__

if TYPE_CHECKING:
    from memfence.api.check import check
    from memfence.api.compare import compare
    from memfence.api.explore import explore, replay
    from memfence.api.fix import fix
    from memfence.api.model import Model
    from memfence.api.monitor import monitor
    from memfence.api.mutate import mutate
    from memfence.api.order_fix import fix_models, why_models
    from memfence.api.relax import relax
    from memfence.api.run import run
    from memfence.api.several_models import check_models
    from memfence.api.silicon import conform, cost, reproduce
    from memfence.api.simulate import simulate
    from memfence.api.test import test
    from memfence.api.translate import translate
    from memfence.api.variants import compare_variants
    from memfence.api.verify import verify
    from memfence.api.why import why
    from memfence.certificates.result import VerifyResult
    from memfence.diagnostics import Diagnostic, InputError
    from memfence.pipeline import load, load_text
    from memfence.program.ir import Program
    from memfence.program.load_options import LoadOptions
    from memfence.program.text.properties import parse_expression
    from memfence.source import SourceText
    from memfence.synthesis.options import FixOptions
    from memfence.synthesis.result import FixResult, FixVerdict
    from memfence.tasks.answer import Verdict
    from memfence.tasks.criterion import Criterion
    from memfence.tasks.options import CheckOptions
    from memfence.tasks.result import CheckResult, Stats

_HOME = {
    "CheckOptions": "memfence.tasks.options",
    "CheckResult": "memfence.tasks.result",
    "Criterion": "memfence.tasks.criterion",
    "Diagnostic": "memfence.diagnostics",
    "FixOptions": "memfence.synthesis.options",
    "FixResult": "memfence.synthesis.result",
    "FixVerdict": "memfence.synthesis.result",
    "InputError": "memfence.diagnostics",
    "Model": "memfence.api.model",
    "LoadOptions": "memfence.program.load_options",
    "Program": "memfence.program.ir",
    "SourceText": "memfence.source",
    "Stats": "memfence.tasks.result",
    "Verdict": "memfence.tasks.answer",
    "VerifyResult": "memfence.certificates.result",
    "check": "memfence.api.check",
    "check_models": "memfence.api.several_models",
    "compare": "memfence.api.compare",
    "compare_variants": "memfence.api.variants",
    "conform": "memfence.api.silicon",
    "cost": "memfence.api.silicon",
    "explore": "memfence.api.explore",
    "fix": "memfence.api.fix",
    "fix_models": "memfence.api.order_fix",
    "load": "memfence.pipeline",
    "load_text": "memfence.pipeline",
    "monitor": "memfence.api.monitor",
    "mutate": "memfence.api.mutate",
    "parse_expression": "memfence.program.text.properties",
    "relax": "memfence.api.relax",
    "replay": "memfence.api.explore",
    "reproduce": "memfence.api.silicon",
    "run": "memfence.api.run",
    "simulate": "memfence.api.simulate",
    "test": "memfence.api.test",
    "translate": "memfence.api.translate",
    "verify": "memfence.api.verify",
    "why": "memfence.api.why",
    "why_models": "memfence.api.order_fix",
}

__all__ = [
    "Model",
    "LoadOptions",
    "CheckOptions",
    "CheckResult",
    "Criterion",
    "Diagnostic",
    "FixOptions",
    "FixResult",
    "FixVerdict",
    "InputError",
    "Program",
    "SourceText",
    "Stats",
    "Verdict",
    "VerifyResult",
    "__version__",
    "check",
    "check_models",
    "compare",
    "compare_variants",
    "conform",
    "cost",
    "explore",
    "fix",
    "fix_models",
    "load",
    "load_text",
    "monitor",
    "mutate",
    "parse_expression",
    "relax",
    "replay",
    "reproduce",
    "run",
    "simulate",
    "test",
    "translate",
    "verify",
    "why",
    "why_models",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'memfence' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
