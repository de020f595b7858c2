"""memfence: does your lock-free code still work on real hardware, and where exactly do the fences go?

The public names are loaded when they are first used, so that `import memfence` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from memfence.version import VERSION as __version__

if TYPE_CHECKING:
    from memfence.diagnostics import Diagnostic, InputError
    from memfence.pipeline import load, load_text
    from memfence.program.ir import Program
    from memfence.program.load_options import LoadOptions
    from memfence.program.text.properties import parse_expression
    from memfence.questions import check
    from memfence.source import SourceText
    from memfence.synthesis import fix
    from memfence.synthesis.comparison import compare
    from memfence.synthesis.options import FixOptions
    from memfence.synthesis.result import FixResult, FixVerdict
    from memfence.tasks.options import CheckOptions
    from memfence.tasks.result import CheckResult, Stats, Verdict

_HOME = {
    "CheckOptions": "memfence.tasks.options",
    "CheckResult": "memfence.tasks.result",
    "Diagnostic": "memfence.diagnostics",
    "FixOptions": "memfence.synthesis.options",
    "FixResult": "memfence.synthesis.result",
    "FixVerdict": "memfence.synthesis.result",
    "InputError": "memfence.diagnostics",
    "LoadOptions": "memfence.program.load_options",
    "Program": "memfence.program.ir",
    "SourceText": "memfence.source",
    "Stats": "memfence.tasks.result",
    "Verdict": "memfence.tasks.result",
    "check": "memfence.questions",
    "compare": "memfence.synthesis.comparison",
    "fix": "memfence.synthesis",
    "load": "memfence.pipeline",
    "load_text": "memfence.pipeline",
    "parse_expression": "memfence.program.text.properties",
}

__all__ = [
    "CheckOptions", "CheckResult", "Diagnostic", "FixOptions", "FixResult", "FixVerdict", "InputError", "LoadOptions",
    "Program", "SourceText", "Stats", "Verdict", "__version__", "check", "compare", "fix", "load", "load_text",
    "parse_expression",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'memfence' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
