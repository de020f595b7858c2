"""Tests on a few inputs in the normal suite, and on many more where slow tests run: random ones, or from a list."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

Test = Callable[..., None]


def sampled(
    *, quick: int, slow: int, given_slowly: dict[str, SearchStrategy[Any]] | None = None, **inputs: SearchStrategy[Any]
) -> Callable[[Test], Test]:
    """`test_x[quick]` draws `quick` times from `inputs`; `test_x[slow]`, a slow test, `slow` times.

    `given_slowly`: what the slow test draws from instead. `@example` stands below, and is tried by both.
    """

    def decorate(body: Test) -> Test:
        few = _drawn(body, quick, inputs)
        many = _drawn(body, slow, {**inputs, **(given_slowly or {})})

        @functools.wraps(body)
        def test(sample: str, *others: Any, **named: Any) -> None:
            (few if sample == "quick" else many)(*others, **named)

        rest = [p for name, p in inspect.signature(body).parameters.items() if name not in inputs]
        here = inspect.Parameter("sample", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        test.__signature__ = inspect.Signature([here, *rest])  # type: ignore[attr-defined]
        vars(test).pop("hypothesis_explicit_examples", None)
        return pytest.mark.parametrize("sample", ["quick", pytest.param("slow", marks=pytest.mark.slow)])(test)

    return decorate


def listed(
    name: str, quick: Iterable[Any], slow: Iterable[Any], ids: Callable[[Any], str] | None = None
) -> pytest.MarkDecorator:
    """The test gets each `quick` value in the normal suite, and each `slow` one where slow tests run, too."""
    rare = [pytest.param(*(one if "," in name else (one,)), marks=pytest.mark.slow) for one in slow]
    return pytest.mark.parametrize(name, [*quick, *rare], ids=ids)


def _drawn(body: Test, times: int, inputs: dict[str, SearchStrategy[Any]]) -> Test:
    quietly = settings(max_examples=times, deadline=None, suppress_health_check=list(HealthCheck))
    return quietly(given(**inputs)(body))
