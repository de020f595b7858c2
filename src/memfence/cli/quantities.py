"""Durations and sizes as people write them: `90`, `5m`, `1h30m`; `500`, `4G`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import typer

from memfence.verbs.option import Option, Unit

FACTORS = {
    Unit.SECONDS: {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0},
    Unit.MEGABYTES: {"k": 0.001, "m": 1.0, "g": 1_000.0, "t": 1_000_000.0},
}
EXAMPLES = {Unit.SECONDS: "30, 90s, 5m or 1h30m", Unit.MEGABYTES: "500 (megabytes), 500M or 4G"}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)([a-z]*)")


def quantity_of(option: Option, unit: Unit) -> Callable[[Any], float | int]:
    """What reads a value of the option: a number, or numbers with units, which are added up."""

    def read(value: Any) -> float | int:
        number = amount(str(value), unit)
        if number is None:
            raise typer.BadParameter(f"`{value}` is not {_what(unit)}; write {EXAMPLES[unit]}")
        least, most = option.least or 0, option.most or math.inf
        if not least <= number <= most:
            raise typer.BadParameter(f"`{value}` is not from {least:,g} to {most:,g} {unit.value}")
        return math.ceil(number) if option.kind is int else number

    return read


def amount(text: str, unit: Unit) -> float | None:
    """How much the text says, in the unit; None where it says nothing of the kind."""
    text = text.strip().lower()
    try:
        return None if math.isnan(float(text)) else float(text)
    except ValueError:
        pass
    factors = FACTORS[unit]
    parts = _PART.findall(text)
    names = [re.sub(r"i?b$", "", name) if unit is Unit.MEGABYTES else name for _, name in parts]
    if not parts or "".join(map("".join, parts)) != text or any(name not in factors for name in names):
        return None
    return math.fsum(float(number) * factors[name] for (number, _), name in zip(parts, names, strict=True))


def _what(unit: Unit) -> str:
    return "a duration" if unit is Unit.SECONDS else "a size"
