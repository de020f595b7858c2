"""Durations and sizes as people write them."""

from __future__ import annotations

import pytest

from memfence.cli.quantities import amount
from memfence.verbs.option import Unit
from memfence.verbs.options import OPTIONS
from support.command_line import memfence

EXAMPLE = "examples/peterson.pml"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("5m", 300), ("1h30m", 5400), ("1.5s", 1.5), ("500ms", 0.5), ("2 m", None), ("1H", 3600)],
)
def test_a_duration_is_a_number_of_seconds_or_has_units(text: str, seconds: float | None) -> None:
    assert amount(text, Unit.SECONDS) == seconds


@pytest.mark.parametrize(
    ("text", "megabytes"), [("500", 500), ("500M", 500), ("4G", 4000), ("1.5g", 1500), ("2GiB", 2000), ("1TB", 1e6)]
)
def test_a_size_is_a_number_of_megabytes_or_has_a_unit(text: str, megabytes: float) -> None:
    assert amount(text, Unit.MEGABYTES) == megabytes


@pytest.mark.parametrize("text", ["", "m", "5x", "5m3", "nan", "1e", "--", "4G"])
def test_what_is_no_duration_is_none(text: str) -> None:
    assert amount(text, Unit.SECONDS) is None


@pytest.mark.parametrize("verb", ["check", "fix", "why", "compare", "explore"])
def test_every_limit_of_time_takes_units(verb: str) -> None:
    assert memfence(verb, EXAMPLE, "--timeout", "1m30s").returncode in (0, 1, 4)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--timeout", "5x", "`5x` is not a duration; write 30, 90s, 5m or 1h30m"),
        ("--timeout", "nan", "`nan` is not a duration"),
        ("--timeout", "-1", "`-1` is not from 0 to"),
        ("--timeout", "inf", "`inf` is not from 0 to"),
        ("--memory", "4X", "`4X` is not a size"),
        ("--memory", "1k", "`1k` is not from 1 to"),
    ],
)
def test_what_is_none_is_wrong_usage(option: str, value: str, said: str) -> None:
    done = memfence("check", EXAMPLE, f"{option}={value}")
    assert done.returncode == 2 and said in done.stderr


def test_every_limit_of_the_table_has_a_unit() -> None:
    limits = [option for option in OPTIONS if option.name in ("timeout", "memory")]
    assert limits and all(option.unit is not None for option in limits)
