"""No text, however broken, may cause anything but a program or coded diagnostics.

A failure names the number of the mutant: `mutant("rmm", 17)` of `support.mutated_texts` makes the same text again.
"""

from __future__ import annotations

import pytest

from memfence.diagnostics import InputError, render
from memfence.frontends.catalogue import language_named
from memfence.pipeline import load_text
from memfence.program.load_options import LoadOptions
from memfence.source import SourceText
from support.mutated_texts import INPUTS, mutant


def check_mutants(language: str, numbers: range) -> None:
    """Load every mutant; the passes after the parser, which cost more, run on every tenth only."""
    known = language_named(language)
    assert known is not None
    for number in numbers:
        source = SourceText("mutant", mutant(language, number))
        try:
            if number % 10 == 0:
                load_text(source, LoadOptions(language=language))
            else:
                known.frontend().parse(source)
        except InputError as error:
            assert error.diagnostics, f"mutant({language!r}, {number}): an error without a diagnostic"
            assert render(error.diagnostics)
        except Exception as fault:
            raise AssertionError(f"mutant({language!r}, {number}) is not refused politely:\n{source.text}") from fault


@pytest.mark.parametrize("language", INPUTS)
def test_a_mutated_input_is_loaded_or_refused_with_diagnostics(language: str) -> None:
    check_mutants(language, range(500))


@pytest.mark.slow
@pytest.mark.parametrize("language", INPUTS)
def test_ten_thousand_mutated_inputs_are_loaded_or_refused_with_diagnostics(language: str) -> None:
    check_mutants(language, range(500, 10_500))
