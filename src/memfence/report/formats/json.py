"""The JSON contract: one object per run of memfence. Keys are only ever added; `null` means "does not apply"."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memfence.report.report import Report

Object = dict[str, Any]


def render(report: Report) -> str:
    """What `--json` prints."""
    return dump(report.data())


def dump(value: Object) -> str:
    """Text of a JSON object, indented, keys in the order of the contract."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
