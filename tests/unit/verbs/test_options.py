"""The table of options: a row is found by verb and name, so rows must not stand in each other's way."""

from __future__ import annotations

from collections import Counter

import pytest

from memfence.verbs.option import Option
from memfence.verbs.options import OPTIONS, option_of, options_of

VERBS = sorted({verb for option in OPTIONS for verb in option.verbs})


def flags_of(option: Option) -> list[str]:
    return [] if option.is_argument else [part for flag in option.flags or (option.flag,) for part in flag.split("/")]


@pytest.mark.parametrize("verb", VERBS)
def test_no_two_options_of_a_verb_share_a_name_a_flag_or_a_keyword(verb: str) -> None:
    options = list(options_of(verb))
    flags = Counter(flag for option in options for flag in flags_of(option))
    names = Counter(option.name for option in options)
    keywords = Counter(option.in_python for option in options if option.in_python)
    assert options
    assert [one for counted in (flags, names, keywords) for one, times in counted.items() if times > 1] == []
    assert all(option_of(verb, option.name) is option for option in options)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: f"{min(option.verbs)}-{option.name}")
def test_a_default_is_a_value_that_could_be_typed(option: Option) -> None:
    default = option.default
    assert option.verbs
    if default in (None, ...) or option.repeats:
        return
    assert not option.choices or default in option.choices
    if isinstance(default, int | float) and not isinstance(default, bool):
        assert option.least is None or default >= option.least
        assert option.most is None or default <= option.most
