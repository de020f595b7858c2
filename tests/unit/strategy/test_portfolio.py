"""What the portfolio asks for is there: names of engines are texts."""

from __future__ import annotations

import ast
from pathlib import Path

from memfence.engines.registry import ENGINES
from memfence.strategy import portfolio


def attempts() -> list[portfolio.Attempt]:
    """Every attempt that a name of the module stands for."""
    values = [value if isinstance(value, tuple) else (value,) for value in vars(portfolio).values()]
    return [one for several in values for one in several if isinstance(one, portfolio.Attempt)]


def test_every_attempt_is_one_of_a_registered_engine() -> None:
    assert attempts()
    assert {one.engine for one in attempts()} <= set(ENGINES)


def test_every_engine_that_is_asked_by_name_is_registered() -> None:
    calls = [node for node in ast.walk(ast.parse(Path(portfolio.__file__).read_text())) if isinstance(node, ast.Call)]
    asked = [call.args[0] for call in calls if ast.unparse(call.func) == "ask" and call.args]
    names = {leaf.value for one in asked for leaf in ast.walk(one) if isinstance(leaf, ast.Constant)}
    texts = {name for name in names if isinstance(name, str)}
    assert texts and texts <= set(ENGINES)
    assert set(portfolio.SAFETY_AT_LAST) <= set(ENGINES)


def test_the_last_attempt_at_everything_has_no_limit_of_its_own() -> None:
    last = portfolio.SETTLING[-2:]
    assert all(one.most_states == 0 and one.seconds is None for one in last)
